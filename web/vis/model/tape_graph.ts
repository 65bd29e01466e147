// tapeGraph(): the backward graph as data that can be drawn or posted.

import { autograd, type Node, type nn, scope, Tensor } from "edgegrad";
import { fail, refuse } from "../../errors/errors.js";
import { checkModule } from "./follow.js";

/** A node of the backward graph. */
export interface TapeNode {
  /** Its name, such as "AddmmBackward0"; for the gradient of a leaf "AccumulateGrad". */
  readonly name: string;
  /** The name of the parameter whose gradient it adds to, or the shape of another leaf; "" for an op. */
  readonly detail: string;
}

/** An edge between two nodes. */
export interface TapeEdge {
  /** The index of the node that runs first. */
  readonly from: number;
  /** The index of the node that runs after it. */
  readonly to: number;
}

/** The backward graph. Edges lead from a node to those that run after it, by their indices. */
export interface TapeGraph {
  /** The nodes, the root first. */
  readonly nodes: readonly TapeNode[];
  /** The edges. */
  readonly edges: readonly TapeEdge[];
}

/** The limit on nodes: a larger graph is not readable. */
const kMost = 500;

/** Returns the backward graph of a tensor, with the names of the parameters of `module`. */
export function tapeGraph(tensor: Tensor, module?: nn.Module): TapeGraph {
  if (!(tensor instanceof Tensor)) refuse("tapeGraph", "tensor", "a tensor", tensor);
  if (module !== undefined) checkModule("tapeGraph", module);
  // The scope frees the handles of the nodes.
  return scope(() => {
    const root = tensor.gradFn;
    if (root !== null) return walk(root, namesOf(module));
    const reason = "nothing that it depends on requires a gradient";
    return fail("NoGradPath", "tapeGraph", `the tensor has no graph: ${reason}.`);
  });
}

function walk(root: Node, names: ReadonlyMap<Node, string>): TapeGraph {
  const ids = new Map<Node, number>([[root, 0]]);
  const edges: TapeEdge[] = [];
  for (const [node, from] of ids) {
    for (const [next] of node.nextFunctions) {
      if (next === null) continue;
      if (!ids.has(next)) ids.set(next, ids.size);
      edges.push({ from, to: ids.get(next) as number });
    }
    if (ids.size > kMost)
      fail(
        "InvalidArgument",
        "tapeGraph",
        `the graph has more than ${kMost} nodes, too many to draw.`,
      );
  }
  const nodes = [...ids.keys()].map((node) => ({ name: node.name, detail: detailOf(node, names) }));
  return { nodes, edges };
}

function detailOf(node: Node, names: ReadonlyMap<Node, string>): string {
  const { variable } = node;
  if (variable === null || variable === undefined) return "";
  return names.get(node) ?? `[${variable.shape.join(", ")}]`;
}

function namesOf(module: nn.Module | undefined): Map<Node, string> {
  const parameters = (module?.namedParameters() ?? []).filter(
    ([, parameter]) => parameter.requiresGrad,
  );
  return new Map(
    parameters.map(
      ([name, parameter]) => [autograd.graph.getGradientEdge(parameter).node, name] as const,
    ),
  );
}
