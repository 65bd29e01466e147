// Schedulers of one formula.

import { fail } from "../../runtime/errors.js";
import { namedArguments } from "../../runtime/named_arguments.js";
import { LRScheduler, type ScheduledOptimizer } from "./scheduler.js";

/** What all schedulers can be told. */
export interface SchedulerOptions {
  /** The epoch to go on after; default -1, the start. */
  lastEpoch?: number;
}

/** Options of `StepLR`. */
export interface StepLROptions extends SchedulerOptions {
  /** The factor; default 0.1. */
  gamma?: number;
}

/** Multiplies the rate by `gamma` every `stepSize` epochs. */
export class StepLR extends LRScheduler {
  stepSize: number;
  gamma: number;

  constructor(optimizer: ScheduledOptimizer, stepSize: number, gamma?: number, lastEpoch?: number);
  constructor(optimizer: ScheduledOptimizer, stepSize: number, options?: StepLROptions);
  constructor(optimizer: ScheduledOptimizer, options: StepLROptions & { stepSize: number });
  constructor(optimizer: ScheduledOptimizer, ...given: unknown[]) {
    super(optimizer);
    type Named = Required<StepLROptions> & { stepSize: number };
    const named = namedArguments<Named>(["stepSize", "gamma", "lastEpoch"], given);
    this.stepSize = needPositive("StepLR", "stepSize", named.stepSize);
    this.gamma = named.gamma ?? 0.1;
    this.start(named.lastEpoch);
  }

  protected override nextLrs(): number[] {
    const isStep = this.lastEpoch !== 0 && this.lastEpoch % this.stepSize === 0;
    return this.groups.map(({ lr }) => (isStep ? lr * this.gamma : lr));
  }

  protected override closedFormLrs(): number[] {
    const factor = this.gamma ** Math.floor(this.lastEpoch / this.stepSize);
    return this.baseLrs.map((lr) => lr * factor);
  }
}

/** Options of `LinearLR`. */
export interface LinearLROptions extends SchedulerOptions {
  /** The factor at the start; default 1/3. */
  startFactor?: number;
  /** The factor at the end; default 1. */
  endFactor?: number;
  /** The epochs from start to end; default 5. */
  totalIters?: number;
}

/** Multiplies the initial rate by a factor that goes in a straight line from start to end. */
export class LinearLR extends LRScheduler {
  startFactor: number;
  endFactor: number;
  totalIters: number;

  constructor(
    optimizer: ScheduledOptimizer,
    startFactor?: number,
    endFactor?: number,
    totalIters?: number,
    lastEpoch?: number,
  );
  constructor(optimizer: ScheduledOptimizer, options?: LinearLROptions);
  constructor(optimizer: ScheduledOptimizer, ...given: unknown[]) {
    super(optimizer);
    const names = ["startFactor", "endFactor", "totalIters", "lastEpoch"] as const;
    const named = namedArguments<LinearLROptions>(names, given);
    this.startFactor = named.startFactor ?? 1 / 3;
    this.endFactor = named.endFactor ?? 1;
    this.totalIters = named.totalIters ?? 5;
    if (!(this.startFactor > 0 && this.startFactor <= 1)) {
      fail(
        "InvalidArgument",
        "LinearLR",
        `Starting multiplicative factor expected to be greater than 0 and less or equal to 1, got ${this.startFactor}.`,
      );
    }
    if (!(this.endFactor >= 0 && this.endFactor <= 1)) {
      fail(
        "InvalidArgument",
        "LinearLR",
        `Ending multiplicative factor expected to be between 0 and 1, got ${this.endFactor}.`,
      );
    }
    this.start(named.lastEpoch);
  }

  protected override nextLrs(): number[] {
    const { startFactor, totalIters, lastEpoch } = this;
    const change = this.endFactor - startFactor;
    if (lastEpoch === 0) return this.groups.map(({ lr }) => lr * startFactor);
    if (lastEpoch > totalIters) return this.groups.map(({ lr }) => lr);
    const factor = 1 + change / (totalIters * startFactor + (lastEpoch - 1) * change);
    return this.groups.map(({ lr }) => lr * factor);
  }

  protected override closedFormLrs(): number[] {
    const { startFactor, endFactor, totalIters, lastEpoch } = this;
    const done = Math.min(totalIters, lastEpoch) / totalIters;
    return this.baseLrs.map((lr) => lr * (startFactor + (endFactor - startFactor) * done));
  }
}

/** Options of `CosineAnnealingLR`. */
export interface CosineAnnealingLROptions extends SchedulerOptions {
  /** The smallest rate; default 0. */
  etaMin?: number;
}

/** Lowers the rate along half a cosine wave of `tMax` epochs, and raises it again after. */
export class CosineAnnealingLR extends LRScheduler {
  tMax: number;
  etaMin: number;

  constructor(optimizer: ScheduledOptimizer, tMax: number, etaMin?: number, lastEpoch?: number);
  constructor(optimizer: ScheduledOptimizer, tMax: number, options?: CosineAnnealingLROptions);
  constructor(optimizer: ScheduledOptimizer, options: CosineAnnealingLROptions & { tMax: number });
  constructor(optimizer: ScheduledOptimizer, ...given: unknown[]) {
    super(optimizer);
    type Named = Required<CosineAnnealingLROptions> & { tMax: number };
    const named = namedArguments<Named>(["tMax", "etaMin", "lastEpoch"], given);
    this.tMax = needPositive("CosineAnnealingLR", "tMax", named.tMax);
    this.etaMin = named.etaMin ?? 0;
    this.start(named.lastEpoch);
  }

  protected override nextLrs(): number[] {
    const { tMax, etaMin, lastEpoch, baseLrs } = this;
    if (lastEpoch === 0) return this.groups.map(({ lr }) => lr);
    // A scheduler that resumes has no earlier rate of its own to go on from.
    if (this.stepCount === 1) return this.closedFormLrs();
    if ((lastEpoch - 1 - tMax) % (2 * tMax) === 0) {
      // The wave turns at its lowest point, where a ratio would divide by zero.
      const rise = (1 - Math.cos(Math.PI / tMax)) / 2;
      return this.groups.map(({ lr }, i) => lr + ((baseLrs[i] ?? lr) - etaMin) * rise);
    }
    const ratio = wave(lastEpoch / tMax) / wave((lastEpoch - 1) / tMax);
    return this.groups.map(({ lr }) => ratio * (lr - etaMin) + etaMin);
  }

  protected override closedFormLrs(): number[] {
    const { tMax, etaMin, lastEpoch } = this;
    return this.baseLrs.map((lr) => etaMin + ((lr - etaMin) * wave(lastEpoch / tMax)) / 2);
  }
}

/** Returns the factor of the initial rate in an epoch. */
export type LrLambda = (epoch: number) => number;

/** Multiplies the initial rate by what a function returns for the epoch. */
export class LambdaLR extends LRScheduler {
  lrLambdas: LrLambda[];

  /** Takes one function for all groups, or a list with one per group. */
  constructor(
    optimizer: ScheduledOptimizer,
    lrLambda: LrLambda | readonly LrLambda[],
    lastEpoch: number | SchedulerOptions = -1,
  ) {
    super(optimizer);
    const count = this.groups.length;
    this.lrLambdas =
      typeof lrLambda === "function" ? Array(count).fill(lrLambda) : [...(lrLambda ?? [])];
    if (this.lrLambdas.length !== count) {
      fail(
        "InvalidArgument",
        "LambdaLR",
        `Expected ${count} lr_lambdas, but got ${this.lrLambdas.length}.`,
      );
    }
    this.start(typeof lastEpoch === "object" ? lastEpoch.lastEpoch : lastEpoch);
  }

  protected override nextLrs(): number[] {
    return this.baseLrs.map((lr, i) => lr * (this.lrLambdas[i]?.(this.lastEpoch) ?? 1));
  }
}

// 1 + cos: from 2 at 0 to 0 at 1.
function wave(position: number): number {
  return 1 + Math.cos(Math.PI * position);
}

function needPositive(owner: string, name: string, value: number | undefined): number {
  if (typeof value === "number" && value > 0) return value;
  fail("InvalidArgument", owner, `${name} is a number above 0, got ${value}.`);
}
