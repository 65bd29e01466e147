// Mixed precision: which ops round, and to what, is said in C++ (ops/op_precision.h).

import { readOptions } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import { runInMode } from "../autograd/mode.js";
import { native } from "../runtime/bridge.js";
import { type DType, dtypeCode, oneOfDTypes } from "../tensor/dtype.js";

const kOptions = {
  /** What operands are rounded to; default "bfloat16". */
  dtype: oneOfDTypes("bfloat16", "float16").or("bfloat16"),
  /** Whether there is any rounding; false ends it within another autocast(). Default true. */
  enabled: boolean.or(true),
};

/** Options of `autocast`. */
export type AutocastOptions = Options<typeof kOptions>;

/**
 * Runs `fn` with mixed precision and returns its value: products of matrices, linear(), convolutions, einsum() and
 * attention round their float32 operands to `dtype` and give results of it, losses, transforms and decompositions
 * give float32, all else promotes what it is given. What is recorded rounds its gradients the same way, so backward()
 * belongs outside. It holds for the synchronous run of `fn` and for tensors on the CPU.
 */
export function autocast<T>(fn: () => T, ...rest: [options?: AutocastOptions]): T {
  const { dtype, enabled } = readOptions("autocast", kOptions, rest);
  const wanted: DType = enabled ? dtype : "float32";
  const previous = native.setAutocast(dtypeCode(wanted, "autocast"));
  return runInMode("autocast", fn, () => native.setAutocast(previous));
}
