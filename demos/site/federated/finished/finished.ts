// The run that the page opens with, which finished/train.ts has made.

import type { Round } from "../federation.js";
import run from "./run.json";

/** The rounds of a run of 100. */
export const kFinishedRounds: readonly Round[] = run;
