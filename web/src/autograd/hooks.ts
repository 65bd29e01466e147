// Hooks: JavaScript functions in a list of C++'s.

import { interpreter } from "../dispatch/interpreter.js";
import { checked, checkedFor, native } from "../runtime/bridge.js";
import { type FrameCallback, holdFunction } from "../runtime/callbacks.js";
import { adviceForModules, describe, fail } from "../runtime/errors.js";
import { handleOf } from "../tensor/info.js";
import { Tensor, takeTensor } from "../tensor/tensor.js";

/**
 * Sees a gradient; what it returns, if anything, takes the gradient's place. It gets null when the
 * tensor is one of several outputs of an operation and no gradient has reached it.
 */
export type GradHook = ((grad: Tensor) => Tensor) | ((grad: Tensor) => void);

type AnyGradHook = (grad: Tensor | null) => unknown;

/** What registering a hook returns. */
export interface HookHandle {
  /** Takes the hook away; a second call does nothing. */
  remove(): void;
}

/** A hook that C++ has. */
export class RegisteredHook implements HookHandle {
  /** Takes over the number of the hook's function. @internal */
  constructor(private readonly callback: number) {}

  remove(): void {
    native.removeHook(this.callback);
  }

  /** True when the backward call that is running now will call this hook of a tensor. @internal */
  willRun(): boolean {
    return checked(native.hookWillRun(this.callback)) !== 0;
  }
}

/** Registers `hook` on the gradient of `tensor`. */
export function registerHook(tensor: Tensor, hook: GradHook): RegisteredHook {
  checkFunction("registerHook", hook);
  // Typed without null for the sake of the usual case.
  // Apart, for a function that knew the owner would keep it alive.
  const { owner, hook: run } = interpreter?.hooked(tensor, hook) ?? {
    owner: tensor,
    hook: hook as AnyGradHook,
  };
  const answer = ([grad = 0]: readonly number[]) => {
    const result = run(takeTensor(grad));
    return result === undefined || result === null ? [] : [replacement("registerHook", result)];
  };
  return addHook("registerHook", native.registerHook, handleOf(owner), hook, answer);
}

/** Sees a leaf whose `grad` has just been updated. */
export type PostAccumulateGradHook = (param: Tensor) => void;

/** Registers `hook` to run when a backward call has updated the `grad` of the leaf `tensor`. */
export function registerPostAccumulateGradHook(
  tensor: Tensor,
  hook: PostAccumulateGradHook,
): RegisteredHook {
  checkFunction("registerPostAccumulateGradHook", hook);
  const answer = ([param = 0]: readonly number[]) => {
    const result: unknown = hook(new Tensor(param));
    if (result !== undefined && result !== null) {
      fail(
        "InvalidArgument",
        "registerPostAccumulateGradHook",
        "Tensor post accumulate grad hooks should return None.",
      );
    }
    return [];
  };
  return addHook(
    "registerPostAccumulateGradHook",
    native.registerPostAccumulateGradHook,
    handleOf(tensor),
    hook,
    answer,
  );
}

/** Throws unless a hook is a function. */
export function checkFunction(where: string, fn: unknown): void {
  if (typeof fn === "function") return;
  fail(
    "InvalidArgument",
    where,
    `expected a function, got ${describe(fn)}.${adviceForModules(fn)}`,
  );
}

/**
 * Gives `answer`, which calls the user's `hook`, to a native function that keeps it in a list of
 * `owner`; `where` calls it, for errors.
 */
export function addHook(
  where: string,
  register: (owner: number, callback: number) => number,
  owner: number,
  // biome-ignore lint/complexity/noBannedTypes: only its name is of interest.
  hook: Function,
  answer: FrameCallback,
): RegisteredHook {
  const callback = holdFunction(answer, hook.name);
  checkedFor(where, register(owner, callback));
  return new RegisteredHook(callback);
}

/** Returns the handle of what a hook returned in place of a gradient. */
export function replacement(where: string, result: unknown): number {
  if (result instanceof Tensor) return handleOf(result);
  fail("InvalidGradient", where, `a hook returns a tensor or nothing, got ${describe(result)}.`);
}
