// Schedulers that lower the rate, permanently or for the first epochs.

import { readArguments } from "../../arguments/read.js";
import { integer, listOf, number, type Options, share, size } from "../../arguments/rule.js";
import type { ScheduledOptimizer } from "./base.js";
import {
  kScheduled,
  kSchedulerOptions,
  LRScheduler,
  type SchedulerOptions,
  scheduler,
} from "./scheduler.js";

const kMultiStepOptions = {
  /** The factor; default 0.1. */
  gamma: number.or(0.1),
  ...kSchedulerOptions,
};

const kMultiStepArguments = { ...kScheduled, milestones: listOf(integer), ...kMultiStepOptions };

/** Options of `MultiStepLR`. */
export type MultiStepLROptions = Options<typeof kMultiStepOptions & typeof kSchedulerOptions>;

/** Multiplies the rate by `gamma` at every epoch in a list; an epoch that is listed twice counts twice. */
export class MultiStepLR extends LRScheduler {
  /** How often each epoch occurs in the list. */
  milestones: Record<number, number> = {};
  gamma: number;

  constructor(
    optimizer: ScheduledOptimizer,
    milestones: readonly number[],
    gamma?: number,
    lastEpoch?: number,
  );
  constructor(
    optimizer: ScheduledOptimizer,
    milestones: readonly number[],
    options?: MultiStepLROptions,
  );
  constructor(
    optimizer: ScheduledOptimizer,
    options: MultiStepLROptions & { milestones: readonly number[] },
  );
  constructor(optimizer: ScheduledOptimizer, ...rest: unknown[]) {
    super(optimizer);
    const named = readArguments(new.target.name, kMultiStepArguments, [optimizer, ...rest]);
    for (const epoch of named.milestones) {
      this.milestones[epoch] = (this.milestones[epoch] ?? 0) + 1;
    }
    this.gamma = named.gamma;
    this.start(named.lastEpoch);
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

/** Multiplies the rate by `gamma` every epoch. */
export class ExponentialLR extends scheduler({ gamma: number }) {
  constructor(optimizer: ScheduledOptimizer, gamma: number, lastEpoch?: number | SchedulerOptions);
  constructor(optimizer: ScheduledOptimizer, options: SchedulerOptions & { gamma: number });
  constructor(optimizer: ScheduledOptimizer, ...rest: unknown[]) {
    super(optimizer, rest);
  }

  protected override nextLrs(): number[] {
    return this.groups.map(({ lr }) => (this.lastEpoch === 0 ? lr : lr * this.gamma));
  }

  protected override closedFormLrs(): number[] {
    return this.baseLrs.map((lr) => lr * this.gamma ** this.lastEpoch);
  }
}

const kConstantOptions = {
  /** The factor until `totalIters`; default 1/3. */
  factor: share.or(1 / 3),
  /** The epoch at which the rate returns to the initial one; default 5. */
  totalIters: size.or(5),
  ...kSchedulerOptions,
};

/** Options of `ConstantLR`. */
export type ConstantLROptions = Options<typeof kConstantOptions & typeof kSchedulerOptions>;

/** Multiplies the initial rate by a factor for the first epochs. */
export class ConstantLR extends scheduler(kConstantOptions) {
  constructor(
    optimizer: ScheduledOptimizer,
    factor?: number,
    totalIters?: number,
    lastEpoch?: number | SchedulerOptions,
  );
  constructor(optimizer: ScheduledOptimizer, factor?: number, options?: ConstantLROptions);
  constructor(optimizer: ScheduledOptimizer, options?: ConstantLROptions);
  constructor(optimizer: ScheduledOptimizer, ...rest: unknown[]) {
    super(optimizer, rest);
  }

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

const kPolynomialOptions = {
  /** The epoch at which the rate is 0; default 5. */
  totalIters: size.or(5),
  /** The power of the remaining share of the epochs; default 1. */
  power: number.or(1),
  ...kSchedulerOptions,
};

/** Options of `PolynomialLR`. */
export type PolynomialLROptions = Options<typeof kPolynomialOptions & typeof kSchedulerOptions>;

/** Lowers the rate to 0 as a power of the remaining share of the epochs. */
export class PolynomialLR extends scheduler(kPolynomialOptions) {
  constructor(
    optimizer: ScheduledOptimizer,
    totalIters?: number,
    power?: number,
    lastEpoch?: number | SchedulerOptions,
  );
  constructor(optimizer: ScheduledOptimizer, totalIters?: number, options?: PolynomialLROptions);
  constructor(optimizer: ScheduledOptimizer, options?: PolynomialLROptions);
  constructor(optimizer: ScheduledOptimizer, ...rest: unknown[]) {
    super(optimizer, rest);
  }

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
