// Writes a loaded model again: the original file with the present elements of its parameters and buffers.

import type { Bytes, nn, Tensor } from "edgegrad";
import { fail } from "../../errors/errors.js";
import { readMessage } from "../proto/read.js";
import type { Message } from "../proto/schema.js";
import { kElementTypes } from "./element_types.js";
import { tensorOf } from "./graph.js";
import { withInitializers } from "./kept_file.js";

/** Returns the bytes of a model with the present tensors of its module. */
export function fileWith(file: Uint8Array, tensors: ReadonlyMap<string, Tensor>): Bytes {
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
  const fields = [rawData, floatData, int32Data, int64Data, doubleData, uint64Data];
  return fields.every((one) => one === undefined);
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
