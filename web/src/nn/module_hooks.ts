// Hooks of modules, and those of all modules (global_hooks.ts). What runs in backward is in backward_hooks.ts.

import { isPlainObject } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import { checkFunction, type HookHandle } from "../autograd/hooks.js";
import { fail } from "../runtime/errors/errors.js";
import {
  BackwardHooks,
  type FullBackwardHook,
  type FullBackwardPreHook,
} from "./backward_hooks.js";
import type { Module } from "./module.js";

/** Receives the inputs of a call; a list that it returns replaces them, another value becomes the only input. */
export type ForwardPreHook = (module: Module, inputs: unknown[]) => unknown;

/** Receives the inputs and the output of a call; a value that it returns replaces the output. */
export type ForwardHook = (module: Module, inputs: unknown[], output: unknown) => unknown;

/** The options of a call of a module: the object after its inputs. */
export type CallOptions = Readonly<Record<string, unknown>>;

/** Receives the inputs and the options of a call; a pair of new ones that it returns replaces them. */
export type ForwardPreHookWithOptions = (
  module: Module,
  inputs: unknown[],
  options: CallOptions,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that changes nothing returns nothing.
) => readonly [inputs: readonly unknown[], options: CallOptions] | null | void;

/** Receives the inputs, the options and the output of a call; a value that it returns replaces the output. */
export type ForwardHookWithOptions = (
  module: Module,
  inputs: unknown[],
  options: CallOptions,
  output: unknown,
) => unknown;

/** The declaration of the options of hooks before forward. */
export const kForwardPreHookOptions = {
  /** Call the hook before the existing ones; default false. */
  prepend: boolean.or(false),
  /** Also pass the call's trailing object of options to the hook; default false. */
  withKwargs: boolean.or(false),
};

/** Options of hooks before forward. */
export type ForwardPreHookOptions = Options<typeof kForwardPreHookOptions>;

/** The declaration of the options of forward hooks. */
export const kForwardHookOptions = {
  ...kForwardPreHookOptions,
  /** Also call the hook when the call throws an error, with an undefined output if forward() has not returned; default false. */
  alwaysCall: boolean.or(false),
};

/** Options of forward hooks. */
export type ForwardHookOptions = Options<
  typeof kForwardHookOptions & typeof kForwardPreHookOptions
>;

/** The declaration of the options of full backward hooks. */
export const kBackwardHookOptions = {
  /** Call the hook before the existing ones; default false. */
  prepend: kForwardPreHookOptions.prepend,
};

/** Options of full backward hooks. */
export type BackwardHookOptions = Options<typeof kBackwardHookOptions>;

/** Returns the inputs to use instead of `inputs`. */
type NormalPreHook = (module: Module, inputs: unknown[]) => unknown[];

/** Returns the output to use instead of `output`. */
type NormalForwardHook = ((module: Module, inputs: unknown[], output: unknown) => unknown) & {
  readonly alwaysCall?: boolean;
};

/** The hooks around the calls of a module. */
export class ModuleHooks {
  readonly forwardPre = new Map<symbol, NormalPreHook>();
  readonly forward = new Map<symbol, NormalForwardHook>();
  readonly fullBackwardPre = new Map<symbol, FullBackwardPreHook>();
  readonly fullBackward = new Map<symbol, FullBackwardHook>();
}

/** Returns keys that identify the current hooks. */
export function keysOfHooks(hooks: ModuleHooks | null | undefined): symbol[] {
  return Object.values(hooks ?? {}).flatMap((list) => [...list.keys()]);
}

/** Adds a hook to a list, and returns a handle that removes it. */
export function addModuleHook<Hook>(
  hooks: Map<symbol, Hook>,
  hook: Hook,
  prepend: boolean,
): HookHandle {
  checkFunction("Module", hook);
  const key = Symbol("hook");
  const later = prepend ? [...hooks] : [];
  if (prepend) hooks.clear();
  hooks.set(key, hook);
  for (const [other, own] of later) hooks.set(other, own);
  return { remove: () => void hooks.delete(key) };
}

/** Returns a hook that returns all inputs, including the options. */
export function normalPreHook(
  hook: ForwardPreHook | ForwardPreHookWithOptions,
  withKwargs: boolean,
): NormalPreHook {
  checkFunction("Module", hook);
  if (withKwargs) {
    return (module, given) => {
      const { inputs, options } = apart(given);
      const result = (hook as ForwardPreHookWithOptions)(module, inputs, options);
      return result === undefined || result === null ? given : argumentsOf(result);
    };
  }
  return (module, given) => {
    const result = (hook as ForwardPreHook)(module, given);
    if (result === undefined || result === null) return given;
    return Array.isArray(result) ? result : [result];
  };
}

/** Returns a hook that returns the output. */
export function normalForwardHook(
  hook: ForwardHook | ForwardHookWithOptions,
  { withKwargs, alwaysCall }: { readonly withKwargs: boolean; readonly alwaysCall: boolean },
): NormalForwardHook {
  checkFunction("Module", hook);
  const normal: NormalForwardHook = (module, given, output) => {
    if (!withKwargs) return (hook as ForwardHook)(module, given, output) ?? output;
    const { inputs, options } = apart(given);
    return (hook as ForwardHookWithOptions)(module, inputs, options, output) ?? output;
  };
  return alwaysCall ? Object.assign(normal, { alwaysCall }) : normal;
}

function apart(given: unknown[]): { inputs: unknown[]; options: CallOptions } {
  const last = given.at(-1);
  return isPlainObject(last)
    ? { inputs: given.slice(0, -1), options: last }
    : { inputs: given, options: {} };
}

function argumentsOf(result: unknown): unknown[] {
  const [inputs, options] = Array.isArray(result) && result.length === 2 ? result : [];
  if (!Array.isArray(inputs) || !isPlainObject(options)) {
    const message =
      "with withKwargs, a hook must return nothing or a pair: a list of inputs and an object of options.";
    fail("InvalidArgument", "registerForwardPreHook", message);
  }
  return Object.keys(options).length > 0 ? [...inputs, options] : inputs;
}

/** The hooks of all modules; null if there have never been any. */
export let globalHooks: ModuleHooks | null = null;

/** Returns the hooks of all modules, for a caller that adds one. */
export function ensureGlobalHooks(): ModuleHooks {
  globalHooks ??= new ModuleHooks();
  return globalHooks;
}

/** Runs a module's forward with its hooks around it, after those of all modules. */
export function callWithHooks(
  module: Module,
  own: ModuleHooks,
  given: unknown[],
  forward: (...inputs: unknown[]) => unknown,
): unknown {
  const lists = globalHooks === null || globalHooks === own ? [own] : [globalHooks, own];
  const [pres, posts, backwardPres, backwards] = [
    lists.flatMap((hooks) => [...hooks.forwardPre.values()]),
    lists.flatMap((hooks) => [...hooks.forward.values()]),
    lists.flatMap((hooks) => [...hooks.fullBackwardPre.values()]),
    lists.flatMap((hooks) => [...hooks.fullBackward.values()]),
  ];
  let inputs = given;
  let output: unknown;
  const waiting = new Set(posts.filter((hook) => hook.alwaysCall));
  try {
    for (const hook of pres) inputs = hook(module, inputs);
    const backward =
      backwardPres.length + backwards.length > 0
        ? new BackwardHooks(module, backwardPres, backwards)
        : null;
    if (backward !== null) inputs = backward.watchInputs(inputs);
    output = forward(...inputs);
    for (const hook of posts) {
      waiting.delete(hook);
      output = hook(module, inputs, output);
    }
    return backward === null ? output : backward.watchOutput(output);
  } catch (error) {
    for (const hook of waiting) output = silently(() => hook(module, inputs, output), output);
    throw error;
  }
}

// Runs a hook after an error, which is the one to be thrown.
function silently(run: () => unknown, otherwise: unknown): unknown {
  try {
    return run();
  } catch (error) {
    console.warn(
      `edgegrad: [Module] a forward hook with alwaysCall threw after another error, which is the one that is thrown: ${error}`,
    );
    return otherwise;
  }
}
