// The end of a round: its summary, and the record from which the next one begins.

import type { Fragment, RoundSummary, RunRecord } from "../record.js";
import { kFirstSecureRecord } from "../secure/record.js";
import type { StoredObject } from "../stored_object.js";
import type { ClosedCandidate } from "./candidate.js";
import type { Collected } from "./collected.js";
import { keptWith } from "./kept.js";
import type { ReadServeOptions } from "./options.js";

/** What is known of a round besides its record when it ends. */
interface Ending {
  readonly collected: Collected;
  /** The metrics of the next weights. */
  readonly metrics: Readonly<Record<string, number>>;
  /** The milliseconds that it has lasted. */
  readonly time: number;
  /** The privacy spent so far, if it is counted. */
  readonly epsilon: number | undefined;
  readonly rolled: ClosedCandidate | null;
}

/** Returns the summary of a round. */
export function summaryOf(
  { round, fragment, weights, selected, secure }: RunRecord,
  { collected, metrics, time, epsilon, rolled }: Ending,
): RoundSummary {
  const { clients, samples, refused, readTo } = collected;
  return {
    round,
    clients,
    samples,
    metrics: { ...collected.metrics, ...metrics },
    refused,
    bytesUp: collected.bytes,
    bytesDown: (fragment?.weights ?? weights).size * selected.length,
    time,
    ...(epsilon !== undefined && { epsilon }),
    ...(rolled && { rollout: rolled.summary }),
    ...(secure && { failures: secure.failures }),
    readTo,
  };
}

/** What a round has stored for the next one. */
interface Stored {
  readonly weights: StoredObject;
  readonly progress: StoredObject;
  readonly fragment: Fragment | undefined;
}

/** Returns the record after a round. */
export function recordAfter(
  record: RunRecord,
  summary: RoundSummary,
  { weights, progress, fragment }: Stored,
  rolled: ClosedCandidate | null,
  options: ReadServeOptions,
): RunRecord {
  const { round, revision, secure } = record;
  const isLast = round >= record.rounds;
  return {
    ...record,
    state: isLast ? "finished" : "waiting",
    round: isLast ? round : round + 1,
    attempt: 1,
    extensions: 0,
    weights,
    progress,
    fragment,
    ...(rolled && { rollout: rolled.rollout }),
    ...(secure && { secure: { ...kFirstSecureRecord, excluded: secure.excluded } }),
    kept: keptWith(record.kept, { round, weights, progress, summary, revision }, options),
    last: summary,
  };
}

/** Returns the sentence for the event of a round that has ended. */
export function endOf({ round, clients }: RoundSummary, rolled: ClosedCandidate | null): string {
  const tried = rolled && `, ${rolled.summary.clients.length} of them for "${rolled.rollout.name}"`;
  return `round ${round} has ended with ${clients.length} updates${tried ?? ""}.`;
}
