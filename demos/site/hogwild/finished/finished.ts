// The comparison that the page opens with, which finished/train.ts has made.

import type { Result } from "../comparison.js";
import recorded from "./runs.json";

/** A run of some workers: its result, and the loss by time. */
export interface FinishedRun {
  readonly workers: number;
  readonly result: Result;
  readonly points: readonly (readonly [seconds: number, loss: number])[];
}

/** The runs, how many cores the machine had, and whether other programs used them. */
export const kFinished = recorded as unknown as {
  readonly cores: number;
  readonly isBusy: boolean;
  readonly runs: readonly FinishedRun[];
};
