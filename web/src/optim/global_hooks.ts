// Hooks of the steps of all optimizers, which run around an optimizer's own.

import { readNothing } from "../arguments/read.js";
import type { HookHandle } from "../autograd/hooks.js";
import { ensureGlobalHooks, type StepPostHook, type StepPreHook } from "./hooks.js";
import type { Optimizer } from "./optimizer.js";

/** Calls `hook` before step() of every optimizer, as `Optimizer.registerStepPreHook` does for one. */
export function registerOptimizerStepPreHook(
  hook: StepPreHook<Optimizer>,
  ...rest: []
): HookHandle {
  readNothing("registerOptimizerStepPreHook", rest);
  return ensureGlobalHooks().add("stepPre", hook, false);
}

/** Calls `hook` after step() of every optimizer, as `Optimizer.registerStepPostHook` does for one. */
export function registerOptimizerStepPostHook(
  hook: StepPostHook<Optimizer>,
  ...rest: []
): HookHandle {
  readNothing("registerOptimizerStepPostHook", rest);
  return ensureGlobalHooks().add("stepPost", hook, false);
}
