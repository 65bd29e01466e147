// What all schedulers share: the groups of an optimizer, and PyTorch's state dict.

import { isPlainObject } from "../../arguments/read.js";
import { describe, fail } from "../../runtime/errors.js";
import { snakeCase } from "../../runtime/spelling.js";

/** A parameter group as schedulers see it. */
export interface ScheduledGroup {
  /** The rate now. */
  lr: number;
  /** The rate that the schedule began with. */
  initialLr?: number;
  /** Of optimizers with momentum. */
  momentum?: number;
  /** Of Adam and its relatives; the first is a momentum. */
  betas?: readonly number[];
}

/** An optimizer whose groups have learning rates. */
export interface ScheduledOptimizer {
  /** The groups whose rate is changed. */
  readonly paramGroups: readonly { lr: number }[];
}

/** A scheduler's settings and place, in PyTorch's spelling. */
export type SchedulerState = Record<string, unknown>;

/** Changes the learning rates of an optimizer; `LRScheduler` does it by a formula. */
export abstract class BaseScheduler {
  /** The number of the last step; -1 before the first. */
  lastEpoch = -1;

  protected lastLr: number[] = [];
  readonly #optimizer: ScheduledOptimizer;

  constructor(optimizer: ScheduledOptimizer) {
    if (!Array.isArray(optimizer?.paramGroups)) {
      const told = `the first argument is an optimizer, got ${describe(optimizer)}.`;
      fail("InvalidArgument", new.target.name, told);
    }
    this.#optimizer = optimizer;
  }

  /** Sets the learning rates of the next epoch. */
  abstract step(...given: unknown[]): void;

  /** Returns the learning rates that the last step set. */
  getLastLr(): number[] {
    return [...this.lastLr];
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

  /** The optimizer whose rates are set. */
  get optimizer(): ScheduledOptimizer {
    return this.#optimizer;
  }

  protected get groups(): readonly ScheduledGroup[] {
    return this.#optimizer.paramGroups;
  }

  protected setLrs(rates: readonly number[]): void {
    this.groups.forEach((group, i) => {
      group.lr = rates[i] ?? group.lr;
    });
    this.noteLrs();
  }

  protected noteLrs(): void {
    this.lastLr = this.groups.map(({ lr }) => lr);
  }
}

// Names that PyTorch does not spell as the others.
const kSpellings: Readonly<Record<string, string>> = {
  tMax: "T_max",
  t0: "T_0",
  ti: "T_i",
  tMult: "T_mult",
  tCur: "T_cur",
  stepCount: "_step_count",
  lastLr: "_last_lr",
  annealStrategy: "_anneal_func_type",
  schedulers: "_schedulers",
  beginnings: "_milestones",
  scaleFn: "_scale_fn_custom",
  schedulePhases: "_schedule_phases",
};

function spelled(name: string): string {
  return kSpellings[name] ?? snakeCase(name);
}

function saved(value: unknown): unknown {
  if (typeof value === "function") return null;
  if (value instanceof BaseScheduler) return value.stateDict();
  return Array.isArray(value) ? value.map(saved) : value;
}

// A function was saved as null: the scheduler's own goes on.
function loaded(given: unknown, own: unknown): unknown {
  if (given === null) return own;
  if (own instanceof BaseScheduler) {
    own.loadStateDict(given as SchedulerState);
    return own;
  }
  if (!Array.isArray(given)) return given;
  return given.map((value, i) => (Array.isArray(own) ? loaded(value, own[i]) : value));
}
