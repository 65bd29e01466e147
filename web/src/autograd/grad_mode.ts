// Grad mode: whether operations are recorded for backward.

import { readNothing } from "../arguments/read.js";
import { boolean } from "../arguments/rule.js";
import { native, reserveStack } from "../runtime/bridge/bridge.js";
import { inMode, type ModeGuard } from "./mode.js";

/** Returns true when operations on tensors that require a gradient are recorded. */
export function isGradEnabled(): boolean {
  return native.isGradEnabled() !== 0;
}

/** Runs `fn` without recording operations and returns its value. Without `fn`, returns a guard for `using`. */
export function noGrad(): ModeGuard;
export function noGrad<T>(fn: () => T): T;
export function noGrad<T>(fn?: () => T, ...rest: []): T | ModeGuard {
  readNothing("noGrad", rest);
  return withMode("noGrad", false, fn);
}

/** Runs `fn` with operations recorded and returns its value. Without `fn`, returns a guard for `using`. */
export function enableGrad(): ModeGuard;
export function enableGrad<T>(fn: () => T): T;
export function enableGrad<T>(fn?: () => T, ...rest: []): T | ModeGuard {
  readNothing("enableGrad", rest);
  return withMode("enableGrad", true, fn);
}

/** Like enableGrad() if `enabled` is true, otherwise like noGrad(). */
export function setGradEnabled(enabled: boolean): ModeGuard;
export function setGradEnabled<T>(enabled: boolean, fn: () => T): T;
export function setGradEnabled<T>(enabled: boolean, fn?: () => T): T | ModeGuard {
  return withMode("setGradEnabled", enabled, fn);
}

function withMode<T>(name: string, enabled: boolean, fn?: () => T): T | ModeGuard {
  boolean.check(name, "enabled", enabled);
  reserveStack();
  const previous = isGradEnabled();
  native.setGradEnabled(enabled);
  return inMode(name, fn, () => native.setGradEnabled(previous));
}
