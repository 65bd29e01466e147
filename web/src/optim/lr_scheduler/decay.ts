// Schedulers that lower the rate, permanently or for the first epochs.

import { integer, listOf, number, share, size } from "../../arguments/rule.js";
import { type Arguments, type OptionsOf, type Order, ownScheduler, scheduler } from "./declared.js";

const kMultiStepLR = {
  /** The epochs at which the rate changes. */
  milestones: listOf(integer),
  /** The factor; default 0.1. */
  gamma: number.or(0.1),
};

/** Options of `MultiStepLR`. */
export type MultiStepLROptions = OptionsOf<typeof kMultiStepLR, "milestones">;

/** Multiplies the rate by `gamma` at every epoch in a list; an epoch that is listed twice counts twice. */
export class MultiStepLR extends ownScheduler(
  kMultiStepLR,
  {} as Order<[milestones: "milestones"], [gamma: "gamma"]>,
) {
  /** How often each epoch occurs in the list. */
  declare milestones: Record<number, number>;
  declare gamma: number;

  /** @internal */
  protected override setUp({ milestones, gamma, lastEpoch }: Arguments<typeof kMultiStepLR>): void {
    this.milestones = {};
    for (const epoch of milestones) this.milestones[epoch] = (this.milestones[epoch] ?? 0) + 1;
    this.gamma = gamma;
    this.start(lastEpoch);
  }

  protected override nextLrs(): number[] {
    const times = this.milestones[this.lastEpoch] ?? 0;
    return this.groups.map(({ lr }) => lr * this.gamma ** times);
  }

  protected override closedFormLrs(): number[] {
    const passed = Object.entries(this.milestones).filter(([at]) => Number(at) <= this.lastEpoch);
    const times = passed.reduce((sum, [, count]) => sum + count, 0);
    return this.baseLrs.map((lr) => lr * this.gamma ** times);
  }
}

const kExponentialLR = {
  /** The factor. */
  gamma: number,
};

/** Multiplies the rate by `gamma` every epoch. */
export class ExponentialLR extends scheduler(kExponentialLR, {} as Order<[gamma: "gamma"], []>) {
  protected override nextLrs(): number[] {
    return this.groups.map(({ lr }) => (this.lastEpoch === 0 ? lr : lr * this.gamma));
  }

  protected override closedFormLrs(): number[] {
    return this.baseLrs.map((lr) => lr * this.gamma ** this.lastEpoch);
  }
}

const kConstantLR = {
  /** The factor until `totalIters`; default 1/3. */
  factor: share.or(1 / 3),
  /** The epoch at which the rate returns to the initial one; default 5. */
  totalIters: size.or(5),
};

/** Options of `ConstantLR`. */
export type ConstantLROptions = OptionsOf<typeof kConstantLR>;

/** Multiplies the initial rate by a factor for the first epochs. */
export class ConstantLR extends scheduler(
  kConstantLR,
  {} as Order<[], [factor: "factor", totalIters: "totalIters"]>,
) {
  protected override nextLrs(): number[] {
    const { factor, totalIters, lastEpoch } = this;
    if (lastEpoch === 0) return this.groups.map(({ lr }) => lr * factor);
    return this.groups.map(({ lr }) => (lastEpoch === totalIters ? lr * (1 / factor) : lr));
  }

  protected override closedFormLrs(): number[] {
    const factor = this.lastEpoch >= this.totalIters ? 1 : this.factor;
    return this.baseLrs.map((lr) => lr * factor);
  }
}

const kPolynomialLR = {
  /** The epoch at which the rate is 0; default 5. */
  totalIters: size.or(5),
  /** The power of the remaining share of the epochs; default 1. */
  power: number.or(1),
};

/** Options of `PolynomialLR`. */
export type PolynomialLROptions = OptionsOf<typeof kPolynomialLR>;

/** Lowers the rate to 0 as a power of the remaining share of the epochs. */
export class PolynomialLR extends scheduler(
  kPolynomialLR,
  {} as Order<[], [totalIters: "totalIters", power: "power"]>,
) {
  protected override nextLrs(): number[] {
    const { totalIters, lastEpoch } = this;
    if (lastEpoch === 0 || lastEpoch > totalIters) return this.groups.map(({ lr }) => lr);
    const left = (1 - lastEpoch / totalIters) / (1 - (lastEpoch - 1) / totalIters);
    return this.groups.map(({ lr }) => lr * left ** this.power);
  }

  protected override closedFormLrs(): number[] {
    const left = 1 - Math.min(this.totalIters, this.lastEpoch) / this.totalIters;
    return this.baseLrs.map((lr) => lr * left ** this.power);
  }
}
