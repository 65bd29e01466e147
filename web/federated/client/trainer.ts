// A client's training in a round: from the weights of the round to the contents of an update.

import * as eg from "edgegrad";
import { refuse } from "../../errors/errors.js";
import { isPlain } from "../../nats/options.js";
import type { RunRecord } from "../record.js";
import { revisionFor } from "../rollout.js";
import { controlsIn } from "../update/control.js";
import { areMetrics } from "../update/decode.js";
import { copyOf, free, pick, type State } from "../update/state.js";
import { ControlVariate } from "./controls.js";
import type { Link } from "./link.js";
import type { JoinOptions, ReadJoinOptions, Refused, TrainResult } from "./options.js";
import { addProximalTerm } from "./proximal.js";
import { RoundWeights } from "./weights.js";

const kWhere = "join";

/** The result of training. */
export interface Trained {
  /** The state that the update refers to, before training; the caller must not free it. */
  readonly before: State;
  /** The same state after training. */
  readonly after: State;
  readonly result: TrainResult;
  /** Must be called when the update is counted. */
  sent(): void;
  /** Frees the results of training. */
  free(): void;
}

/** Trains a client's model. */
export class Trainer {
  readonly #name: string;
  readonly #train: JoinOptions["train"];
  readonly #model: eg.nn.Module;
  readonly #weights: RoundWeights;
  readonly #control: ControlVariate;

  constructor(options: ReadJoinOptions, link: Link, model: eg.nn.Module) {
    this.#name = options.name;
    this.#train = options.train;
    this.#model = model;
    this.#weights = new RoundWeights(link, model);
    this.#control = new ControlVariate(options.state);
  }

  /** Loads the weights of a round and trains; returns null if the update is no longer needed. Throws TemporarilyUnavailable. */
  async train(
    record: RunRecord,
    signal: AbortSignal,
    refused: Refused | undefined,
  ): Promise<Trained | null> {
    const { round, client } = record;
    const model = this.#model;
    const { name: revision, config, weights } = revisionFor(record, this.#name);
    const before = await this.#weights.load(record, weights);
    const takeOff = client.mu ? addProximalTerm(model, client.mu) : () => {};
    const server = controlsIn(before);
    const correction = client.control ? this.#control.begin(model, server) : null;
    let gradients: State = {};
    let result: TrainResult;
    try {
      const input = { model, round, signal, revision, config, refused };
      result = checkResult(await this.#train(input));
    } catch (error) {
      // train() may throw when it is aborted.
      if (signal.aborted) return null;
      throw error;
    } finally {
      takeOff();
      gradients = correction?.end() ?? gradients;
      if (signal.aborted) free(gradients);
    }
    if (signal.aborted) return null;
    this.#weights.trainedIn(round);
    const after = eg.scope(() => {
      const state = model.stateDict();
      const keys = Object.keys(before).filter((key) => Object.hasOwn(state, key));
      return copyOf({ ...pick(state, keys), ...this.#control.changed(server, gradients) });
    });
    let isSent = false;
    return {
      before,
      after,
      result,
      sent: () => {
        isSent = true;
        if (correction !== null) this.#control.replace(gradients);
      },
      free: () => {
        free(after);
        if (!isSent) free(gradients);
      },
    };
  }

  /** The state that the client keeps between rounds. */
  stateDict(): State {
    return this.#control.stateDict();
  }

  /** Frees the client's state of the run. */
  free(): void {
    this.#weights.free();
  }
}

function checkResult(result: unknown): TrainResult {
  if (!isPlain(result)) {
    refuse(kWhere, "train", "a promise of { samples, metrics? }", result);
  }
  const { samples, metrics = {} } = result;
  if (!Number.isSafeInteger(samples) || Number(samples) < 1) {
    refuse(kWhere, "samples", "a whole number of at least 1, from train()", samples);
  }
  if (!isPlain(metrics) || !areMetrics(Object.entries(metrics))) {
    refuse(kWhere, "metrics", "at most 64 finite numbers by short names, from train()", metrics);
  }
  return { samples: samples as number, metrics: metrics as Record<string, number> };
}
