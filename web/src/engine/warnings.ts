// eg.setWarnAlways(): whether the engine repeats its warnings.

import { boolean } from "../arguments/rule.js";
import { native } from "../runtime/bridge.js";

/**
 * Sets whether warnings are shown every time instead of only once; returns the previous setting. For example, this reveals
 * every operation that a device lacks and the CPU computes instead.
 */
export function setWarnAlways(enabled: boolean): boolean {
  return native.setWarnAlways(boolean.check("setWarnAlways", "enabled", enabled)) !== 0;
}
