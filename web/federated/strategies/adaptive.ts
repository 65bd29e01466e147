// Adaptive optimizers at the coordinator (Reddi et al. 2021): the step is the mean of the clients' differences.

import * as eg from "edgegrad";
import { numberFrom, readOptions } from "../../nats/options.js";
import { at, type State } from "../update/state.js";
import { Memory } from "./memory.js";
import { floatingBy, meanOf, Strategy, type Update } from "./strategy.js";

/** Options of `FedAdam` and `FedYogi`. */
export interface AdaptiveOptions {
  /** The coordinator's learning rate; default 0.1. */
  readonly lr?: number | undefined;
  /** The decay of the mean of steps; default 0.9. */
  readonly beta1?: number | undefined;
  /** The decay of the mean of squared steps; default 0.99. */
  readonly beta2?: number | undefined;
  /** The term added to the denominator, and the initial root of the mean of squares; default 0.001. */
  readonly tau?: number | undefined;
}

abstract class Adaptive extends Strategy {
  readonly lr: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly tau: number;
  readonly #means = new Memory();
  readonly #squares = new Memory();

  constructor(options: AdaptiveOptions = {}) {
    super();
    const where = new.target.name;
    const given = readOptions(where, ["lr", "beta1", "beta2", "tau"], options);
    this.lr = numberFrom(where, "lr", given.lr ?? 0.1, { least: 0 });
    this.beta1 = numberFrom(where, "beta1", given.beta1 ?? 0.9, { least: 0, below: 1 });
    this.beta2 = numberFrom(where, "beta2", given.beta2 ?? 0.99, { least: 0, below: 1 });
    this.tau = numberFrom(where, "tau", given.tau ?? 0.001, { above: 0 });
  }

  override get takesMean(): boolean {
    return true;
  }

  /** The next mean of squares. */
  protected abstract squareAfter(square: eg.Tensor, stepSquared: eg.Tensor): eg.Tensor;

  override aggregate(global: State, updates: readonly Update[]): State {
    const mean = meanOf(global, updates);
    return floatingBy(mean, (average, key) => {
      const weights = at(global, key);
      const step = average.sub(weights);
      const momentum = this.#means.of(key, weights);
      const square = this.#squares.of(key, weights, this.tau ** 2);
      momentum.mul_(this.beta1).add_(step.mul(1 - this.beta1));
      square.copy_(this.squareAfter(square, step.square()));
      return weights.add(momentum.mul(this.lr).div(square.sqrt().add(this.tau)));
    });
  }

  override stateDict(): Record<string, unknown> {
    return { means: this.#means.stateDict(), squares: this.#squares.stateDict() };
  }

  override loadStateDict(state: Record<string, unknown>): void {
    this.#means.load(this.constructor.name, state.means);
    this.#squares.load(this.constructor.name, state.squares);
  }
}

/** Adam at the coordinator, without bias correction (Reddi et al. 2021). */
export class FedAdam extends Adaptive {
  protected override squareAfter(square: eg.Tensor, stepSquared: eg.Tensor): eg.Tensor {
    return square.mul(this.beta2).add(stepSquared.mul(1 - this.beta2));
  }
}

/** Yogi at the coordinator (Reddi et al. 2021), whose mean of squares changes slowly when steps become small. */
export class FedYogi extends Adaptive {
  protected override squareAfter(square: eg.Tensor, stepSquared: eg.Tensor): eg.Tensor {
    return square.sub(stepSquared.mul(eg.sign(square.sub(stepSquared))).mul(1 - this.beta2));
  }
}
