// What all schedulers share. A scheduler sets the learning rate of every group of an optimizer, once
// per step(): most work out the next rate from the present one, so that schedulers can be chained.

import { isPlainObject, readArguments } from "../../arguments/read.js";
import { integer, type Options, unchecked } from "../../arguments/rule.js";
import { describe, fail } from "../../runtime/errors.js";
import { snakeCase } from "../../runtime/spelling.js";

/** A parameter group as schedulers see it. */
export interface ScheduledGroup {
  /** The rate now. */
  lr: number;
  /** The rate that the schedule began with. */
  initialLr?: number;
}

/** An optimizer whose groups have learning rates. */
export interface ScheduledOptimizer {
  /** The groups whose rate is changed. */
  readonly paramGroups: readonly { lr: number }[];
}

/** The first argument of all schedulers, which LRScheduler looks at. */
export const kScheduled = { optimizer: unchecked<ScheduledOptimizer>() };

/** What all schedulers can be told. */
export const kSchedulerOptions = {
  /** The epoch to go on after; default -1, the start. */
  lastEpoch: integer.or(-1),
};

/** Options of all schedulers. */
export type SchedulerOptions = Options<typeof kSchedulerOptions>;

const kStepArguments = { epoch: integer.optional() };

/** A scheduler's settings and place, in PyTorch's spelling. */
export type SchedulerState = Record<string, unknown>;

/** Changes the learning rates of an optimizer as training goes on. */
export abstract class LRScheduler {
  /** The initial learning rates of the groups. */
  baseLrs: number[] = [];

  /** The number of the last step; -1 before the first. */
  lastEpoch = -1;

  protected stepCount = 0;
  protected lastLr: number[] = [];
  readonly #optimizer: ScheduledOptimizer;

  constructor(optimizer: ScheduledOptimizer) {
    if (!Array.isArray(optimizer?.paramGroups)) {
      const told = `the first argument is an optimizer, got ${describe(optimizer)}.`;
      fail("InvalidArgument", new.target.name, told);
    }
    this.#optimizer = optimizer;
  }

  /** Returns the learning rates that the last step set. */
  getLastLr(): number[] {
    return [...this.lastLr];
  }

  /** Goes to the next epoch, or to the given one, and sets the learning rates. */
  step(...given: [epoch?: number]): void {
    const { epoch } = readArguments(`${this.constructor.name}.step`, kStepArguments, given);
    const next = epoch ?? this.lastEpoch + 1;
    this.checkEpoch(next);
    this.stepCount++;
    this.lastEpoch = next;
    const rates = epoch === undefined ? this.nextLrs() : (this.closedFormLrs?.() ?? this.nextLrs());
    this.groups.forEach((group, i) => {
      group.lr = rates[i] ?? group.lr;
    });
    this.lastLr = this.groups.map(({ lr }) => lr);
  }

  /** Returns the settings and the place, in PyTorch's spelling; functions are null. */
  stateDict(): SchedulerState {
    const own = Object.entries(this).map(([name, value]) => [spelled(name), saved(value)]);
    return Object.fromEntries(own);
  }

  /** Takes over what stateDict() returned. Load the optimizer's state too: it has the present rates. */
  loadStateDict(state: SchedulerState): void {
    if (!isPlainObject(state)) {
      const told = `expected what stateDict() returns, got ${describe(state)}.`;
      fail("InvalidArgument", this.constructor.name, told);
    }
    for (const [name, value] of Object.entries(this)) {
      const given = state[spelled(name)];
      if (given !== undefined) Object.assign(this, { [name]: loaded(given, value) });
    }
  }

  protected get groups(): readonly ScheduledGroup[] {
    return this.#optimizer.paramGroups;
  }

  /** Makes the first step; constructors call it when their settings are there. */
  protected start(lastEpoch = -1): void {
    this.groups.forEach((group, i) => {
      if (lastEpoch === -1) group.initialLr ??= group.lr;
      else if (group.initialLr === undefined) {
        fail(
          "InvalidArgument",
          this.constructor.name,
          `param 'initialLr' is not specified in paramGroups[${i}] when resuming an optimizer.`,
        );
      }
    });
    this.baseLrs = this.groups.map(({ lr, initialLr }) => initialLr ?? lr);
    this.lastEpoch = lastEpoch;
    this.step();
  }

  /** Throws for an epoch that the scheduler does not reach. */
  protected checkEpoch(_epoch: number): void {}

  /** Returns the rates of this epoch, worked out from those of the epoch before. */
  protected abstract nextLrs(): number[];

  /** Returns the rates of this epoch, worked out from the initial ones. */
  protected closedFormLrs?(): number[];
}

// Names that PyTorch does not spell as the others.
const kSpellings: Readonly<Record<string, string>> = {
  tMax: "T_max",
  stepCount: "_step_count",
  lastLr: "_last_lr",
  annealStrategy: "_anneal_func_type",
};

function spelled(name: string): string {
  return kSpellings[name] ?? snakeCase(name);
}

function saved(value: unknown): unknown {
  if (typeof value === "function") return null;
  return Array.isArray(value) ? value.map(saved) : value;
}

// A function was saved as null: the scheduler's own goes on.
function loaded(given: unknown, own: unknown): unknown {
  if (given === null) return own;
  if (!Array.isArray(given)) return given;
  return given.map((value, i) => (value === null && Array.isArray(own) ? own[i] : value));
}
