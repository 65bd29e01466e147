// Hooks of optimizers around step(), stateDict() and loadStateDict().

import { boolean, type Options } from "../arguments/rule.js";
import { checkFunction, type HookHandle } from "../autograd/hooks.js";
import { describe, fail } from "../runtime/errors/errors.js";

/** Called before step() with its arguments; an array that it returns replaces them. */
export type StepPreHook<O> = (
  optimizer: O,
  args: readonly unknown[],
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that changes nothing returns nothing.
) => readonly unknown[] | null | void;

/** Called after step() with its arguments. */
export type StepPostHook<O> = (optimizer: O, args: readonly unknown[]) => void;

/** Called with an optimizer before its state is saved, or after it was loaded. */
export type OptimizerHook<O> = (optimizer: O) => void;

/** Called with a state dict before it is loaded, or after it was saved; one that it returns replaces it. */
// biome-ignore lint/suspicious/noConfusingVoidType: a hook that changes nothing returns nothing.
export type OptimizerStateHook<O, S> = (optimizer: O, stateDict: S) => S | null | void;

/** The declaration of the options of hooks of state dicts. */
export const kHookOptions = {
  /** Call the hook before the existing ones; default false. */
  prepend: boolean.or(false),
};

/** Options of hooks of optimizers. */
export type OptimizerHookOptions = Options<typeof kHookOptions>;

type AnyHook = (...given: unknown[]) => unknown;

/** The hooks of an optimizer. */
export class OptimizerHooks {
  stepPre: readonly AnyHook[] = [];
  stepPost: readonly AnyHook[] = [];
  statePre: readonly AnyHook[] = [];
  statePost: readonly AnyHook[] = [];
  loadPre: readonly AnyHook[] = [];
  loadPost: readonly AnyHook[] = [];

  /** Adds a hook to a list, and returns a handle that removes it. */
  add(
    list: "stepPre" | "stepPost" | "statePre" | "statePost" | "loadPre" | "loadPost",
    hook: unknown,
    prepend: boolean,
  ): HookHandle {
    checkFunction("Optimizer", hook);
    // An entry of its own, because a hook may be registered twice.
    const own: AnyHook = (...given) => (hook as AnyHook)(...given);
    this[list] = prepend ? [own, ...this[list]] : [...this[list], own];
    return {
      remove: () => {
        this[list] = this[list].filter((hook) => hook !== own);
      },
    };
  }

  /** Returns a step() with the hooks around it. */
  around(optimizer: unknown, step: AnyHook): AnyHook {
    return (...given) => {
      let args = given;
      for (const hook of this.stepPre) {
        const result = hook(optimizer, args);
        if (result === undefined || result === null) continue;
        if (!Array.isArray(result)) {
          fail(
            "InvalidArgument",
            "registerStepPreHook",
            `the hook must return nothing, or an array of arguments of step(), got ${describe(result)}.`,
          );
        }
        args = result;
      }
      const value = step.apply(optimizer, args);
      for (const hook of this.stepPost) hook(optimizer, args);
      return value;
    };
  }
}

/** The hooks of the steps of all optimizers; null if there have never been any. */
export let globalHooks: OptimizerHooks | null = null;

/** Returns the hooks of the steps of all optimizers, for a caller that adds one. */
export function ensureGlobalHooks(): OptimizerHooks {
  globalHooks ??= new OptimizerHooks();
  return globalHooks;
}

// The optimizer whose step() runs within hooks: an own step() may call that of its base class.
let stepping: unknown = null;

/** Runs a step within the hooks of all optimizers and those of its own. */
export function withStepHooks(
  optimizer: unknown,
  own: OptimizerHooks | null,
  step: AnyHook,
  given: unknown[],
): unknown {
  const before = stepping;
  if (before === optimizer) return step.apply(optimizer, given);
  stepping = optimizer;
  try {
    const inner = own?.around(optimizer, step) ?? step;
    const outer = globalHooks?.around(optimizer, inner) ?? inner;
    return outer.apply(optimizer, given);
  } finally {
    stepping = before;
  }
}

/** Passes a state dict through hooks. */
export function throughHooks<S>(hooks: readonly AnyHook[], optimizer: unknown, state: S): S {
  return hooks.reduce<S>((now, hook) => (hook(optimizer, now) as S | undefined) ?? now, state);
}
