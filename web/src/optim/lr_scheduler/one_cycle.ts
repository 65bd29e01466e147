// The 1cycle policy: one rise of the rate to its maximum and one fall far below where it began, with
// the momentum moving the other way.

import { readArguments } from "../../arguments/read.js";
import {
  boolean,
  number,
  type Options,
  oneOf,
  oneOrMore,
  type Values,
} from "../../arguments/rule.js";
import { describe, fail } from "../../runtime/errors.js";
import type { ScheduledGroup, ScheduledOptimizer } from "./base.js";
import { setMomentum } from "./momentum.js";
import { perGroup } from "./per_group.js";
import { kScheduled, kSchedulerOptions, LRScheduler } from "./scheduler.js";

const kOptions = {
  /** The steps of the whole cycle, unless `epochs` and `stepsPerEpoch` say it. */
  totalSteps: number.orNull(),
  /** With `stepsPerEpoch`, in place of `totalSteps`. */
  epochs: number.orNull(),
  /** With `epochs`, in place of `totalSteps`. */
  stepsPerEpoch: number.orNull(),
  /** The share of the cycle in which the rate rises; default 0.3. */
  pctStart: number.or(0.3),
  /** The curve between the turns; default "cos". */
  annealStrategy: oneOf("cos", "linear")
    .or("cos")
    .saying("annealStrategy must be one of 'cos' or 'linear'."),
  /** Move momentum (or the first beta) against the rate; default true. */
  cycleMomentum: boolean.or(true),
  /** The momentum at the highest rate; default 0.85. */
  baseMomentum: oneOrMore(number).or(0.85),
  /** The momentum at the ends; default 0.95. */
  maxMomentum: oneOrMore(number).or(0.95),
  /** The highest rate over the initial one; default 25. */
  divFactor: number.or(25),
  /** The initial rate over the last one; default 1e4. */
  finalDivFactor: number.or(1e4),
  /** Fall back to the initial rate first, and below it then; default false. */
  threePhase: boolean.or(false),
  ...kSchedulerOptions,
};

const kArguments = { ...kScheduled, maxLr: oneOrMore(number), ...kOptions };

/** Options of `OneCycleLR`. */
export type OneCycleLROptions = Options<typeof kOptions>;

type Named = Values<typeof kArguments>;

interface CycledGroup extends ScheduledGroup {
  maxLr?: number;
  minLr?: number;
  maxMomentum?: number;
  baseMomentum?: number;
}

type Rate = "initialLr" | "maxLr" | "minLr";
type Momentum = "maxMomentum" | "baseMomentum";

interface Phase {
  readonly end: number;
  readonly rates: readonly [Rate, Rate];
  readonly momenta: readonly [Momentum, Momentum];
}

/** Raises the rate from maxLr / divFactor to maxLr and lowers it to a tiny one, in one cycle. */
export class OneCycleLR extends LRScheduler {
  totalSteps: number;
  cycleMomentum: boolean;
  useBeta1: boolean;
  annealStrategy: "cos" | "linear";
  readonly #phases: readonly Phase[];

  constructor(
    optimizer: ScheduledOptimizer,
    maxLr: number | readonly number[],
    options: OneCycleLROptions,
  );
  constructor(
    optimizer: ScheduledOptimizer,
    maxLr: number | readonly number[],
    totalSteps: number | null,
    options?: OneCycleLROptions,
  );
  constructor(
    optimizer: ScheduledOptimizer,
    options: OneCycleLROptions & { maxLr: number | readonly number[] },
  );
  constructor(optimizer: ScheduledOptimizer, ...given: unknown[]) {
    super(optimizer);
    const named = readArguments(new.target.name, kArguments, [optimizer, ...given]);
    const { pctStart, annealStrategy, cycleMomentum } = named;
    this.totalSteps = totalStepsOf(named);
    this.#phases = phasesOf(this.totalSteps, pctStart, named.threePhase);
    if (!(pctStart >= 0 && pctStart <= 1)) {
      refuse(`Expected float between 0 and 1 pct_start, but got ${describe(pctStart)}.`);
    }
    this.annealStrategy = annealStrategy;
    this.cycleMomentum = cycleMomentum;
    this.useBeta1 = this.#groups.every((group) => "betas" in group);
    if (cycleMomentum && !this.useBeta1 && !this.#groups.every((group) => "momentum" in group)) {
      refuse("optimizer must support momentum or beta1 with `cycle_momentum` option enabled.");
    }
    if (named.lastEpoch === -1) this.#prepareGroups(named);
    this.start(named.lastEpoch);
  }

  protected override checkEpoch(epoch: number): void {
    if (epoch <= this.totalSteps) return;
    refuse(
      `Tried to step ${epoch} times. The specified number of total steps is ${this.totalSteps}.`,
    );
  }

  protected override nextLrs(): number[] {
    const last = this.#phases.length - 1;
    const index = this.#phases.findIndex(({ end }, i) => this.lastEpoch <= end || i === last);
    const begin = this.#phases[index - 1]?.end ?? 0;
    const { end, rates, momenta } = this.#phases[index] as Phase;
    const done = (this.lastEpoch - begin) / (end - begin);
    return this.#groups.map((group) => {
      if (this.cycleMomentum) {
        const [from, to] = momenta.map((name) => group[name] ?? 0);
        setMomentum(group, this.useBeta1, this.#anneal(from ?? 0, to ?? 0, done));
      }
      const [from, to] = rates.map((name) => group[name] ?? 0);
      return this.#anneal(from ?? 0, to ?? 0, done);
    });
  }

  get #groups(): readonly CycledGroup[] {
    return this.groups;
  }

  #prepareGroups(named: Named): void {
    const { divFactor, finalDivFactor, baseMomentum, maxMomentum } = named;
    const rates = perGroup("OneCycleLR", "maxLr", named.maxLr, this.#groups.length);
    const lowest = perGroup("OneCycleLR", "baseMomentum", baseMomentum, this.#groups.length);
    const highest = perGroup("OneCycleLR", "maxMomentum", maxMomentum, this.#groups.length);
    this.#groups.forEach((group, i) => {
      const maxLr = rates[i] ?? group.lr;
      const initialLr = maxLr / divFactor;
      Object.assign(group, { initialLr, maxLr, minLr: initialLr / finalDivFactor });
      if (!this.cycleMomentum) return;
      Object.assign(group, { maxMomentum: highest[i], baseMomentum: lowest[i] });
    });
  }

  #anneal(from: number, to: number, done: number): number {
    if (this.annealStrategy === "linear") return (to - from) * done + from;
    return to + ((from - to) / 2) * (Math.cos(Math.PI * done) + 1);
  }
}

function totalStepsOf({ totalSteps, epochs, stepsPerEpoch }: Named): number {
  if (totalSteps !== null) return positiveInteger("total_steps", totalSteps);
  if (epochs === null || stepsPerEpoch === null) {
    refuse("You must define either total_steps OR (epochs AND steps_per_epoch).");
  }
  return positiveInteger("epochs", epochs) * positiveInteger("steps_per_epoch", stepsPerEpoch);
}

function phasesOf(totalSteps: number, pctStart: number, isThreePhase: boolean): Phase[] {
  const top = pctStart * totalSteps - 1;
  const end = totalSteps - 1;
  const rise: Phase = {
    end: top,
    rates: ["initialLr", "maxLr"],
    momenta: ["maxMomentum", "baseMomentum"],
  };
  if (!isThreePhase) {
    return [rise, { end, rates: ["maxLr", "minLr"], momenta: ["baseMomentum", "maxMomentum"] }];
  }
  return [
    rise,
    { end: 2 * top, rates: ["maxLr", "initialLr"], momenta: ["baseMomentum", "maxMomentum"] },
    { end, rates: ["initialLr", "minLr"], momenta: ["maxMomentum", "maxMomentum"] },
  ];
}

function positiveInteger(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  refuse(`Expected positive integer ${name}, but got ${describe(value)}.`);
}

function refuse(message: string): never {
  fail("InvalidArgument", "OneCycleLR", message);
}
