// Means of weights.

import { numberFrom, readOptions } from "../../nats/options.js";
import type { State } from "../update/state.js";
import { meanOf, Strategy, type Update } from "./strategy.js";

/** The mean of the clients' weights, weighted by their samples (McMahan et al. 2017). */
export class FedAvg extends Strategy {
  override get takesMean(): boolean {
    return true;
  }

  override aggregate(global: State, updates: readonly Update[]): State {
    return meanOf(global, updates);
  }
}

/**
 * FedAvg with a proximal term (Li et al. 2020): clients minimize their loss plus `mu / 2` times the squared distance from the round's
 * weights. join() adds its gradient, mu (w - w_round), to that of each parameter in each backward call.
 */
export class FedProx extends FedAvg {
  /** The factor of the proximal term, from 0. */
  readonly mu: number;

  constructor(options: { readonly mu: number }) {
    super();
    const { mu } = readOptions("FedProx", ["mu"], options);
    this.mu = numberFrom("FedProx", "mu", mu, { least: 0 });
  }

  override get client(): {
    /** The weight of the proximal term. */
    mu: number;
  } {
    return { mu: this.mu };
  }
}
