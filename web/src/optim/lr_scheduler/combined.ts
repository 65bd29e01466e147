// Schedulers made of schedulers.

import { readArguments, readNothing } from "../../arguments/read.js";
import { integer, listOf, Rule, unchecked } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors.js";
import { runLive } from "../../runtime/live.js";
import { BaseScheduler, type ScheduledGroup, type ScheduledOptimizer } from "./base.js";
import { ReduceLROnPlateau } from "./plateau.js";
import { kScheduled, kSchedulerOptions, LRScheduler, type SchedulerOptions } from "./scheduler.js";

// What a scheduler that is made of others steps without telling it anything.
const kMember = new Rule<BaseScheduler>("a scheduler whose step() needs no metric", (value) => {
  return value instanceof BaseScheduler && !(value instanceof ReduceLROnPlateau);
});

/** A scheduler that another one can let begin when it is time. */
type Startable = LRScheduler | CombinedScheduler;

const kStartable = new Rule<Startable>(
  "a scheduler that follows a formula, or is made of such",
  (value) =>
    value instanceof LRScheduler || (value instanceof CombinedScheduler && value.startsAnew),
);

/** What schedulers that are made of schedulers have in common. */
abstract class CombinedScheduler extends BaseScheduler {
  /** The schedulers that it is made of. */
  abstract readonly schedulers: readonly BaseScheduler[];

  /** Whether all parts follow formulas. @internal */
  get startsAnew(): boolean {
    return this.schedulers.every(kStartable.accepts);
  }

  /** Takes the first step of its parts back. @internal */
  abstract unstart(): void;

  /** Makes the first step of its parts again. @internal */
  abstract restart(): void;
}

const kSequentialArguments = {
  ...kScheduled,
  schedulers: listOf(kStartable),
  milestones: listOf(integer),
  ...kSchedulerOptions,
};

/** The arguments of `SequentialLR` after the optimizer. */
export type SequentialLRArguments =
  | [
      schedulers: readonly BaseScheduler[],
      milestones: readonly number[],
      lastEpoch?: number | SchedulerOptions,
    ]
  | [schedulers: readonly BaseScheduler[], options: SequentialLROptions]
  | [
      options: SequentialLROptions & {
        /** One after the other. */
        schedulers: readonly BaseScheduler[];
      },
    ];

/** Options of `SequentialLR`. */
export type SequentialLROptions = SchedulerOptions & {
  /** The epochs at which the second scheduler and those after it begin. */
  milestones: readonly number[];
};

/** Follows one scheduler after the other: each begins at its milestone. */
export class SequentialLR extends CombinedScheduler {
  override readonly schedulers: readonly Startable[];
  /** The epochs at which the second scheduler and those after it begin. */
  readonly beginnings: readonly number[];

  constructor(optimizer: ScheduledOptimizer, ...rest: SequentialLRArguments) {
    super(optimizer);
    const named = readArguments(new.target.name, kSequentialArguments, [optimizer, ...rest]);
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
    resetLrs(this.groups);
    for (const scheduler of this.schedulers) scheduler.unstart();
    first.restart();
    this.lastLr = first.getLastLr();
  }

  override unstart(): void {
    this.schedulers[0]?.unstart();
  }

  override restart(): void {
    this.lastEpoch = 0;
    this.schedulers[0]?.restart();
    this.noteLrs();
  }

  /** Sets the learning rates of the next epoch. */
  override step(...given: []): void {
    readNothing("SequentialLR.step", given);
    runLive(() => {
      this.lastEpoch++;
      const index = this.beginnings.filter((epoch) => epoch <= this.lastEpoch).length;
      const scheduler = this.schedulers[index] as Startable;
      if (index === 0 || this.beginnings[index - 1] !== this.lastEpoch) scheduler.step();
      else if (scheduler instanceof LRScheduler) scheduler.step(0);
      else {
        resetLrs(this.groups);
        scheduler.restart();
      }
      this.lastLr = scheduler.getLastLr();
    });
  }
}

function resetLrs(groups: readonly ScheduledGroup[]): void {
  for (const group of groups) group.lr = group.initialLr ?? group.lr;
}

const kChainedArguments = {
  schedulers: listOf(kMember),
  optimizer: unchecked<ScheduledOptimizer>().orNull(),
};

/** Steps several schedulers together; the factors of those that multiply the rate multiply. */
export class ChainedScheduler extends CombinedScheduler {
  override readonly schedulers: readonly BaseScheduler[];

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

  override unstart(): void {
    for (const scheduler of this.schedulers) (scheduler as Startable).unstart();
  }

  override restart(): void {
    for (const scheduler of this.schedulers) (scheduler as Startable).restart();
    this.lastEpoch = 0;
    this.noteLrs();
  }

  /** Steps all of them. */
  override step(...given: []): void {
    readNothing("ChainedScheduler.step", given);
    runLive(() => {
      for (const scheduler of this.schedulers) scheduler.step();
      this.lastEpoch++;
      this.noteLrs();
    });
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
