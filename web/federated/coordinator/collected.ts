// The collected updates of a round, and the interface of the coordinator for those who collect them.

import type { Revised } from "../nats/storage.js";
import type { RunRecord } from "../record.js";
import type { Store } from "../transport.js";
import type { InboxLimits } from "../update/assembly.js";
import type { Expected } from "../update/decode.js";
import type { State } from "../update/state.js";
import type { ReadServeOptions } from "./options.js";
import type { Presence } from "./presence.js";

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
  "state" | "selected" | "sampling" | "opened" | "deadline" | "secure"
>;

/** The part of the coordinator that collecting updates uses. */
export interface Host {
  readonly options: ReadServeOptions;
  readonly storage: Store;
  readonly limits: InboxLimits;
  readonly presence: Presence;
  readonly expected: Expected;
  /** The current record. */
  record(): Revised<RunRecord>;
  /** Replaces the record. */
  write(record: RunRecord): Promise<void>;
  /** Returns the opening of the round with the clients that are present, or null if they are too few. */
  opening(attempt: number): Opening | null;
  /** Resolves when a client appears, or after a while. */
  waitForClients(signal: AbortSignal): Promise<void>;
}
