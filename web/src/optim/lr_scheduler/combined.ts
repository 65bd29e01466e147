// Schedulers that combine other schedulers.

import { readArguments, readNothing } from "../../arguments/read.js";
import { integer, listOf, Rule, unchecked } from "../../arguments/rule.js";
import { runLive } from "../../runtime/bridge/live.js";
import { fail } from "../../runtime/errors/errors.js";
import { BaseScheduler, type ScheduledGroup, type ScheduledOptimizer } from "./base.js";
import { ReduceLROnPlateau } from "./plateau.js";
import { kSchedulerOptions, LRScheduler, type SchedulerOptions } from "./scheduler.js";

// A scheduler whose step() can be called without arguments.
const kMember = new Rule<BaseScheduler>("a scheduler whose step() needs no metric", (value) => {
  return value instanceof BaseScheduler && !(value instanceof ReduceLROnPlateau);
});

/** A scheduler that another one can start later. */
type Startable = LRScheduler | CombinedScheduler;

const kStartable = new Rule<Startable>(
  "a scheduler that follows a formula, or combines such schedulers",
  (value) =>
    value instanceof LRScheduler || (value instanceof CombinedScheduler && value.startsAnew),
);

/** The base class of schedulers that combine others. */
abstract class CombinedScheduler extends BaseScheduler {
  /** The combined schedulers. */
  abstract readonly schedulers: readonly BaseScheduler[];

  /** Whether all combined schedulers follow formulas. @internal */
  get startsAnew(): boolean {
    return this.schedulers.every(kStartable.accepts);
  }

  /** Reverts the first step of the combined schedulers. @internal */
  abstract unstart(): void;

  /** Repeats the first step of the combined schedulers. @internal */
  abstract restart(): void;
}

const kSequentialArguments = {
  optimizer: unchecked<ScheduledOptimizer>(),
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
        /** The schedulers, in their order. */
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

  constructor(
    optimizer: ScheduledOptimizer,
    schedulers: readonly BaseScheduler[],
    milestones: readonly number[],
    lastEpoch?: number | SchedulerOptions,
  );
  constructor(
    optimizer: ScheduledOptimizer,
    options: SequentialLROptions & {
      /** The schedulers, in their order. */
      schedulers: readonly BaseScheduler[];
    },
  );
  constructor(
    optimizer: ScheduledOptimizer,
    schedulers: readonly BaseScheduler[],
    options: SequentialLROptions,
  );
  constructor(optimizer: ScheduledOptimizer, ...rest: unknown[]) {
    super(optimizer);
    const named = readArguments(new.target.name, kSequentialArguments, [optimizer, ...rest]);
    const [first] = named.schedulers;
    if (first === undefined) refuse("SequentialLR", "schedulers: expected at least one, got none.");
    checkOwner("SequentialLR", named.schedulers, optimizer);
    if (named.milestones.length !== named.schedulers.length - 1) {
      const reason =
        "milestones: expected one less than schedulers, " +
        `got ${named.milestones.length} for ${named.schedulers.length} schedulers.`;
      refuse("SequentialLR", reason);
    }
    this.schedulers = [...named.schedulers];
    this.beginnings = [...named.milestones];
    this.lastEpoch = named.lastEpoch + 1;
    // Each scheduler has set its first rate when it was created, but only the first one should.
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

/** Steps several schedulers together; if several multiply the rate, their factors are multiplied. */
export class ChainedScheduler extends CombinedScheduler {
  override readonly schedulers: readonly BaseScheduler[];

  /** `optimizer` is the optimizer of the schedulers and may be omitted. */
  constructor(
    schedulers: readonly BaseScheduler[],
    ...rest: [optimizer?: ScheduledOptimizer | null]
  ) {
    const name = "ChainedScheduler";
    const named = readArguments(name, kChainedArguments, [schedulers, ...rest]);
    const [first] = named.schedulers;
    if (first === undefined) refuse(name, "schedulers: expected at least one, got none.");
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
  const reason =
    "schedulers: expected all for the same optimizer, " +
    `but the one at index ${other} has a different optimizer.`;
  refuse(owner, reason);
}

function refuse(owner: string, reason: string): never {
  fail("InvalidArgument", owner, reason);
}
