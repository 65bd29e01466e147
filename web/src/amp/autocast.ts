// eg.amp.autocast(): mixed precision. C++ defines which ops round their operands (src/ops/op_precision.h).

import { readOptions } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import { inMode, type ModeArguments, type ModeGuard, splitFunction } from "../autograd/mode.js";
import { native, reserveStack } from "../runtime/bridge/bridge.js";
import { type DType, dtypeCode, oneOfDTypes } from "../tensor/dtype.js";

const kOptions = {
  /** The dtype that operands are rounded to; default "bfloat16". */
  dtype: oneOfDTypes("bfloat16", "float16").or("bfloat16"),
  /** Whether operands are rounded; false disables rounding inside another autocast(). Default true. */
  enabled: boolean.or(true),
};

/** Options of `autocast`. */
export type AutocastOptions = Options<typeof kOptions>;

/**
 * Runs `fn` with mixed precision and returns its value. Matrix products, linear(), convolutions, einsum() and attention
 * round their float32 operands to `dtype` and return results of this dtype; losses, Fourier transforms and decompositions
 * compute in float32; all other ops promote their operands as usual. Recorded operations round their gradients in the same
 * way, so call backward() outside. The mode applies to the synchronous execution of `fn` and to tensors on the CPU. Without
 * `fn`, returns a guard for `using`.
 */
export function autocast(options?: AutocastOptions): ModeGuard;
export function autocast<T>(fn: () => T, options?: AutocastOptions): T;
export function autocast<T>(...given: ModeArguments<T, AutocastOptions>): T | ModeGuard {
  const [fn, rest] = splitFunction("autocast", given);
  const { dtype, enabled } = readOptions("autocast", kOptions, rest);
  const wanted: DType = enabled ? dtype : "float32";
  reserveStack();
  const previous = native.setAutocast(dtypeCode(wanted, "autocast"));
  return inMode("autocast", fn, () => native.setAutocast(previous));
}
