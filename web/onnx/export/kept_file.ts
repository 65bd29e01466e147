// What a loaded model keeps of its file for save(): everything except the tensors that the module holds.

import type { Bytes, Tensor } from "edgegrad";
import type { Draft, Message } from "../proto/schema.js";
import { writeMessage } from "../proto/write.js";
import type { Stored } from "../tensors/decode.js";
import { kElementTypes } from "./element_types.js";

/** The metadata key that lists the buffers of a file, because ONNX does not distinguish them from parameters. */
export const kBuffersKey = "edgegrad.buffers";

/** Returns the names of the buffers that a file lists. */
export function buffersIn({ metadataProps }: Message<"Model">): ReadonlySet<unknown> {
  const text = metadataProps.find(({ key }) => key === kBuffersKey)?.value ?? "[]";
  try {
    const names: unknown = JSON.parse(text);
    return new Set(Array.isArray(names) ? names : []);
  } catch {
    return new Set();
  }
}

/** A tensor of a file that a module holds. */
export interface HeldTensor {
  readonly name: string;
  readonly value: Tensor;
}

/** Returns the bytes of a model without the tensors that a module holds; `stored` has the other tensors that come from external files. */
export function fileWithout(
  model: Message<"Model">,
  held: readonly HeldTensor[],
  stored: ReadonlyMap<string, Stored>,
): Bytes {
  const tensors = new Map(held.map(({ name, value }) => [name, value]));
  return withInitializers(model, (message) => {
    const { name = "", dims, dataType } = message;
    if (tensors.has(name) && dataType === kElementTypes[(tensors.get(name) as Tensor).dtype]) {
      return { name, dims, dataType };
    }
    const apart = stored.get(name)?.apart;
    return apart instanceof Uint8Array ? { name, dims, dataType, rawData: apart } : message;
  });
}

/** Returns the bytes of a model with its initializers changed. */
export function withInitializers(
  model: Message<"Model">,
  change: (tensor: Message<"Tensor">) => Draft<"Tensor">,
): Bytes {
  const graph = model.graph as Message<"Graph">;
  const initializer = graph.initializer.map(change);
  return writeMessage("Model", { ...model, graph: { ...graph, initializer } });
}
