// eg.autograd.detectAnomaly(): finding the operation that makes a backward call fail.

import { readOptions } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import { kAnomalyCheckNan, kAnomalyEnabled } from "../generated/border.js";
import { native, reserveStack } from "../runtime/bridge/bridge.js";
import { inMode, type ModeArguments, type ModeGuard, splitFunction } from "./mode.js";

const kOptions = {
  /** Whether to throw if a node of the backward graph returns NaN; default true. */
  checkNan: boolean.or(true),
};

/** Options of `detectAnomaly`. */
export type AnomalyOptions = Options<typeof kOptions>;

/**
 * Runs `fn`, returns its value, and diagnoses failures of backward calls inside it. Before an error in
 * a backward call is thrown, a console warning shows where the forward operation was called; a NaN in a
 * gradient is an error. This mode slows down all operations. Without `fn`, returns a guard for `using`.
 */
export function detectAnomaly(options?: AnomalyOptions): ModeGuard;
export function detectAnomaly<T>(fn: () => T, options?: AnomalyOptions): T;
export function detectAnomaly<T>(...given: ModeArguments<T, AnomalyOptions>): T | ModeGuard {
  const [fn, rest] = splitFunction("detectAnomaly", given);
  const { checkNan } = readOptions("detectAnomaly", kOptions, rest);
  reserveStack();
  const previous = native.anomalyMode();
  native.setAnomalyMode(kAnomalyEnabled | (checkNan ? kAnomalyCheckNan : 0));
  return inMode("detectAnomaly", fn, () => native.setAnomalyMode(previous));
}
