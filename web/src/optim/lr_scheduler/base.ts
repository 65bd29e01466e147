// The base class of all schedulers: the groups of an optimizer, and PyTorch's state dict.

import { isPlainObject } from "../../arguments/read.js";
import { describe, fail } from "../../runtime/errors/errors.js";
import { snakeCase } from "../../runtime/host/spelling.js";

/** The properties of a parameter group that schedulers use. */
export interface ScheduledGroup {
  /** The current learning rate. */
  lr: number;
  /** The learning rate at the start of the schedule. */
  initialLr?: number;
  /** The momentum, in optimizers that have one. */
  momentum?: number;
  /** The decay rates of Adam and similar optimizers; the first corresponds to momentum. */
  betas?: readonly number[];
}

/** An optimizer whose groups have learning rates. */
export interface ScheduledOptimizer {
  /** The groups whose learning rate is changed. */
  readonly paramGroups: readonly { lr: number }[];
}

/** The settings and the position of a scheduler, under PyTorch's names. */
export type SchedulerState = Record<string, unknown>;

/**
 * Changes the learning rates of an optimizer; `LRScheduler` does so by a formula. A class that extends this one implements step(),
 * which sets `lr` in the groups of `optimizer`. Its fields are saved and loaded.
 */
export abstract class BaseScheduler {
  /** The number of the last step; -1 before the first. */
  lastEpoch = -1;

  protected lastLr: number[] = [];
  readonly #optimizer: ScheduledOptimizer;

  constructor(optimizer: ScheduledOptimizer) {
    if (!Array.isArray(optimizer?.paramGroups)) {
      const reason = `optimizer: expected an optimizer, got ${describe(optimizer)}.`;
      fail("InvalidArgument", new.target.name, reason);
    }
    this.#optimizer = optimizer;
  }

  /** Sets the fields from the arguments of a declared constructor (declared.ts). @internal */
  protected setUp(values: object): void {
    Object.assign(this, values);
  }

  /** Sets the learning rates of the next epoch. */
  abstract step(...given: unknown[]): void;

  /** Returns the learning rates that the last step set. */
  getLastLr(): number[] {
    // A step() that a program defines sets the rates in the groups alone.
    const isNoted = this.lastLr.length > 0;
    return isNoted ? [...this.lastLr] : this.groups.map(({ lr }) => lr);
  }

  /** Returns the settings and the position under PyTorch's names; functions are null. */
  stateDict(): SchedulerState {
    const own = Object.entries(this).map(([name, value]) => [spelled(name), saved(value)]);
    return Object.fromEntries(own);
  }

  /** Restores the result of stateDict(). Load the optimizer's state too, which contains the current rates. */
  loadStateDict(state: SchedulerState): void {
    if (!isPlainObject(state)) {
      const reason = `expected the result of stateDict(), got ${describe(state)}.`;
      fail("InvalidArgument", this.constructor.name, reason);
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

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

// Names that do not follow the usual conversion to snake_case.
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

// A function was saved as null, so the scheduler keeps its own.
function loaded(given: unknown, own: unknown): unknown {
  if (given === null) return own;
  if (own instanceof BaseScheduler) {
    own.loadStateDict(given as SchedulerState);
    return own;
  }
  if (!Array.isArray(given)) return given;
  return given.map((value, i) => (Array.isArray(own) ? loaded(value, own[i]) : value));
}
