// The collected updates of a round, and the interface of the coordinator for those who collect them.

import type { Revised } from "../nats/storage.js";
import type { RunRecord } from "../record.js";
import type { Store } from "../transport.js";
import type { InboxLimits } from "../update/assembly.js";
import type { Expected } from "../update/decode.js";
import type { State } from "../update/state.js";
import type { Reporter } from "./events.js";
import type { ReadServeOptions } from "./options.js";
import type { Presence } from "./presence.js";
import type { Verdicts } from "./verdicts.js";

/** The updates of a round, or their sum. */
export interface Collected {
  readonly clients: readonly string[];
  readonly samples: number;
  readonly metrics: Readonly<Record<string, number>>;
  readonly refused: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly readTo: number;
  /** Returns the next weights. */
  aggregate(): State;
}

/** The fields of the record that open a round. */
export type Opening = Pick<
  RunRecord,
  "state" | "selected" | "sampling" | "extensions" | "deadline" | "secure"
>;

/** The part of the coordinator that collecting updates uses. */
export interface Host {
  readonly options: ReadServeOptions;
  readonly storage: Store;
  readonly limits: InboxLimits;
  readonly presence: Presence;
  readonly expected: Expected;
  readonly reporter: Reporter;
  /** What has become of the updates of this round. */
  readonly verdicts: Verdicts;
  /** The current record. */
  record(): Revised<RunRecord>;
  /** Replaces the record. */
  write(record: RunRecord): Promise<void>;
  /** The milliseconds until the deadline, by this machine's clock since the record was written. */
  left(): number;
  /** Returns the opening of the round with the clients that are present, or null if they are too few. */
  opening(attempt: number): Opening | null;
}
