// Finding the operation behind a failing backward: eg.autograd.detectAnomaly().

import { native } from "../runtime/bridge.js";
import { kAnomalyCheckNan, kAnomalyEnabled } from "../runtime/native.js";
import { runInMode } from "./mode.js";

/** Options of `detectAnomaly`. */
export interface AnomalyOptions {
  /** Fail when a node of the backward graph returns NaN; default true. */
  checkNan?: boolean;
}

/**
 * Runs `fn`, returns its value, and looks for what goes wrong in backward calls inside it: an error in
 * one is preceded by a console warning that shows where the operation behind it was called, and a NaN
 * is an error. It makes everything slower.
 */
export function detectAnomaly<T>(fn: () => T, { checkNan = true }: AnomalyOptions = {}): T {
  const previous = native.anomalyMode();
  native.setAnomalyMode(kAnomalyEnabled | (checkNan ? kAnomalyCheckNan : 0));
  return runInMode("detectAnomaly", fn, () => native.setAnomalyMode(previous));
}
