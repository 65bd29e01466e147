// Hooks of all modules, which run before a module's own.

import { type Arguments, readArguments, readOptions } from "../arguments/read.js";
import type { HookHandle } from "../autograd/hooks.js";
import type { FullBackwardHook, FullBackwardPreHook } from "./backward_hooks.js";
import {
  addModuleHook,
  type BackwardHookOptions,
  ensureGlobalHooks,
  type ForwardHook,
  type ForwardHookOptions,
  type ForwardHookWithOptions,
  type ForwardPreHook,
  kBackwardHookOptions,
  kForwardHookOptions,
  normalForwardHook,
  normalPreHook,
} from "./module_hooks.js";

/** Calls `hook` with the inputs before forward() of every module, as `Module.registerForwardPreHook` does for one. */
export function registerModuleForwardPreHook(hook: ForwardPreHook, ...rest: []): HookHandle {
  readArguments("registerModuleForwardPreHook", {}, rest);
  return addModuleHook(ensureGlobalHooks().forwardPre, normalPreHook(hook, false), false);
}

/** Calls `hook` with inputs and output after forward() of every module, as `Module.registerForwardHook` does for one. */
export function registerModuleForwardHook(
  hook: ForwardHookWithOptions,
  options: ForwardHookOptions & { withKwargs: true },
): HookHandle;
export function registerModuleForwardHook(
  hook: ForwardHook,
  options?: ForwardHookOptions,
): HookHandle;
export function registerModuleForwardHook(
  hook: ForwardHook | ForwardHookWithOptions,
  ...rest: unknown[]
): HookHandle {
  const options = readOptions("registerModuleForwardHook", kForwardHookOptions, rest);
  return addModuleHook(
    ensureGlobalHooks().forward,
    normalForwardHook(hook, options),
    options.prepend,
  );
}

/** Calls `hook` in backward with the gradients of the outputs of every module, as `Module.registerFullBackwardPreHook` does for one. */
export function registerModuleFullBackwardPreHook(
  hook: FullBackwardPreHook,
  ...rest: Arguments<[prepend: boolean], BackwardHookOptions>
): HookHandle {
  const where = "registerModuleFullBackwardPreHook";
  const { prepend } = readArguments(where, kBackwardHookOptions, rest);
  return addModuleHook(ensureGlobalHooks().fullBackwardPre, hook, prepend);
}

/** Calls `hook` in backward with the gradients of every module, as `Module.registerFullBackwardHook` does for one. */
export function registerModuleFullBackwardHook(
  hook: FullBackwardHook,
  ...rest: Arguments<[prepend: boolean], BackwardHookOptions>
): HookHandle {
  const { prepend } = readArguments("registerModuleFullBackwardHook", kBackwardHookOptions, rest);
  return addModuleHook(ensureGlobalHooks().fullBackward, hook, prepend);
}
