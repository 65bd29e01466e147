// eg.setWarnAlways(): whether the package repeats its warnings.

import { boolean } from "../arguments/rule.js";
import { native } from "../runtime/bridge/bridge.js";
import { repeatWarnings } from "../runtime/errors/once.js";

/**
 * Sets whether warnings are shown every time instead of only once; returns the previous setting. For example, this reveals
 * every operation that a device lacks and the CPU computes instead.
 */
export function setWarnAlways(enabled: boolean): boolean {
  repeatWarnings(boolean.check("setWarnAlways", "enabled", enabled));
  return native.setWarnAlways(enabled) !== 0;
}
