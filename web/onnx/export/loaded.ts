// Writes a loaded model again: the original file with the present elements of its parameters and buffers.

import type { Bytes, nn, Tensor } from "edgegrad";
import { fail } from "../../errors/errors.js";
import { readMessage } from "../proto/read.js";
import type { Message } from "../proto/schema.js";
import { writeMessage } from "../proto/write.js";
import { withTensors } from "../tensors/model_tensors.js";
import { kElementTypes } from "./element_types.js";
import { tensorOf } from "./graph.js";

/** Returns the bytes of a model with the present tensors of its module, by their places in the file. */
export function fileWith(file: Uint8Array, tensors: ReadonlyMap<number, Tensor>): Bytes {
  const written = withTensors(readMessage("Model", file), (message, at) => {
    const { name = "", dataType } = message;
    const tensor = tensors.get(at);
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
  return writeMessage("Model", written);
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
  return fields.every((field) => field === undefined);
}

/** Returns the tensors of a module by their places in its file. */
export function tensorsOf(
  module: nn.Module,
  members: readonly { readonly at: number; readonly path: readonly string[] }[],
): Map<number, Tensor> {
  const find = (path: readonly string[]) =>
    path.reduce<unknown>((owner, part) => Reflect.get(owner as object, part), module);
  return new Map(members.map(({ at, path }) => [at, find(path) as Tensor]));
}
