// The 1cycle policy: the rate rises to its maximum once and then falls far below its initial value, while the momentum
// moves in the opposite direction.

import { boolean, number, oneOf, oneOrMore } from "../../arguments/rule.js";
import { describe, fail } from "../../runtime/errors/errors.js";
import { camelCase } from "../../runtime/host/spelling.js";
import type { ScheduledGroup } from "./base.js";
import { type Arguments, type OptionsOf, type Order, ownScheduler } from "./declared.js";
import { setMomentum } from "./momentum.js";
import { perGroup } from "./per_group.js";

const kOneCycleLR = {
  /** The highest rate, of all groups or per group. */
  maxLr: oneOrMore(number),
  /** The number of steps of the whole cycle, unless `epochs` and `stepsPerEpoch` are given. */
  totalSteps: number.orNull(),
  /** With `stepsPerEpoch`, an alternative to `totalSteps`. */
  epochs: number.orNull(),
  /** With `epochs`, an alternative to `totalSteps`. */
  stepsPerEpoch: number.orNull(),
  /** The share of the cycle in which the rate rises; default 0.3. */
  pctStart: number.or(0.3),
  /** The shape of the curve between the extremes; default "cos". */
  annealStrategy: oneOf("cos", "linear").or("cos"),
  /** Change momentum (or the first beta) inversely to the rate; default true. */
  cycleMomentum: boolean.or(true),
  /** The momentum at the highest rate; default 0.85. */
  baseMomentum: oneOrMore(number).or(0.85),
  /** The momentum at the ends; default 0.95. */
  maxMomentum: oneOrMore(number).or(0.95),
  /** The ratio of the highest rate to the initial one; default 25. */
  divFactor: number.or(25),
  /** The ratio of the initial rate to the last one; default 1e4. */
  finalDivFactor: number.or(1e4),
  /** Return to the initial rate in a second phase, and fall below it in a third; default false. */
  threePhase: boolean.or(false),
};

/** Options of `OneCycleLR`. */
export type OneCycleLROptions = OptionsOf<typeof kOneCycleLR, "maxLr">;

type Named = Arguments<typeof kOneCycleLR>;

interface CycledGroup extends ScheduledGroup {
  maxLr?: number;
  minLr?: number;
  maxMomentum?: number;
  baseMomentum?: number;
}

type Rate = "initial_lr" | "max_lr" | "min_lr";
type Momentum = "max_momentum" | "base_momentum";

/** A phase of the cycle as in PyTorch's state dict: its end, and the rates and momenta of the groups at its start and end. */
interface Phase {
  readonly end_step: number;
  readonly start_lr: Rate;
  readonly end_lr: Rate;
  readonly start_momentum: Momentum;
  readonly end_momentum: Momentum;
}

/** Raises the rate from maxLr / divFactor to maxLr and lowers it to a very small one, in one cycle. */
export class OneCycleLR extends ownScheduler(
  kOneCycleLR,
  {} as Order<
    [maxLr: "maxLr"],
    [
      totalSteps: "totalSteps",
      epochs: "epochs",
      stepsPerEpoch: "stepsPerEpoch",
      pctStart: "pctStart",
      annealStrategy: "annealStrategy",
      cycleMomentum: "cycleMomentum",
      baseMomentum: "baseMomentum",
      maxMomentum: "maxMomentum",
      divFactor: "divFactor",
      finalDivFactor: "finalDivFactor",
      threePhase: "threePhase",
    ]
  >,
) {
  declare totalSteps: number;
  declare cycleMomentum: boolean;
  declare useBeta1: boolean;
  declare annealStrategy: "cos" | "linear";
  declare schedulePhases: readonly Phase[];

  /** @internal */
  protected override setUp(named: Named): void {
    const { pctStart, annealStrategy, cycleMomentum } = named;
    this.totalSteps = totalStepsOf(named);
    this.schedulePhases = phasesOf(this.totalSteps, pctStart, named.threePhase);
    if (!(pctStart >= 0 && pctStart <= 1)) {
      refuse(`pctStart: expected a number from 0 to 1, got ${describe(pctStart)}.`);
    }
    this.annealStrategy = annealStrategy;
    this.cycleMomentum = cycleMomentum;
    this.useBeta1 = this.groups.every((group) => "betas" in group);
    if (cycleMomentum && !this.useBeta1 && !this.groups.every((group) => "momentum" in group)) {
      refuse(
        "cycleMomentum: needs an optimizer with momentum or betas. Pass cycleMomentum: false.",
      );
    }
    if (named.lastEpoch === -1) this.prepareGroups(named);
    this.start(named.lastEpoch);
  }

  protected override checkEpoch(epoch: number): void {
    if (epoch <= this.totalSteps) return;
    refuse(`step ${epoch} is after the end of the cycle, totalSteps = ${this.totalSteps}.`);
  }

  protected override nextLrs(): number[] {
    const phases = this.schedulePhases;
    const last = phases.length - 1;
    const index = phases.findIndex((phase, i) => this.lastEpoch <= phase.end_step || i === last);
    const begin = phases[index - 1]?.end_step ?? 0;
    const phase = phases[index] as Phase;
    const done = (this.lastEpoch - begin) / (phase.end_step - begin);
    return this.groups.map((group: CycledGroup) => {
      const between = (from: Rate | Momentum, to: Rate | Momentum) => {
        return this.anneal(boundOf(group, from), boundOf(group, to), done);
      };
      if (this.cycleMomentum) {
        setMomentum(group, this.useBeta1, between(phase.start_momentum, phase.end_momentum));
      }
      return between(phase.start_lr, phase.end_lr);
    });
  }

  private prepareGroups(named: Named): void {
    const { divFactor, finalDivFactor, baseMomentum, maxMomentum } = named;
    const rates = perGroup("OneCycleLR", "maxLr", named.maxLr, this.groups.length);
    const lowest = perGroup("OneCycleLR", "baseMomentum", baseMomentum, this.groups.length);
    const highest = perGroup("OneCycleLR", "maxMomentum", maxMomentum, this.groups.length);
    this.groups.forEach((group, i) => {
      const maxLr = rates[i] ?? group.lr;
      const initialLr = maxLr / divFactor;
      Object.assign(group, { initialLr, maxLr, minLr: initialLr / finalDivFactor });
      if (!this.cycleMomentum) return;
      Object.assign(group, { maxMomentum: highest[i], baseMomentum: lowest[i] });
    });
  }

  private anneal(from: number, to: number, done: number): number {
    if (this.annealStrategy === "linear") return (to - from) * done + from;
    return to + ((from - to) / 2) * (Math.cos(Math.PI * done) + 1);
  }
}

function totalStepsOf({ totalSteps, epochs, stepsPerEpoch }: Named): number {
  if (totalSteps !== null) return positiveInteger("total_steps", totalSteps);
  if (epochs === null || stepsPerEpoch === null) {
    refuse("expected totalSteps, or epochs and stepsPerEpoch.");
  }
  return positiveInteger("epochs", epochs) * positiveInteger("stepsPerEpoch", stepsPerEpoch);
}

function phasesOf(totalSteps: number, pctStart: number, isThreePhase: boolean): Phase[] {
  const top = pctStart * totalSteps - 1;
  const end = totalSteps - 1;
  const rise = phase(top, "initial_lr", "max_lr", "max_momentum", "base_momentum");
  if (!isThreePhase) {
    return [rise, phase(end, "max_lr", "min_lr", "base_momentum", "max_momentum")];
  }
  return [
    rise,
    phase(2 * top, "max_lr", "initial_lr", "base_momentum", "max_momentum"),
    phase(end, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
  ];
}

function phase(
  end_step: number,
  start_lr: Rate,
  end_lr: Rate,
  start_momentum: Momentum,
  end_momentum: Momentum,
): Phase {
  return { end_step, start_lr, end_lr, start_momentum, end_momentum };
}

function boundOf(group: CycledGroup, name: Rate | Momentum): number {
  return (group[camelCase(name) as keyof CycledGroup] as number | undefined) ?? 0;
}

function positiveInteger(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  refuse(`${name}: expected a whole number above 0, got ${describe(value)}.`);
}

function refuse(message: string): never {
  fail("InvalidArgument", "OneCycleLR", message);
}
