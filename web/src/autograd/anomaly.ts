// Finding the operation behind a failing backward: eg.autograd.detectAnomaly().

import { readOptions } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import { native } from "../runtime/bridge.js";
import { kAnomalyCheckNan, kAnomalyEnabled } from "../runtime/native.js";
import { runInMode } from "./mode.js";

const kOptions = {
  /** Fail when a node of the backward graph returns NaN; default true. */
  checkNan: boolean.or(true),
};

/** Options of `detectAnomaly`. */
export type AnomalyOptions = Options<typeof kOptions>;

/**
 * Runs `fn`, returns its value, and looks for what goes wrong in backward calls inside it: an error in
 * one is preceded by a console warning that shows where the operation behind it was called, and a NaN
 * is an error. It makes everything slower.
 */
export function detectAnomaly<T>(fn: () => T, ...rest: [options?: AnomalyOptions]): T {
  const { checkNan } = readOptions("detectAnomaly", kOptions, rest);
  const previous = native.anomalyMode();
  native.setAnomalyMode(kAnomalyEnabled | (checkNan ? kAnomalyCheckNan : 0));
  return runInMode("detectAnomaly", fn, () => native.setAnomalyMode(previous));
}
