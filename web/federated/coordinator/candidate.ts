// The candidate of a coordinator: the weights and the strategy's state of a revision that a share of the clients trains.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { RunRecord } from "../record.js";
import { ownRevision, type Rollout, type RolloutWish, whyNoCandidate } from "../rollout.js";
import type { Store } from "../transport.js";
import { free, type State, type StateSpec } from "../update/state.js";
import type { RunEventType } from "./events.js";

const kWhere = "serve";

/** A candidate with its weights. */
export interface Candidate {
  readonly weights: State;
  /** The states of the strategy and of the accountant for these weights. */
  readonly progress: Uint8Array;
}

/** Loads a candidate; throws InvalidArgument if its weights are not those of the run's model. */
export async function loadCandidate(
  storage: Store,
  { weights, progress }: Pick<Rollout, "weights" | "progress">,
  spec: StateSpec,
): Promise<Candidate> {
  const state = eg.io.loadSafetensors(await storage.readObject(kWhere, weights));
  const fits = ([key, { dtype, shape }]: [string, eg.Tensor]) => {
    const wanted = spec.get(key);
    return wanted?.dtype === dtype && wanted.shape.join() === shape.join();
  };
  const all = Object.entries(state);
  if (all.length !== spec.size || !all.every(fits)) {
    free(state);
    fail("InvalidArgument", kWhere, "the weights of the revision are not those of this model.");
  }
  return { weights: state, progress: await storage.readObject(kWhere, progress) };
}

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

/** Returns the record with what an operator wants of its candidate; null if it has that. Throws InvalidArgument if it cannot have it. */
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
