// All tensors that a model stores: initializers and attributes, also those of graphs inside others and of functions.

import { emptyMessage } from "../proto/read.js";
import type { Draft, Message } from "../proto/schema.js";
import { kAttributeTypes, kTypes } from "../proto/types.js";

type TensorMessage = Message<"Tensor">;
type Change = (tensor: TensorMessage, at: number) => Draft<"Tensor">;

/** Returns the tensors of a model, in an order that depends only on the model. */
export function tensorsIn(model: Message<"Model">): TensorMessage[] {
  const found: TensorMessage[] = [];
  withTensors(model, (tensor) => {
    found.push(tensor);
    return tensor;
  });
  return found;
}

/** Returns a model with its tensors changed; `change` also gets the place of each one in `tensorsIn()`. */
export function withTensors(model: Message<"Model">, change: Change): Draft<"Model"> {
  return new Changer(change).model(model);
}

/** Gives constants that are lists of numbers the form of tensors. */
export function listsAsTensors(nodes: Iterable<Message<"Node">>): void {
  for (const { opType, attribute } of nodes) {
    const list = attribute.find(({ name, floats }) => name === "value_floats" && floats.length > 1);
    if (opType !== "Constant" || list === undefined) continue;
    const { floats } = list;
    const floatData = Float32Array.from(floats);
    const t = {
      ...emptyMessage("Tensor"),
      dims: [floats.length],
      dataType: kTypes.float,
      floatData,
    };
    Object.assign(list, { name: "value", floats: [], t, type: kAttributeTypes.tensor });
  }
}

class Changer {
  #count = 0;

  constructor(readonly change: Change) {}

  model(model: Message<"Model">): Draft<"Model"> {
    return {
      ...model,
      graph: model.graph && this.#graph(model.graph),
      functions: model.functions.map((message) => ({
        ...message,
        node: this.#nodes(message.node),
      })),
    };
  }

  #graph(graph: Message<"Graph">): Draft<"Graph"> {
    return {
      ...graph,
      initializer: graph.initializer.map((tensor) => this.#tensor(tensor)),
      node: this.#nodes(graph.node),
    };
  }

  #nodes(nodes: readonly Message<"Node">[]): readonly Draft<"Node">[] {
    return nodes.map((node) =>
      node.attribute.some(({ t, g }) => t !== undefined || g !== undefined)
        ? { ...node, attribute: node.attribute.map((attribute) => this.#attribute(attribute)) }
        : node,
    );
  }

  #attribute(attribute: Message<"Attribute">): Draft<"Attribute"> {
    const { t, g } = attribute;
    return { ...attribute, t: t && this.#tensor(t), g: g && this.#graph(g) };
  }

  #tensor(tensor: TensorMessage): Draft<"Tensor"> {
    return this.change(tensor, this.#count++);
  }
}
