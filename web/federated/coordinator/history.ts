// The history of a run.

import { isTransient } from "../../nats/failures.js";
import type { RoundSummary, RunRecord } from "../record.js";
import type { Store } from "../transport.js";

/** The history of a run. */
export interface History {
  /** Whether the run has finished; false if the coordinator was stopped first. */
  readonly isComplete: boolean;
  /** The rounds that have ended, in order. */
  readonly rounds: readonly RoundSummary[];
  /** The bytes of all updates that clients have sent. */
  readonly bytesUp: number;
  /** The bytes of the weights that selected clients fetch, in all rounds. */
  readonly bytesDown: number;
}

/** Returns the history; if the program has stopped the coordinator because the server is unavailable, only its end. */
export async function historyOf(
  storage: Store,
  { round, last, state }: RunRecord,
  stop: AbortSignal,
): Promise<History> {
  const stored = await storage.readHistory(round - 1).catch((error) => {
    if (stop.aborted && isTransient(error)) return [];
    throw error;
  });
  const rounds = last === null ? stored : [...stored.filter((one) => one.round < last.round), last];
  const sum = (of: (one: RoundSummary) => number) => rounds.reduce((all, one) => all + of(one), 0);
  return {
    isComplete: state === "finished",
    rounds,
    bytesUp: sum((one) => one.bytesUp),
    bytesDown: sum((one) => one.bytesDown),
  };
}
