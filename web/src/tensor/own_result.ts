// The results and intermediate tensors of functions that are composed of ops.

import { checked, native } from "../runtime/bridge/bridge.js";
import { scope } from "./scope.js";
import { Tensor } from "./tensor.js";
import type { Wrapper } from "./wrapper.js";

/**
 * Runs `fn` and frees its intermediate tensors. A result that is a view of an intermediate is turned into a tensor that is not a
 * view, so operations that are rejected on views work on it (src/dispatch/own_result.h). The arguments `given` are not changed.
 */
export function ownResult<T>(given: readonly unknown[], fn: () => T): T {
  const result = scope(fn);
  const known = given.flat();
  for (const tensor of [result].flat()) {
    if (!(tensor instanceof Tensor) || known.includes(tensor)) continue;
    const { handle } = engineTensor(tensor);
    if (handle > 0) checked(native.ownResult(handle));
  }
  return result;
}

/** Disposes `base` and returns a view of it as a separate tensor that is not a view. */
export function ownView(base: Tensor, view: (base: Tensor) => Tensor): Tensor {
  return ownResult([base], () => {
    const result = view(base);
    if (result !== base) base.dispose();
    return result;
  });
}

// Inside vmap() the engine knows the batched tensor that this one represents.
function engineTensor(tensor: Wrapper): Wrapper {
  return tensor.shown === undefined ? tensor : engineTensor(tensor.shown);
}
