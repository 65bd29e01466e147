// Inference mode: like noGrad(), and what is made in it can never take part in a graph.

import { boolean } from "../arguments/rule.js";
import { native } from "../runtime/bridge.js";
import { inMode, type ModeGuard } from "./mode.js";

/** Returns true in inference mode. */
export function isInferenceModeEnabled(): boolean {
  return native.isInferenceModeEnabled() !== 0;
}

/**
 * Runs `fn` in inference mode and returns its value; without `fn`, until the end of the block. `false`
 * goes back to the normal mode inside of it.
 */
export function inferenceMode(enabled?: boolean): ModeGuard;
export function inferenceMode<T>(fn: () => T): T;
export function inferenceMode<T>(enabled: boolean, fn: () => T): T;
export function inferenceMode<T>(
  enabledOrFn: boolean | (() => T) = true,
  fn?: () => T,
): T | ModeGuard {
  const isFunction = typeof enabledOrFn === "function";
  native.pushInferenceMode(isFunction || boolean.check("inferenceMode", "enabled", enabledOrFn));
  const body = isFunction ? enabledOrFn : fn;
  return inMode("inferenceMode", body, onlyOnce(native.popInferenceMode));
}

// A guard may be disposed by hand and again at the end of its block.
function onlyOnce(end: () => void): () => void {
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    end();
  };
}
