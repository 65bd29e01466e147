// Writing a loaded model again: the file as it was, with the elements that its parameters and buffers have now. Of the file, only
// what the module does not hold is kept.

import type { nn, Tensor } from "edgegrad";
import { fail } from "../errors.js";
import { readMessage } from "../proto/read.js";
import type { Draft, Message } from "../proto/schema.js";
import { writeMessage } from "../proto/write.js";
import type { Stored } from "../tensors/decode.js";
import { kElementTypes, tensorOf } from "./graph.js";

/** The name under which the metadata of a file list its buffers, which ONNX does not tell from parameters. */
export const kBuffersKey = "edgegrad.buffers";

/** Returns the names of a file's buffers, as far as it says so. */
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

/** Returns the bytes of a model without the tensors that a module holds; `stored` has the others that are in other files. */
export function fileWithout(
  model: Message<"Model">,
  held: readonly HeldTensor[],
  stored: ReadonlyMap<string, Stored>,
): Uint8Array {
  const tensors = new Map(held.map(({ name, value }) => [name, value]));
  return withInitializers(model, (message) => {
    const { name = "", dims, dataType } = message;
    if (tensors.has(name) && dataType === kElementTypes[(tensors.get(name) as Tensor).dtype]) {
      return { name, dims, dataType };
    }
    const external = stored.get(name)?.external;
    return external === undefined ? message : { name, dims, dataType, rawData: external };
  });
}

/** Returns the bytes of a model with the tensors that its module holds now. */
export function fileWith(file: Uint8Array, tensors: ReadonlyMap<string, Tensor>): Uint8Array {
  return withInitializers(readMessage("Model", file), (message) => {
    const { name = "", dataType } = message;
    const tensor = tensors.get(name);
    if (tensor === undefined) return message;
    const isAsRead = dataType === kElementTypes[tensor.dtype];
    if (!isAsRead && !isEmpty(message)) return message;
    if (isAsRead) return { ...tensorOf(tensor), name };
    const advice =
      "Convert the module back with to(), or give save() inputs, which writes the file anew.";
    return fail(
      "DtypeMismatch",
      "onnx.save",
      `"${name}" is ${tensor.dtype} now, and the graph of the file needs the type that it had. ${advice}`,
    );
  });
}

function isEmpty({
  rawData,
  floatData,
  int32Data,
  int64Data,
  doubleData,
  uint64Data,
}: Message<"Tensor">): boolean {
  const lists = [floatData, int32Data, int64Data, doubleData, uint64Data];
  return rawData === undefined && lists.every(({ length }) => length === 0);
}

function withInitializers(
  model: Message<"Model">,
  change: (tensor: Message<"Tensor">) => Draft<"Tensor">,
): Uint8Array {
  const graph = model.graph as Message<"Graph">;
  const initializer = graph.initializer.map(change);
  return writeMessage("Model", { ...model, graph: { ...graph, initializer } });
}

/** Returns the tensors of a module by their names in its file. */
export function tensorsIn(
  module: nn.Module,
  members: readonly { readonly name: string; readonly path: readonly string[] }[],
): Map<string, Tensor> {
  const find = (path: readonly string[]) =>
    path.reduce<unknown>((owner, part) => Reflect.get(owner as object, part), module);
  return new Map(members.map(({ name, path }) => [name, find(path) as Tensor]));
}
