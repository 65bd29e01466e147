// The comparison that the page opens with, which finished/train.ts has made.

import type { Result } from "../comparison.js";
import recorded from "./runs.json";

/** A run of some workers: its result, and the loss by time. */
export interface FinishedRun {
  readonly workers: number;
  readonly result: Result;
  readonly points: readonly (readonly [seconds: number, loss: number])[];
}

/** The runs, and how many cores the machine had. */
export const kFinished = recorded as unknown as {
  readonly cores: number;
  readonly runs: readonly FinishedRun[];
};
