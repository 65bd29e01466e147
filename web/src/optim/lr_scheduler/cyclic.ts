import { boolean, functionOf, number, oneOf, oneOrMore, positive } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors/errors.js";
import { type Arguments, type OptionsOf, type Order, ownScheduler } from "./declared.js";
import { setMomentum } from "./momentum.js";
import { perGroup } from "./per_group.js";

/** Returns the height of a cycle from the number of the cycle, or of the step. */
export type ScaleFn = (at: number) => number;

const kCyclicLR = {
  /** The lowest rate, of all groups or per group. */
  baseLr: oneOrMore(number),
  /** The highest rate, of all groups or per group. */
  maxLr: oneOrMore(number),
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
};

/** Options of `CyclicLR`. */
export type CyclicLROptions = OptionsOf<typeof kCyclicLR, "baseLr" | "maxLr">;

/** Moves the rate linearly up and down between two rates, and the momentum in the opposite direction. */
export class CyclicLR extends ownScheduler(
  kCyclicLR,
  {} as Order<
    [baseLr: "baseLr", maxLr: "maxLr"],
    [
      stepSizeUp: "stepSizeUp",
      stepSizeDown: "stepSizeDown",
      mode: "mode",
      gamma: "gamma",
      scaleFn: "scaleFn",
      scaleMode: "scaleMode",
      cycleMomentum: "cycleMomentum",
      baseMomentum: "baseMomentum",
      maxMomentum: "maxMomentum",
    ]
  >,
) {
  declare maxLrs: number[];
  declare totalSize: number;
  declare stepRatio: number;
  declare mode: "triangular" | "triangular2" | "exp_range";
  declare gamma: number;
  declare scaleFn: ScaleFn | null;
  declare scaleMode: "cycle" | "iterations";
  declare cycleMomentum: boolean;
  declare useBeta1: boolean;
  declare baseMomentums: number[];
  declare maxMomentums: number[];

  /** @internal */
  protected override setUp(named: Arguments<typeof kCyclicLR>): void {
    const name = this.constructor.name;
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
    this.baseMomentums = [];
    this.maxMomentums = [];
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
    const height = part * this.scaleAt(this.scaleMode === "cycle" ? cycle : this.lastEpoch);
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

  private scaleAt(at: number): number {
    if (this.scaleFn !== null) return this.scaleFn(at);
    if (this.mode === "triangular") return 1;
    return this.mode === "triangular2" ? 1 / 2 ** (at - 1) : this.gamma ** at;
  }
}
