// The tensors of a model that are in external files.

import type { Message } from "../proto/schema.js";

type TensorMessage = Message<"Tensor">;

const kExternal = 1;

/** Returns the tensors of a model that are in external files, including those in attributes. */
export function externalTensors(model: Message<"Model">): TensorMessage[] {
  const found: TensorMessage[] = [];
  const visitTensor = (one: TensorMessage) => {
    if (Number(one.dataLocation ?? 0) === kExternal) found.push(one);
  };
  const visitNodes = (nodes: readonly Message<"Node">[]) => {
    for (const { attribute } of nodes) {
      for (const { t, g } of attribute) {
        if (t !== undefined) visitTensor(t);
        if (g !== undefined) visitGraph(g);
      }
    }
  };
  const visitGraph = ({ initializer, node }: Message<"Graph">) => {
    initializer.forEach(visitTensor);
    visitNodes(node);
  };
  if (model.graph !== undefined) visitGraph(model.graph);
  for (const { node } of model.functions) visitNodes(node);
  return found;
}
