// Walks the backward graph and describes each node.

import * as eg from "edgegrad";
import type { Edge } from "../shared/graph/layout.js";
import { errorText } from "../shared/printed.js";
import type { GraphNode, Saved } from "./recording.js";

const kMostNodes = 300;
const kPreviewed = 6;
// Larger tensors have no preview, because reading them takes too long for six numbers.
const kMostPreviewedFrom = 100_000;

/** The nodes that can be reached from the roots, each with its index. */
export interface Graph {
  readonly ids: ReadonlyMap<eg.Node, number>;
  readonly edges: readonly Edge[];
}

/** Finds all nodes that backward from these tensors reaches. */
export function walk(roots: readonly eg.Node[]): Graph {
  const ids = new Map<eg.Node, number>();
  const edges: Edge[] = [];
  const pending: eg.Node[] = [];
  const idOf = (node: eg.Node): number => {
    const known = ids.get(node);
    if (known !== undefined) return known;
    if (ids.size === kMostNodes) {
      throw new Error(`This graph has more than ${kMostNodes} nodes, too many to draw.`);
    }
    ids.set(node, ids.size);
    pending.push(node);
    return ids.size - 1;
  };
  for (const root of roots) idOf(root);
  for (let node = pending.shift(); node !== undefined; node = pending.shift()) {
    for (const [next] of node.nextFunctions) {
      if (next !== null) edges.push({ from: idOf(node), to: idOf(next) });
    }
  }
  return { ids, edges };
}

/** Names for the leaves, from what a module exports: its tensors, and the parameters of its models. */
export function leafNames(exported: Readonly<Record<string, unknown>>): Map<eg.Node, string> {
  const names = new Map<eg.Node, string>();
  const name = (tensor: eg.Tensor, text: string) => {
    if (tensor.requiresGrad) names.set(eg.autograd.graph.getGradientEdge(tensor).node, text);
  };
  for (const [key, value] of Object.entries(exported)) {
    if (value instanceof eg.Tensor) name(value, key);
    if (!(value instanceof eg.nn.Module)) continue;
    for (const [own, parameter] of value.namedParameters()) name(parameter, `${key}.${own}`);
  }
  return names;
}

/** Describes a node and its saved values; `gradients` are the shapes that a hook received. */
export async function describeNode(
  node: eg.Node,
  names: ReadonlyMap<eg.Node, string>,
): Promise<Omit<GraphNode, "gradients">> {
  const { variable } = node;
  return {
    name: node.name,
    sequenceNr: variable === null ? node.sequenceNr : null,
    topologicalNr: node.topologicalNr,
    leaf: variable && { name: names.get(node) ?? "a leaf", kind: kindOf(variable) },
    saved: await savedIn(node),
  };
}

/** The dtype and shape, such as "float32 [32, 16]", and the device if it is not the CPU. */
export function kindOf({ dtype, shape, device }: eg.Tensor): string {
  return `${dtype} ${shapeText(shape)}${device === "cpu" ? "" : ` on ${device}`}`;
}

export function shapeText(shape: readonly number[]): string {
  return shape.length === 0 ? "scalar" : `[${shape.join(", ")}]`;
}

async function savedIn(node: eg.Node): Promise<Saved[]> {
  const { saved } = node;
  const found: Saved[] = [];
  for (const name of Object.keys(saved)) {
    try {
      found.push({ name, ...(await shown(saved[name])) });
    } catch (error) {
      found.push({ name, value: errorText(error), preview: "" });
    }
  }
  return found;
}

async function shown(value: unknown): Promise<Omit<Saved, "name">> {
  if (value === null) return { value: "not saved: no gradient needs it", preview: "" };
  if (!(value instanceof eg.Tensor)) return { value: String(value), preview: "" };
  const kind = kindOf(value);
  if (value.numel > kMostPreviewedFrom) return { value: kind, preview: "" };
  const numbers = Array.from((await value.data()).subarray(0, kPreviewed), Number);
  const rest = value.numel > kPreviewed ? ", …" : "";
  return { value: kind, preview: numbers.map((x) => x.toPrecision(3)).join(", ") + rest };
}
