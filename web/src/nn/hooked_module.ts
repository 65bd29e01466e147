// The methods of a module that register hooks. The hooks are kept beside the modules, because few modules have any.

import { type Arguments, readArguments, readOptions } from "../arguments/read.js";
import type { HookHandle } from "../autograd/hooks.js";
import type { FullBackwardHook, FullBackwardPreHook } from "./backward_hooks.js";
import {
  addModuleHook,
  type BackwardHookOptions,
  type ForwardHook,
  type ForwardHookOptions,
  type ForwardHookWithOptions,
  type ForwardPreHook,
  type ForwardPreHookOptions,
  type ForwardPreHookWithOptions,
  kBackwardHookOptions,
  kForwardHookOptions,
  kForwardPreHookOptions,
  ModuleHooks,
  normalForwardHook,
  normalPreHook,
} from "./module_hooks.js";
import {
  type LoadStateDictPostHook,
  type LoadStateDictPreHook,
  type StateDictPostHook,
  type StateDictPreHook,
  StateHooks,
} from "./state_hooks.js";

/** The hooks around the calls of the modules that have any. */
export const moduleHooks = /* @__PURE__ */ new WeakMap<object, ModuleHooks>();

/** The hooks around the state dicts of the modules that have any. */
export const stateHooks = /* @__PURE__ */ new WeakMap<object, StateHooks>();

/** Whether a module has ever had hooks: calls look for them only then. */
export let anyHooks = false;

/** Gives a copy of a module the same hooks. */
export function copyHooks(module: object, copy: object): void {
  for (const all of [moduleHooks, stateHooks] as WeakMap<object, object>[]) {
    const lists = Object.entries(all.get(module) ?? {});
    const same = lists.map(([name, list]) => [name, new Map(list)]);
    if (lists.length > 0) all.set(copy, Object.fromEntries(same));
  }
}

/** The part of `Module` that registers hooks. */
export abstract class HookedModule {
  /**
   * Calls `hook` with the inputs before forward(); a value that it returns replaces them. With `withKwargs` the hook
   * receives the trailing object of options separately from the other inputs, and may return a new pair of both.
   */
  registerForwardPreHook(
    hook: ForwardPreHookWithOptions,
    options: ForwardPreHookOptions & { withKwargs: true },
  ): HookHandle;
  registerForwardPreHook(hook: ForwardPreHook, options?: ForwardPreHookOptions): HookHandle;
  registerForwardPreHook(
    hook: ForwardPreHook | ForwardPreHookWithOptions,
    ...rest: unknown[]
  ): HookHandle {
    const options = readOptions("registerForwardPreHook", kForwardPreHookOptions, rest);
    const normal = normalPreHook(hook, options.withKwargs);
    return addModuleHook(
      hooksIn(moduleHooks, this, ModuleHooks).forwardPre,
      normal,
      options.prepend,
    );
  }

  /**
   * Calls `hook` with inputs and output after forward(); a value that it returns replaces the output. With `withKwargs`
   * the hook receives the trailing object of options separately from the other inputs; with `alwaysCall` it is also called
   * when the call throws.
   */
  registerForwardHook(
    hook: ForwardHookWithOptions,
    options: ForwardHookOptions & { withKwargs: true },
  ): HookHandle;
  registerForwardHook(hook: ForwardHook, options?: ForwardHookOptions): HookHandle;
  registerForwardHook(hook: ForwardHook | ForwardHookWithOptions, ...rest: unknown[]): HookHandle {
    const options = readOptions("registerForwardHook", kForwardHookOptions, rest);
    const normal = normalForwardHook(hook, options);
    return addModuleHook(hooksIn(moduleHooks, this, ModuleHooks).forward, normal, options.prepend);
  }

  /**
   * Calls `hook` during backward with the gradients of this module's inputs and outputs, as soon as those of the inputs
   * are computed; a list that it returns replaces them.
   */
  registerFullBackwardHook(
    hook: FullBackwardHook,
    ...rest: Arguments<[prepend: boolean], BackwardHookOptions>
  ): HookHandle {
    const { prepend } = readArguments("registerFullBackwardHook", kBackwardHookOptions, rest);
    return addModuleHook(hooksIn(moduleHooks, this, ModuleHooks).fullBackward, hook, prepend);
  }

  /** Calls `hook` during backward with the gradients of this module's outputs, before they are used; a list that it returns replaces them. */
  registerFullBackwardPreHook(
    hook: FullBackwardPreHook,
    ...rest: Arguments<[prepend: boolean], BackwardHookOptions>
  ): HookHandle {
    const { prepend } = readArguments("registerFullBackwardPreHook", kBackwardHookOptions, rest);
    return addModuleHook(hooksIn(moduleHooks, this, ModuleHooks).fullBackwardPre, hook, prepend);
  }

  /** Calls `hook` before the tensors of this module are listed by stateDict(). */
  registerStateDictPreHook(hook: StateDictPreHook): HookHandle {
    return addModuleHook(hooksIn(stateHooks, this, StateHooks).statePre, hook, false);
  }

  /** Calls `hook` with the state dict when this module and its parts have been listed by stateDict(); it may change the object. */
  registerStateDictPostHook(hook: StateDictPostHook): HookHandle {
    return addModuleHook(hooksIn(stateHooks, this, StateHooks).statePost, hook, false);
  }

  /** Calls `hook` with a copy of the state dict, which it may change, before loadStateDict() looks up the tensors of this module. */
  registerLoadStateDictPreHook(hook: LoadStateDictPreHook): HookHandle {
    return addModuleHook(hooksIn(stateHooks, this, StateHooks).loadPre, hook, false);
  }

  /** Calls `hook` when this module and its parts have been loaded; it may change the lists of names, which are judged after that. */
  registerLoadStateDictPostHook(hook: LoadStateDictPostHook): HookHandle {
    return addModuleHook(hooksIn(stateHooks, this, StateHooks).loadPost, hook, false);
  }
}

function hooksIn<Hooks>(all: WeakMap<object, Hooks>, module: object, Made: new () => Hooks): Hooks {
  anyHooks = true;
  const hooks = all.get(module) ?? new Made();
  all.set(module, hooks);
  return hooks;
}
