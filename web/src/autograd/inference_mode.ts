// Inference mode: like noGrad(), but in addition the tensors made in it can never become part of a graph.

import { boolean } from "../arguments/rule.js";
import { checkedFor, native } from "../runtime/bridge/bridge.js";
import { inMode, type ModeGuard } from "./mode.js";

/** Returns true in inference mode. */
export function isInferenceModeEnabled(): boolean {
  return native.isInferenceModeEnabled() !== 0;
}

/**
 * Runs `fn` in inference mode and returns its value. Without `fn`, returns a guard for `using`. With `false`,
 * `fn` runs in normal mode even inside inference mode.
 */
export function inferenceMode(enabled?: boolean): ModeGuard;
export function inferenceMode<T>(fn: () => T): T;
export function inferenceMode<T>(enabled: boolean, fn: () => T): T;
export function inferenceMode<T>(
  enabledOrFn: boolean | (() => T) = true,
  fn?: () => T,
): T | ModeGuard {
  const isFunction = typeof enabledOrFn === "function";
  const enabled = isFunction || boolean.check("inferenceMode", "enabled", enabledOrFn);
  checkedFor("inferenceMode", native.pushInferenceMode(enabled));
  const body = isFunction ? enabledOrFn : fn;
  return inMode("inferenceMode", body, native.popInferenceMode);
}
