// How often the engine warns: eg.setWarnAlways().

import { boolean } from "../arguments/rule.js";
import { native } from "../runtime/bridge.js";

/**
 * Has warnings come each time and not only the first; returns what was set before. With it a program finds everything that a
 * device lacks and the CPU computes in its place.
 */
export function setWarnAlways(enabled: boolean): boolean {
  return native.setWarnAlways(boolean.check("setWarnAlways", "enabled", enabled)) !== 0;
}
