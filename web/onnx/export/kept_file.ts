// What a loaded model keeps of its file for save(): everything except the tensors that the module holds.

import type { Bytes, Tensor } from "edgegrad";
import type { Message } from "../proto/schema.js";
import { writeMessage } from "../proto/write.js";
import type { Apart } from "../tensors/decode.js";
import { withTensors } from "../tensors/model_tensors.js";
import { kElementTypes } from "./element_types.js";

/** The metadata key that lists the buffers of a file, because ONNX does not distinguish them from parameters. */
export const kBuffersKey = "edgegrad.buffers";
/** The metadata key that lists the parameters of a file. Without it, they follow from how the graph uses them. */
export const kParametersKey = "edgegrad.parameters";

/** Returns the names that a metadata entry of a file lists; null if the file has no such entry. */
export function namesIn(
  { metadataProps }: Message<"Model">,
  wanted: string,
): ReadonlySet<unknown> | null {
  const text = metadataProps.find(({ key }) => key === wanted)?.value;
  if (text === undefined) return null;
  try {
    const names: unknown = JSON.parse(text);
    return Array.isArray(names) ? new Set(names) : null;
  } catch {
    return null;
  }
}

/** A tensor of a file, and what a module holds it as. */
interface Described {
  readonly name: string;
  readonly kind: "parameter" | "buffer" | "constant";
}

/** Returns the metadata of a model with lists of its parameters and buffers. */
export function withKinds(
  { metadataProps }: Message<"Model">,
  tensors: readonly Described[],
): Message<"Entry">[] {
  const named = (wanted: Described["kind"]) => {
    const found = tensors.filter(({ kind, name }) => kind === wanted && name !== "");
    return JSON.stringify(found.map(({ name }) => name));
  };
  const others = metadataProps.filter(({ key }) => key !== kParametersKey && key !== kBuffersKey);
  return [
    ...others,
    { key: kParametersKey, value: named("parameter") },
    { key: kBuffersKey, value: named("buffer") },
  ];
}

/** Returns the bytes of a model without the tensors that a module holds; `apart` has the data that comes from external files. */
export function fileWithout(
  model: Message<"Model">,
  held: ReadonlyMap<Message<"Tensor">, Tensor>,
  apart: ReadonlyMap<Message<"Tensor">, Apart>,
): Bytes {
  const kept = withTensors(model, (message) => {
    const { name, dims, dataType } = message;
    const tensor = held.get(message);
    if (tensor !== undefined && dataType === kElementTypes[tensor.dtype])
      return { name, dims, dataType };
    const data = apart.get(message);
    return data instanceof Uint8Array ? { name, dims, dataType, rawData: data } : message;
  });
  return writeMessage("Model", kept);
}
