import { readArguments } from "../../arguments/read.js";
import {
  boolean,
  functionOf,
  number,
  type Options,
  oneOf,
  oneOrMore,
  positive,
} from "../../arguments/rule.js";
import { fail } from "../../runtime/errors.js";
import type { ScheduledOptimizer } from "./base.js";
import { setMomentum } from "./momentum.js";
import { perGroup } from "./per_group.js";
import { kScheduled, kSchedulerOptions, LRScheduler } from "./scheduler.js";

/** Returns the height of a cycle from the number of the cycle, or of the step. */
export type ScaleFn = (at: number) => number;

const kOptions = {
  /** The steps from the lowest rate to the highest; default 2000. */
  stepSizeUp: positive.or(2000),
  /** The steps from the highest rate to the lowest; default `stepSizeUp`. */
  stepSizeDown: positive.orNull(),
  /** The height of the cycles: constant, half of the previous one, or multiplied by `gamma` at every step. */
  mode: oneOf("triangular", "triangular2", "exp_range").or("triangular"),
  /** The factor of "exp_range"; default 1. */
  gamma: number.or(1),
  /** A function for the height, instead of `mode`. */
  scaleFn: functionOf<ScaleFn>().orNull(),
  /** Whether `scaleFn` receives the number of the cycle, from 1, or of the step; default "cycle". */
  scaleMode: oneOf("cycle", "iterations").or("cycle"),
  /** Change momentum (or the first beta) inversely to the rate; default true. */
  cycleMomentum: boolean.or(true),
  /** The momentum at the highest rate; default 0.8. */
  baseMomentum: oneOrMore(number).or(0.8),
  /** The momentum at the lowest rate; default 0.9. */
  maxMomentum: oneOrMore(number).or(0.9),
  ...kSchedulerOptions,
};

const kArguments = {
  ...kScheduled,
  baseLr: oneOrMore(number),
  maxLr: oneOrMore(number),
  ...kOptions,
};

/** Options of `CyclicLR`. */
export type CyclicLROptions = Options<typeof kOptions & typeof kSchedulerOptions>;

type Rates = number | readonly number[];

/** Moves the rate linearly up and down between two rates, and the momentum in the opposite direction. */
export class CyclicLR extends LRScheduler {
  maxLrs: number[];
  totalSize: number;
  stepRatio: number;
  mode: "triangular" | "triangular2" | "exp_range";
  gamma: number;
  scaleFn: ScaleFn | null;
  scaleMode: "cycle" | "iterations";
  cycleMomentum: boolean;
  useBeta1: boolean;
  baseMomentums: number[] = [];
  maxMomentums: number[] = [];

  constructor(
    optimizer: ScheduledOptimizer,
    baseLr: Rates,
    maxLr: Rates,
    options?: CyclicLROptions,
  );
  constructor(
    optimizer: ScheduledOptimizer,
    baseLr: Rates,
    maxLr: Rates,
    stepSizeUp?: number,
    options?: CyclicLROptions,
  );
  constructor(
    optimizer: ScheduledOptimizer,
    baseLr: Rates,
    maxLr: Rates,
    stepSizeUp?: number,
    stepSizeDown?: number | null,
    options?: CyclicLROptions,
  );
  constructor(
    optimizer: ScheduledOptimizer,
    options: CyclicLROptions & { baseLr: Rates; maxLr: Rates },
  );
  constructor(optimizer: ScheduledOptimizer, ...rest: unknown[]) {
    super(optimizer);
    const name = new.target.name;
    const named = readArguments(name, kArguments, [optimizer, ...rest]);
    const { stepSizeUp, mode, scaleFn, lastEpoch } = named;
    const { groups } = this;
    const ratesOf = (option: "baseLr" | "maxLr" | "baseMomentum" | "maxMomentum") => {
      return perGroup(name, option, named[option], groups.length);
    };
    const baseLrs = ratesOf("baseLr");
    this.maxLrs = ratesOf("maxLr");
    this.totalSize = stepSizeUp + (named.stepSizeDown ?? stepSizeUp);
    this.stepRatio = stepSizeUp / this.totalSize;
    this.mode = mode;
    this.gamma = named.gamma;
    this.scaleFn = scaleFn;
    const ownMode = mode === "exp_range" ? "iterations" : "cycle";
    this.scaleMode = scaleFn === null ? ownMode : named.scaleMode;
    this.cycleMomentum = named.cycleMomentum;
    this.useBeta1 = groups.every((group) => "betas" in group);
    if (this.cycleMomentum) {
      if (!this.useBeta1 && !groups.every((group) => "momentum" in group)) {
        const reason =
          "cycleMomentum: needs an optimizer with momentum or betas. Pass cycleMomentum: false.";
        fail("InvalidArgument", name, reason);
      }
      this.baseMomentums = ratesOf("baseMomentum");
      this.maxMomentums = ratesOf("maxMomentum");
    }
    if (lastEpoch === -1) {
      groups.forEach((group, i) => {
        group.lr = baseLrs[i] ?? group.lr;
      });
    }
    this.start(lastEpoch);
    this.baseLrs = baseLrs;
  }

  protected override nextLrs(): number[] {
    const position = this.lastEpoch / this.totalSize;
    const cycle = Math.floor(1 + position);
    const done = 1 + position - cycle;
    const { stepRatio } = this;
    const part = done <= stepRatio ? done / stepRatio : (done - 1) / (stepRatio - 1);
    const height = part * this.#scaleAt(this.scaleMode === "cycle" ? cycle : this.lastEpoch);
    const between = (from: number[], to: number[], i: number) => {
      return (from[i] ?? 0) + ((to[i] ?? 0) - (from[i] ?? 0)) * height;
    };
    if (this.cycleMomentum) {
      this.groups.forEach((group, i) => {
        setMomentum(group, this.useBeta1, between(this.maxMomentums, this.baseMomentums, i));
      });
    }
    return this.groups.map((_, i) => between(this.baseLrs, this.maxLrs, i));
  }

  #scaleAt(at: number): number {
    if (this.scaleFn !== null) return this.scaleFn(at);
    if (this.mode === "triangular") return 1;
    return this.mode === "triangular2" ? 1 / 2 ** (at - 1) : this.gamma ** at;
  }
}
