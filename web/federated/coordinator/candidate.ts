// The candidate of a coordinator: the weights and the strategy's state of a revision that a share of the clients trains.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { isConflict, isTransient } from "../../nats/failures.js";
import { RdpAccountant } from "../privacy/accountant.js";
import type { RolloutSummary, RunRecord } from "../record.js";
import type { Rollout } from "../rollout.js";
import type { StoredObject } from "../stored_object.js";
import type { Store } from "../transport.js";
import { copyOf, free, type State, type StateSpec } from "../update/state.js";
import type { Group } from "./collected.js";
import type { Reporter } from "./events.js";
import type { ReadServeOptions } from "./options.js";
import { encodeProgress, restoreProgress } from "./progress.js";
import { type Followed, follow } from "./wish.js";

const kWhere = "serve";

/** A candidate that is loaded. */
interface Loaded {
  readonly weights: State;
  /** The states of the strategy and of the accountant for these weights. */
  readonly progress: Uint8Array;
}

/** A round of the candidate. */
export interface ClosedCandidate {
  readonly rollout: Rollout;
  readonly summary: RolloutSummary;
  readonly loaded: Loaded;
}

/** The candidate of a run, if it has one. */
export class Candidate {
  #loaded: Loaded | null = null;
  /** The strategy's state from before all rounds. */
  readonly #fresh: Uint8Array;
  /** The wish that the run cannot have. */
  #refused = "";

  constructor(
    private readonly storage: Store,
    private readonly options: ReadServeOptions,
    private readonly reporter: Reporter,
  ) {
    this.#fresh = encodeProgress(options.strategy, new RdpAccountant());
  }

  /** Its weights; null if there is none. */
  get weights(): State | null {
    return this.#loaded?.weights ?? null;
  }

  /** Loads the candidate of a record. */
  async load({ rollout }: RunRecord, spec: StateSpec): Promise<void> {
    this.#replace(rollout === undefined ? null : await loadedFrom(this.storage, rollout, spec));
  }

  /** The weights that an operator has stored for a revision, which no record may name yet. */
  async wanted(): Promise<readonly StoredObject[]> {
    const wish = await this.storage.readRollout();
    return wish?.weights && wish.share > 0 ? [wish.weights] : [];
  }

  /** Returns the record with the revisions that an operator wants; null if it has them already, or if that is impossible, which is told once. */
  async follow(record: RunRecord, spec: StateSpec): Promise<Followed | null> {
    const wish = await this.storage.readRollout();
    const key = JSON.stringify(wish);
    if (wish === null || key === this.#refused) return null;
    const { round, attempt, term } = record;
    const host = {
      isPrivate: this.options.privacy !== undefined,
      storeFresh: () => this.storage.putObject(`fresh-${round}-${attempt}-${term}`, this.#fresh),
      check: async (rollout: Pick<Rollout, "weights" | "progress">) => {
        free((await loadedFrom(this.storage, rollout, spec)).weights);
      },
    };
    try {
      return await follow(host, record, wish);
    } catch (error) {
      if (isTransient(error) || isConflict(error)) throw error;
      this.#refused = key;
      this.reporter.tell("rolloutRefused", (error as Error).message);
      return null;
    }
  }

  /** Computes and stores its next weights, with the strategy's state for them; null if there is none. */
  async close(
    group: Group | null,
    { rollout }: RunRecord,
    stamp: string,
    evaluate: (weights: State, revision: string) => Promise<Record<string, number>>,
  ): Promise<ClosedCandidate | null> {
    if (group === null || rollout === undefined || this.#loaded === null) return null;
    const { made, progress } = this.#aggregate(group, this.#loaded);
    const weights = made ?? copyOf(this.#loaded.weights);
    const { clients, samples } = group;
    const { name: revision, share } = rollout;
    const metrics = { ...group.metrics, ...(await evaluate(weights, revision)) };
    const stored = {
      weights: await this.storage.putObject(`candidate-${stamp}`, eg.io.saveSafetensors(weights)),
      progress: await this.storage.putObject(`candidate-progress-${stamp}`, progress),
    };
    return {
      rollout: { ...rollout, ...stored },
      summary: { revision, share, clients, samples, metrics },
      loaded: { weights, progress },
    };
  }

  /** Takes the weights that a round has given the candidate, once they are in the record. */
  closed(closed: ClosedCandidate | null): void {
    if (closed !== null) this.#replace(closed.loaded);
  }

  /** Frees its weights. */
  free(): void {
    this.#replace(null);
  }

  /** The strategy has the state of the run's own weights before and after. */
  #aggregate(group: Group, { progress }: Loaded): { made: State | null; progress: Uint8Array } {
    const { strategy } = this.options;
    const accountant = new RdpAccountant();
    const own = encodeProgress(strategy, accountant);
    try {
      restoreProgress(progress, strategy, accountant);
      return { made: group.aggregate(), progress: encodeProgress(strategy, accountant) };
    } finally {
      restoreProgress(own, strategy, accountant);
    }
  }

  #replace(loaded: Loaded | null): void {
    if (this.#loaded !== null) free(this.#loaded.weights);
    this.#loaded = loaded;
  }
}

/** Loads a candidate; throws InvalidArgument if its weights are not those of the run's model. */
async function loadedFrom(
  storage: Store,
  { weights, progress }: Pick<Rollout, "weights" | "progress">,
  spec: StateSpec,
): Promise<Loaded> {
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
