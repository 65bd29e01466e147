// What a function that is composed of ops leaves to its caller.

import { checked, native } from "../runtime/bridge.js";
import type { Wrapper } from "./lifetime.js";
import { scope } from "./scope.js";
import { Tensor } from "./tensor.js";

/**
 * Runs `fn` and frees what its parts leave behind. A result that is a view of that is no view to the caller, who may do with
 * it what is refused on views (src/dispatch/own_result.h); `given` are the arguments, which stay what they are.
 */
export function ownResult<T>(given: readonly unknown[], fn: () => T): T {
  const result = scope(fn);
  const known = given.flat();
  for (const one of [result].flat()) {
    if (!(one instanceof Tensor) || known.includes(one)) continue;
    const { handle } = engineTensor(one);
    if (handle > 0) checked(native.ownResult(handle));
  }
  return result;
}

/** Returns a view of a tensor that nobody else is to have, as a tensor of its own. */
export function ownView(base: Tensor, view: (base: Tensor) => Tensor): Tensor {
  return ownResult([base], () => {
    const result = view(base);
    if (result !== base) base.dispose();
    return result;
  });
}

// Inside of vmap() a tensor is a batch that the engine knows.
function engineTensor(tensor: Wrapper): Wrapper {
  return tensor.shown === undefined ? tensor : engineTensor(tensor.shown);
}
