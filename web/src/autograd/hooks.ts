// Hooks on tensors: JavaScript functions that C++ calls during backward.

import { interpreter } from "../dispatch/interpreter.js";
import { checked, checkedFor, native } from "../runtime/bridge/bridge.js";
import { type FrameCallback, holdFunction } from "../runtime/bridge/callbacks.js";
import { adviceForModules, describe, fail } from "../runtime/errors/errors.js";
import { handleOf } from "../tensor/info.js";
import { Tensor, takeTensor, wrapperOf } from "../tensor/tensor.js";

/**
 * A hook on the gradient of a tensor. If it returns a tensor, that replaces the gradient. It receives null if
 * the tensor is one of several outputs of an operation and no gradient has reached it.
 */
export type GradHook = ((grad: Tensor) => Tensor) | ((grad: Tensor) => void);

type AnyGradHook = (grad: Tensor | null) => unknown;

/** The handle of a registered hook. */
export interface HookHandle {
  /** Removes the hook; a second call has no effect. */
  remove(): void;
}

/** A hook that is registered in C++. */
export class RegisteredHook implements HookHandle {
  /** `callback` is the number of the hook's function. @internal */
  constructor(private readonly callback: number) {}

  remove(): void {
    native.removeHook(this.callback);
  }

  /** True if the running backward call will call this hook of a tensor. @internal */
  willRun(): boolean {
    return checked(native.hookWillRun(this.callback)) !== 0;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/** Registers `hook` on the gradient of `tensor`. */
export function registerHook(tensor: Tensor, hook: GradHook): RegisteredHook {
  checkFunction("registerHook", hook);
  // The public type omits null because it is rare.
  // The owner must not be captured by the hook's closure, which would keep it alive.
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

/** A hook that is called with a leaf whose `grad` has just been updated. */
export type PostAccumulateGradHook = (param: Tensor) => void;

/** Registers `hook` to run each time a backward call has updated the `grad` of the leaf `tensor`. */
export function registerPostAccumulateGradHook(
  tensor: Tensor,
  hook: PostAccumulateGradHook,
): RegisteredHook {
  checkFunction("registerPostAccumulateGradHook", hook);
  const answer = ([param = 0]: readonly number[]) => {
    const result: unknown = hook(wrapperOf(param));
    if (result !== undefined && result !== null) {
      fail(
        "InvalidArgument",
        "registerPostAccumulateGradHook",
        `the hook must not return a value, got ${describe(result)}.`,
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

/** Throws InvalidArgument unless `fn` is a function. */
export function checkFunction(where: string, fn: unknown): void {
  if (typeof fn === "function") return;
  fail(
    "InvalidArgument",
    where,
    `expected a function, got ${describe(fn)}.${adviceForModules(fn)}`,
  );
}

/**
 * Registers `answer`, which calls the user's `hook`, on `owner` through a native function; `where` is the
 * name of the calling function, for errors.
 */
export function addHook(
  where: string,
  register: (owner: number, callback: number) => number,
  owner: number,
  // biome-ignore lint/complexity/noBannedTypes: only its name is used.
  hook: Function,
  answer: FrameCallback,
): RegisteredHook {
  const callback = holdFunction(answer, hook.name);
  checkedFor(where, register(owner, callback));
  return new RegisteredHook(callback);
}

/** Returns the handle of the tensor with which a hook replaces a gradient. */
export function replacement(where: string, result: unknown): number {
  if (result instanceof Tensor) return handleOf(result);
  fail(
    "InvalidGradient",
    where,
    `a hook must return a tensor or nothing, got ${describe(result)}.`,
  );
}
