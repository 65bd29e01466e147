// One hook for the gradients of several tensors.

import { listOf } from "../arguments/rule.js";
import { native } from "../runtime/bridge.js";
import { describe, fail } from "../runtime/errors.js";
import { tensorRule } from "../tensor/rules.js";
import type { Tensor } from "../tensor/tensor.js";
import { queueCallback } from "./backward_callbacks.js";
import { checkFunction, type HookHandle, type RegisteredHook, registerHook } from "./hooks.js";

/** Sees the gradients in the order of the tensors, null for one that gets none. */
export type MultiGradHook = (grads: (Tensor | null)[]) => void;

const kTensors = listOf(tensorRule);

/** Sees the first gradient that is there. */
export type AnyGradHook = (grad: Tensor) => void;

/**
 * Calls `fn` once per backward call: with "all", with the gradients of all `tensors` when the last one
 * that the call computes is there; with "any", with the first one.
 */
export function registerMultiGradHook(
  tensors: readonly Tensor[],
  fn: MultiGradHook,
  mode?: "all",
): HookHandle;
export function registerMultiGradHook(
  tensors: readonly Tensor[],
  fn: AnyGradHook,
  mode: "any",
): HookHandle;
export function registerMultiGradHook(
  tensors: readonly Tensor[],
  fn: MultiGradHook | AnyGradHook,
  mode: "all" | "any" = "all",
): HookHandle {
  kTensors.check("registerMultiGradHook", "tensors", tensors);
  checkFunction("registerMultiGradHook", fn);
  if (mode !== "all" && mode !== "any") {
    fail(
      "InvalidArgument",
      "registerMultiGradHook",
      `Expects mode to be one of ('all', 'any') but got ${typeof mode === "string" ? mode : describe(mode)}.`,
    );
  }
  const handles =
    mode === "all"
      ? hooksForAll(tensors, fn as MultiGradHook)
      : hooksForAny(tensors, fn as AnyGradHook);
  return {
    remove: () => {
      for (const handle of handles) handle.remove();
    },
  };
}

// What a hook knows about the backward calls that are running, by their number. A call that ends
// takes its entry with it; one that fails leaves it behind, until an outermost call finds it.
class PerCall<T> {
  readonly #calls = new Map<number, T>();
  readonly #make: () => T;

  constructor(make: () => T) {
    this.#make = make;
  }

  /** What is known about the call that is running now. */
  get(): T {
    const call = native.graphTaskId();
    const known = this.#calls.get(call);
    if (known !== undefined) return known;
    if (native.graphTaskDepth() === 0) this.#calls.clear();
    const made = this.#make();
    this.#calls.set(call, made);
    queueCallback(() => this.#calls.delete(call));
    return made;
  }
}

function hooksForAll(tensors: readonly Tensor[], fn: MultiGradHook): RegisteredHook[] {
  const calls = new PerCall(() => ({
    waiting: hooks.filter((hook) => hook.willRun()).length,
    grads: tensors.map((): Tensor | null => null),
  }));
  const hooks = registerOnAll(tensors, (grad, i) => {
    const call = calls.get();
    call.grads[i] = grad;
    if (--call.waiting === 0) fn(call.grads);
  });
  return hooks;
}

function hooksForAny(tensors: readonly Tensor[], fn: AnyGradHook): RegisteredHook[] {
  const calls = new PerCall(() => ({ hasRun: false }));
  const wanted = tensors.filter((tensor) => tensor.requiresGrad);
  return registerOnAll(wanted, (grad) => {
    const call = calls.get();
    if (call.hasRun) return;
    call.hasRun = true;
    fn(grad);
  });
}

// All hooks or, when a tensor cannot have one, none.
function registerOnAll(
  tensors: readonly Tensor[],
  hook: (grad: Tensor, i: number) => void,
): RegisteredHook[] {
  const hooks: RegisteredHook[] = [];
  try {
    tensors.forEach((tensor, i) => {
      hooks.push(registerHook(tensor, (grad) => hook(grad, i)));
    });
  } catch (error) {
    for (const registered of hooks) registered.remove();
    throw error;
  }
  return hooks;
}
