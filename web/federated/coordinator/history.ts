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

/** Reads the history of a run, each of its entries once. */
export class HistoryReader {
  #rounds: readonly RoundSummary[] = [];

  constructor(private readonly storage: Store) {}

  /** Returns the history; if the program has stopped the coordinator because the server is unavailable, only what is known of it. */
  async read({ round, last, state }: RunRecord, stop: AbortSignal): Promise<History> {
    // The run may have been rolled back.
    const known = this.#rounds.filter((summary) => summary.round < round);
    const first = (known.at(-1)?.round ?? 0) + 1;
    const stored = await this.storage.readHistory(round - 1, first).catch((error) => {
      if (stop.aborted && isTransient(error)) return [];
      throw error;
    });
    const all = [...known, ...stored];
    // The entry of the last round may not have been written yet.
    const rounds =
      last === null ? all : [...all.filter((summary) => summary.round < last.round), last];
    this.#rounds = all;
    const sum = (of: (summary: RoundSummary) => number) =>
      rounds.reduce((sum, round) => sum + of(round), 0);
    return {
      isComplete: state === "finished",
      rounds,
      bytesUp: sum((summary) => summary.bytesUp),
      bytesDown: sum((summary) => summary.bytesDown),
    };
  }
}
