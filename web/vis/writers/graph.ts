// The graph of a module's ops in TensorBoard's format (graph.proto, node_def.proto).

import type { nn, Tensor } from "edgegrad";
import { checkModule, followEvaluation, tensorsIn } from "../model/follow.js";
import { Message } from "./message.js";

/** The field numbers that are used. */
const kGraph = { node: 1, versions: 4 };
const kVersions = { producer: 1 };
const kNode = { name: 1, op: 2, input: 3, device: 4, attribute: 5 };
const kEntry = { key: 1, value: 2 };
const kAttribute = { list: 1 };
const kList = { shape: 7 };
const kShape = { dimension: 2 };
const kDimension = { size: 1 };

const kProducer = 22;
const kShapes = "_output_shapes";

/** Returns the graph of the ops in a call of a module; scopes are its submodules. */
export function graphOf(where: string, module: nn.Module, inputs: readonly unknown[]): Message {
  checkModule(where, module);
  const graph = new Nodes();
  tensorsIn(inputs).forEach((input, i) => {
    graph.add(`input/${i}`, "Placeholder", [], [input]);
  });
  followEvaluation(module, inputs, {
    enter: (path) => {
      if (path === "") graph.addMembers(module);
    },
    op: (path, { op, values }, results) => {
      graph.add(`${scopeOf(path)}${op}`, op, tensorsIn(values), results);
    },
  });
  return graph.message;
}

const scopeOf = (path: string) => (path === "" ? "" : `${path.replaceAll(".", "/")}/`);

class Nodes {
  readonly message = new Message().message(
    kGraph.versions,
    new Message().integer(kVersions.producer, kProducer),
  );
  // The node that computed each tensor.
  readonly #makers = new Map<Tensor, string>();
  readonly #uses = new Map<string, number>();

  /** Adds a node; its inputs are the nodes that computed its input tensors. */
  add(name: string, op: string, inputs: readonly Tensor[], results: readonly Tensor[]): void {
    const makers = inputs.map((input) => this.#makerOf(input));
    const unique = this.#unique(name);
    const node = new Message().text(kNode.name, unique).text(kNode.op, op);
    for (const maker of makers) node.text(kNode.input, maker);
    node.text(kNode.device, results[0]?.device ?? "");
    this.message.message(kGraph.node, node.message(kNode.attribute, shapesOf(results)));
    for (const result of results) this.#makers.set(result, unique);
  }

  addMembers(module: nn.Module): void {
    for (const [name, parameter] of module.namedParameters())
      this.add(name.replaceAll(".", "/"), "Parameter", [], [parameter]);
    for (const [name, buffer] of module.namedBuffers())
      this.add(name.replaceAll(".", "/"), "Buffer", [], [buffer]);
  }

  #makerOf(tensor: Tensor): string {
    if (!this.#makers.has(tensor)) this.add("constant/value", "Constant", [], [tensor]);
    return this.#makers.get(tensor) as string;
  }

  #unique(name: string): string {
    const uses = this.#uses.get(name) ?? 0;
    this.#uses.set(name, uses + 1);
    return uses === 0 ? name : `${name}_${uses}`;
  }
}

function shapesOf(results: readonly Tensor[]): Message {
  const list = new Message();
  for (const { shape } of results) {
    const sizes = new Message();
    for (const size of shape)
      sizes.message(kShape.dimension, new Message().integer(kDimension.size, size));
    list.message(kList.shape, sizes);
  }
  const attribute = new Message().message(kAttribute.list, list);
  return new Message().text(kEntry.key, kShapes).message(kEntry.value, attribute);
}
