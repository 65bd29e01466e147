// Class numbers and positions are int64. Numbers in JavaScript become float32 unless told otherwise, and files hold labels as uint8:
// an op that refuses the former says what to write, and takes the latter, which can mean nothing else.

import { callFrame, checkedFor, native } from "../runtime/bridge/bridge.js";
import { EdgeGradError, renamed } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { adviceOnInt64, kOfNumbers } from "./advice.js";
import { encode } from "./encode.js";
import { opOf } from "./op_lines.js";
import type { Op } from "./signature.js";

const kRefused = / must (?:be int64|have an integer dtype).*, got (\w+)\.$/;

/**
 * For a call that failed with `error`: runs `again` with uint8 converted where the op needs int64, and returns its result. Throws
 * the error, with advice, if that is not what is wrong.
 */
export function withInt64<T>(
  op: Op,
  values: readonly unknown[],
  error: unknown,
  again: (values: readonly unknown[]) => T,
): T {
  if (!EdgeGradError.isOne(error)) throw error;
  const [, dtype] = kRefused.exec(error.message) ?? [];
  if (dtype === undefined) throw error;
  // Where no parameter has such a name, as in oneHot(), it is the first one.
  const i = Math.max(
    0,
    op.parameters.findIndex(({ name }) => kOfNumbers.test(name)),
  );
  const numbers = values[i];
  if (dtype !== "uint8" || !(numbers instanceof Tensor) || numbers.dtype !== dtype) {
    const { code, message } = renamed(error, op.name);
    throw new EdgeGradError(code, message + adviceOnInt64(op.parameters[i]?.name ?? ""));
  }
  const converted = toInt64(op, numbers);
  try {
    return again(values.map((value, k) => (k === i ? converted : value)));
  } finally {
    converted.dispose();
  }
}

function toInt64({ name }: Op, tensor: Tensor): Tensor {
  const op = opOf("to_dtype");
  checkedFor(name, native.invoke(op.id, encode(op, [tensor, "int64"]), 0));
  return new Tensor(callFrame()[0] ?? 0);
}
