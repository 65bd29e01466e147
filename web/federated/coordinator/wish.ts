// What an operator wants of the revisions of a run, and the record that has it.

import { fail } from "../../errors/errors.js";
import type { RunRecord } from "../record.js";
import { ownRevision, type Rollout, type RolloutWish, whyNoCandidate } from "../rollout.js";
import type { RunEventType } from "./events.js";

const kWhere = "serve";

/** What following a wish needs of the coordinator. */
export interface WishHost {
  readonly isPrivate: boolean;
  /** Stores the strategy's state from before all rounds, for weights that no round has changed. */
  storeFresh(): Promise<Rollout["progress"]>;
  /** Throws if weights are not those of the run's model. */
  check(rollout: Pick<Rollout, "weights" | "progress">): Promise<void>;
}

/** A record with other revisions, and what has changed, as an event. */
export interface Followed {
  readonly record: RunRecord;
  readonly type: RunEventType;
  readonly message: string;
}

/** Returns the record with the candidate that an operator wants; null if it has it already. Throws InvalidArgument if that is impossible. */
export async function follow(
  host: WishHost,
  record: RunRecord,
  wish: RolloutWish,
): Promise<Followed | null> {
  const { rollout, ...rest } = record;
  const { revision: name, share } = wish;
  const isOpen = rollout?.name === name;
  if (share === 0) {
    const message = `revision "${name}" is withdrawn; all clients train the run's own.`;
    return isOpen ? { record: rest, type: "withdrawn", message } : null;
  }
  if (!isOpen && ownRevision(record).name === name) return null;
  const reason = whyNoCandidate(record, host.isPrivate);
  if (reason !== null) fail("InvalidArgument", kWhere, `the run has one revision only: ${reason}.`);
  const next = isOpen ? { ...rollout, share } : await begin(host, record, wish);
  const { config, weights, progress } = next;
  if (share === 1) {
    const message = `revision "${name}" is that of the run; all clients train it.`;
    const promoted = { ...rest, weights, progress, revision: { name, config } };
    return { record: promoted, type: "promoted", message };
  }
  if (isOpen && rollout.share === share) return null;
  const percent = Number((100 * share).toPrecision(3));
  const message = `${percent} % of the clients train revision "${name}".`;
  return { record: { ...rest, rollout: next }, type: "rolledOut", message };
}

async function begin(host: WishHost, record: RunRecord, wish: RolloutWish): Promise<Rollout> {
  const { revision: name, share, weights } = wish;
  const config = wish.config ?? ownRevision(record).config;
  const { progress } = record;
  if (weights === null) return { name, share, config, weights: record.weights, progress };
  await host.check({ weights, progress });
  return { name, share, config, weights, progress: await host.storeFresh() };
}
