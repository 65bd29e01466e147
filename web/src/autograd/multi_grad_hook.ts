// eg.autograd.graph.registerMultiGradHook(): one hook for the gradients of several tensors.

import { listOf } from "../arguments/rule.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { tensorRule } from "../tensor/rules.js";
import type { Tensor } from "../tensor/tensor.js";
import { checkFunction, type HookHandle, type RegisteredHook, registerHook } from "./hooks.js";
import { PerBackwardCall } from "./per_backward_call.js";

/** A hook that receives the gradients in the order of the tensors, null for a tensor without one. */
export type MultiGradHook = (grads: (Tensor | null)[]) => void;

const kTensors = listOf(tensorRule);

/** A hook that receives the first gradient that is computed. */
export type AnyGradHook = (grad: Tensor) => void;

/**
 * Calls `fn` once per backward call. In mode "all" it receives the gradients of all `tensors`, once the last
 * one has been computed; in mode "any" it receives the first one.
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
      `mode: expected "all" or "any", got ${describe(mode)}.`,
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

function hooksForAll(tensors: readonly Tensor[], fn: MultiGradHook): RegisteredHook[] {
  const calls = new PerBackwardCall<{ waiting: number; readonly grads: (Tensor | null)[] }>();
  // These closures must not capture the tensors: each hook is held by its tensor, which would then never be freed.
  const begin = () => {
    const call = {
      waiting: hooks.filter((hook) => hook.willRun()).length,
      grads: hooks.map((): Tensor | null => null),
    };
    calls.set(call);
    return call;
  };
  const hooks = registerOnAll(tensors, (grad, i) => {
    const call = calls.get() ?? begin();
    call.grads[i] = grad;
    if (--call.waiting === 0) fn(call.grads);
  });
  return hooks;
}

function hooksForAny(tensors: readonly Tensor[], fn: AnyGradHook): RegisteredHook[] {
  const calls = new PerBackwardCall<true>();
  const wanted = tensors.filter((tensor) => tensor.requiresGrad);
  return registerOnAll(wanted, (grad) => {
    if (calls.get() === true) return;
    calls.set(true);
    fn(grad);
  });
}

// Registers the hook on all tensors, or on none if one of them cannot have a hook.
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
