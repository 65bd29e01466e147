// Hooks on the gradient of a tensor.

import { native, takeError } from "../runtime/bridge.js";
import { addCallback, dropCallback } from "../runtime/callbacks.js";
import { describe, fail } from "../runtime/errors.js";
import { handleOf } from "./info.js";
import { Tensor } from "./tensor.js";

/** Sees a gradient; what it returns, if anything, takes the gradient's place. */
export type GradHook = ((grad: Tensor) => Tensor) | ((grad: Tensor) => void);

/** What registering a hook returns. */
export interface HookHandle {
  /** Takes the hook away; a second call does nothing. */
  remove(): void;
}

/** Registers `hook` on the gradient of `tensor`. */
export function registerHook(tensor: Tensor, hook: GradHook): HookHandle {
  if (typeof hook !== "function") {
    fail("InvalidArgument", "registerHook", `expected a function, got ${describe(hook)}.`);
  }
  const callback = addCallback((grad) => {
    if (grad === 0) return 0;
    const result: unknown = hook(new Tensor(grad));
    if (result === undefined || result === null) return 0;
    if (result instanceof Tensor) return handleOf(result);
    fail(
      "InvalidGradient",
      "registerHook",
      `a hook returns a tensor or nothing, got ${describe(result)}.`,
    );
  });
  const remove = () => dropCallback(callback);
  if (native.registerHook(handleOf(tensor), callback) < 0) {
    remove();
    throw takeError();
  }
  return { remove };
}
