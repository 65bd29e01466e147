// Modes that decide how checkpoints work that are made in them.

import { boolean } from "../../arguments/rule.js";
import { inMode, type ModeGuard } from "../mode.js";

/** The modes of this thread. */
export const modes = {
  stopsEarly: true,
  /** Overrides the option `debug`, unless it is null. */
  debug: null as boolean | null,
};

/**
 * Sets whether the recomputations of checkpoints that `fn` makes stop as soon as all tensors have been found, which is the default,
 * also if their backward runs later. Without `fn`, returns a guard for `using`.
 */
export function setCheckpointEarlyStop<T>(enable: boolean, fn: () => T): T;
export function setCheckpointEarlyStop(enable: boolean): ModeGuard;
export function setCheckpointEarlyStop<T>(enable: boolean, fn?: () => T): T | ModeGuard {
  const before = modes.stopsEarly;
  modes.stopsEarly = boolean.check("setCheckpointEarlyStop", "enable", enable);
  return inMode("setCheckpointEarlyStop", fn, () => {
    modes.stopsEarly = before;
  });
}

/** Overrides the option `debug` of the checkpoints that `fn` makes; null ends that. Without `fn`, returns a guard for `using`. */
export function setCheckpointDebugEnabled<T>(enabled: boolean | null, fn: () => T): T;
export function setCheckpointDebugEnabled(enabled: boolean | null): ModeGuard;
export function setCheckpointDebugEnabled<T>(enabled: boolean | null, fn?: () => T): T | ModeGuard {
  const before = modes.debug;
  modes.debug = boolean.orNull().check("setCheckpointDebugEnabled", "enabled", enabled);
  return inMode("setCheckpointDebugEnabled", fn, () => {
    modes.debug = before;
  });
}
