// Schedulers made of schedulers.

import { readArguments, readNothing } from "../../arguments/read.js";
import { integer, listOf, type Options, Rule, unchecked } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors.js";
import { BaseScheduler, type ScheduledOptimizer } from "./base.js";
import { ReduceLROnPlateau } from "./plateau.js";
import { kScheduled, kSchedulerOptions, LRScheduler } from "./scheduler.js";

// What a scheduler that is made of others steps without telling it anything.
const kMember = new Rule<BaseScheduler>("a scheduler whose step() needs no metric", (value) => {
  return value instanceof BaseScheduler && !(value instanceof ReduceLROnPlateau);
});

const kFormula = new Rule<LRScheduler>("a scheduler that follows a formula", (value) => {
  return value instanceof LRScheduler;
});

const kSequentialArguments = {
  ...kScheduled,
  schedulers: listOf(kFormula),
  milestones: listOf(integer),
  ...kSchedulerOptions,
};

/** Follows one scheduler after the other: each begins at its milestone. */
export class SequentialLR extends BaseScheduler {
  readonly schedulers: readonly LRScheduler[];
  /** The epochs at which the second scheduler and those after it begin. */
  readonly beginnings: readonly number[];

  constructor(
    optimizer: ScheduledOptimizer,
    schedulers: readonly LRScheduler[],
    milestones: readonly number[],
    ...rest: [lastEpoch?: number | Options<typeof kSchedulerOptions>]
  ) {
    super(optimizer);
    const given = [optimizer, schedulers, milestones, ...rest];
    const named = readArguments(new.target.name, kSequentialArguments, given);
    const [first] = named.schedulers;
    if (first === undefined) refuse("SequentialLR", "expects at least one scheduler.");
    checkOwner("SequentialLR", named.schedulers, optimizer);
    if (named.milestones.length !== named.schedulers.length - 1) {
      const told =
        "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, " +
        `but got ${named.schedulers.length} schedulers and ${named.milestones.length} milestones.`;
      refuse("SequentialLR", told);
    }
    this.schedulers = [...named.schedulers];
    this.beginnings = [...named.milestones];
    this.lastEpoch = named.lastEpoch + 1;
    // Each has set its first rate when it was made; only the first is to.
    for (const group of this.groups) group.lr = group.initialLr ?? group.lr;
    for (const scheduler of this.schedulers) scheduler.unstart();
    first.restart();
    this.lastLr = first.getLastLr();
  }

  /** Sets the learning rates of the next epoch. */
  override step(...given: []): void {
    readNothing("SequentialLR.step", given);
    this.lastEpoch++;
    const index = this.beginnings.filter((epoch) => epoch <= this.lastEpoch).length;
    const scheduler = this.schedulers[index] as LRScheduler;
    if (index > 0 && this.beginnings[index - 1] === this.lastEpoch) scheduler.step(0);
    else scheduler.step();
    this.lastLr = scheduler.getLastLr();
  }
}

const kChainedArguments = {
  schedulers: listOf(kMember),
  optimizer: unchecked<ScheduledOptimizer>().orNull(),
};

/** Steps several schedulers together; the factors of those that multiply the rate multiply. */
export class ChainedScheduler extends BaseScheduler {
  readonly schedulers: readonly BaseScheduler[];

  /** `optimizer` is that of the schedulers, which need not be named. */
  constructor(
    schedulers: readonly BaseScheduler[],
    ...rest: [optimizer?: ScheduledOptimizer | null]
  ) {
    const name = "ChainedScheduler";
    const named = readArguments(name, kChainedArguments, [schedulers, ...rest]);
    const [first] = named.schedulers;
    if (first === undefined) refuse(name, "expects at least one scheduler to be chained.");
    const optimizer = named.optimizer ?? first.optimizer;
    checkOwner(name, named.schedulers, optimizer);
    super(optimizer);
    this.schedulers = [...named.schedulers];
    this.lastEpoch = 0;
    this.noteLrs();
  }

  /** Steps all of them. */
  override step(...given: []): void {
    readNothing("ChainedScheduler.step", given);
    for (const scheduler of this.schedulers) scheduler.step();
    this.lastEpoch++;
    this.noteLrs();
  }
}

function checkOwner(
  owner: string,
  schedulers: readonly BaseScheduler[],
  optimizer: ScheduledOptimizer,
): void {
  const other = schedulers.findIndex((scheduler) => scheduler.optimizer !== optimizer);
  if (other < 0) return;
  const told =
    "expects all schedulers to belong to the same optimizer, " +
    `but the one at index ${other} belongs to another.`;
  refuse(owner, told);
}

function refuse(owner: string, told: string): never {
  fail("InvalidArgument", owner, told);
}
