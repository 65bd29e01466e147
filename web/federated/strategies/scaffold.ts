// SCAFFOLD (Karimireddy et al. 2020): clients correct their gradients by the difference between the gradients of all clients and theirs.

import { integerFrom, numberFrom, readOptions } from "../../nats/options.js";
import { controlOf, controlsIn, withoutControls, zeroControls } from "../update/control.js";
import { at, differenceOf, type State } from "../update/state.js";
import { floatingBy, meanOf, Strategy, type Update } from "./strategy.js";

/** Options of `Scaffold`. */
export interface ScaffoldOptions {
  /** The number of clients of the run; only some may take part in each round. */
  readonly clients: number;
  /** The learning rate of the coordinator's step; default 1. */
  readonly lr?: number | undefined;
}

/**
 * SCAFFOLD, for clients whose data differ: each client keeps the mean of its gradients as a control variate, and the coordinator keeps that of
 * all. In each backward call, join() adds their difference to the gradients, so a step should have one backward call. All updates have the same
 * weight, and are twice as large as those of FedAvg.
 */
export class Scaffold extends Strategy {
  readonly clients: number;
  readonly lr: number;

  constructor(options: ScaffoldOptions) {
    super();
    const given = readOptions("Scaffold", ["clients", "lr"], options);
    this.clients = integerFrom("Scaffold", "clients", given.clients, { least: 1 });
    this.lr = numberFrom("Scaffold", "lr", given.lr ?? 1, { least: 0 });
  }

  override get client(): {
    /** Whether clients correct gradients by control variates. */
    control: boolean;
  } {
    return { control: true };
  }

  override stateOfRun(weights: State): State {
    return { ...weights, ...zeroControls(weights) };
  }

  override aggregate(global: State, updates: readonly Update[]): State {
    const alike = updates.map(
      (update): Update => ({
        client: update.client,
        samples: 1,
        get weights() {
          return update.weights;
        },
      }),
    );
    const mean = meanOf(global, alike);
    const step = differenceOf(mean, global);
    const weights = floatingBy(withoutControls(mean), (_, key) =>
      at(global, key).add(at(step, key).mul(this.lr)),
    );
    // The mean over all clients, although only some of their variates have changed.
    const share = Math.min(1, updates.length / this.clients);
    const controls = Object.keys(controlsIn(global)).map((key) => {
      const name = controlOf(key);
      return [name, at(global, name).add(at(step, name).mul(share))];
    });
    return { ...weights, ...Object.fromEntries(controls) };
  }
}
