// eg.func.interceptOps(): running a function with every call of an op in it passed to a handler.

import { readOptions } from "../arguments/read.js";
import { functionOf, type Options } from "../arguments/rule.js";
import { interceptedBy, type OpHandler } from "../autograd/op_interceptor.js";
import type { Tensor } from "../tensor/tensor.js";

export type { OpCall, OpHandler, OpResult } from "../autograd/op_interceptor.js";

const kName = "interceptOps";
const kFunction = functionOf<(...args: never[]) => unknown>();

const kOptions = {
  /** Called with every tensor whose elements `fn` reads into JavaScript by `item()`, `dataSync()` and similar methods. */
  onRead: functionOf<(tensor: Tensor) => void>().orNull(),
};

/** Options of `interceptOps`. */
export type InterceptOptions = Options<typeof kOptions>;

/**
 * Runs `fn` and passes every call of an op in it to `handler`, which returns the result of the call: `(call) => call.run()`
 * changes nothing. Methods, operators of layers and functions composed of ops are calls too, the latter with their parts inside
 * `run()`. Calls that the handler itself makes are not intercepted, nor are those of the engine in backward.
 */
export function interceptOps<T>(
  fn: () => T,
  handler: OpHandler,
  ...rest: [options?: InterceptOptions]
): T {
  const { onRead } = readOptions(kName, kOptions, rest);
  kFunction.check(kName, "fn", fn);
  kFunction.check(kName, "handler", handler);
  return interceptedBy(kName, handler, fn, onRead);
}
