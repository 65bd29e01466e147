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

/** The updates of the clients that train one revision. */
export interface Group {
  readonly clients: readonly string[];
  readonly samples: number;
  readonly metrics: Readonly<Record<string, number>>;
  /** Returns the next weights; null if there are too few updates, and the weights stay. */
  aggregate(): State | null;
}

/** The updates of a round, or their sum. The clients and samples are those of all revisions, the rest is about the run's own. */
export interface Collected extends Group {
  readonly refused: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly readTo: number;
  /** The updates for the candidate; null if there is none. */
  readonly candidate: Group | null;
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
  /** What updates for the candidate are checked against; null if there is none. */
  readonly candidate: Expected | null;
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
