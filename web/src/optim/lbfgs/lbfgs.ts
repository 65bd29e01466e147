import { type Arguments, readArguments } from "../../arguments/read.js";
import { count, functionOf, number, oneOf, type Values } from "../../arguments/rule.js";
import { describe, fail } from "../../runtime/errors.js";
import { isCapturing } from "../../runtime/live.js";
import { Tensor } from "../../tensor/tensor.js";
import { callClosure } from "../closure.js";
import {
  checkRange,
  type GroupOf,
  Optimizer,
  type ParamGroup,
  type Params,
  readSettings,
} from "../optimizer.js";
import { quietly } from "../quietly.js";
import { FlatParams, largest, product } from "./flat_params.js";
import {
  type Iteration,
  type LBFGSState,
  type LBFGSValue,
  loaded,
  nextIteration,
  type Point,
  saved,
  tensorsOf,
} from "./history.js";
import { strongWolfe } from "./line_search.js";

const kSettings = {
  /** The factor of a step, or with a line search the first step that is tried; default 1. */
  lr: number.or(1),
  /** The most iterations of one step(); default 20. */
  maxIter: count.or(20),
  /** The most calls of the closure in one step(); default 5 / 4 of maxIter. */
  maxEval: count.orNull(),
  /** Stop when no element of the gradient is larger; default 1e-7. */
  toleranceGrad: number.or(1e-7),
  /** Stop when the loss or no parameter changes by more; default 1e-9. */
  toleranceChange: number.or(1e-9),
  /** How many changes of the gradient are remembered; default 100. */
  historySize: count.or(100),
  /** How far to go along a direction is looked for, "strong_wolfe", or not, null; default null. */
  lineSearchFn: oneOf("strong_wolfe").saying("only 'strong_wolfe' is supported.").orNull(),
};

const kStepArguments = { closure: functionOf<() => never>() };

/** Settings of `LBFGS`. */
export type LBFGSSettings = Values<typeof kSettings>;

const kStart: LBFGSState = { funcEvals: 0, nIter: 0, last: null };

/**
 * Limited-memory BFGS: steps that use the curvature of all parameters together. Its step() calls the
 * closure many times, and waits for numbers of the device.
 */
export class LBFGS extends Optimizer<LBFGSSettings, LBFGSState, LBFGSValue> {
  constructor(
    params: Params<LBFGSSettings>,
    ...rest: Arguments<
      [
        lr: number,
        maxIter: number,
        maxEval: number | null,
        toleranceGrad: number,
        toleranceChange: number,
        historySize: number,
        lineSearchFn: "strong_wolfe" | null,
      ],
      Partial<LBFGSSettings>
    >
  ) {
    const settings = readSettings(new.target.name, kSettings, rest);
    const maxEval = settings.maxEval ?? Math.max(1, Math.floor((settings.maxIter * 5) / 4));
    super(params, { ...settings, maxEval }, kSettings);
  }

  override addParamGroup(...rest: [group: GroupOf<LBFGSSettings>]): void {
    if (this.paramGroups.length > 0) {
      const told = "LBFGS doesn't support per-parameter options (parameter groups).";
      fail("InvalidArgument", "LBFGS", told);
    }
    super.addParamGroup(...rest);
  }

  /**
   * Minimises what `closure` returns, the loss as a tensor or a number, after it has taken the gradients
   * off and calculated new ones; returns the first loss. When the closure throws, parameters and state
   * are what they were.
   */
  override step(): never;
  override step<T>(closure: () => T): T;
  override step<T>(...given: [closure?: () => T]): T {
    const { closure } = readArguments("LBFGS.step", kStepArguments, given);
    if (isCapturing()) {
      const told = "its step depends on numbers that it reads, so capture() cannot hold it.";
      fail("InvalidArgument", "LBFGS.step", told);
    }
    const group = this.#group;
    this.checkTypes(group);
    const flat = new FlatParams(group.params);
    const values = flat.values();
    try {
      return this.#minimise<T>(closure, group, flat);
    } catch (error) {
      // What was not moved is not written either: that would be a new version.
      if (flat.hasMoved) flat.set(values);
      throw error;
    } finally {
      flat.releaseAllBut(tensorsOf(this.#own));
      values.dispose();
    }
  }

  #minimise<T>(closure: () => T, group: ParamGroup<LBFGSSettings>, flat: FlatParams): T {
    const call = () => {
      const value = callClosure("LBFGS.step", closure);
      return { value, loss: lossOf(value), gradient: flat.gradient() };
    };
    const before = this.#own;
    const first = call();
    let next = { ...before, funcEvals: before.funcEvals + 1 };
    if (!(largest(first.gradient) <= group.toleranceGrad)) {
      next = iterate(call, first, next, group, flat);
    }
    this.state.set(group.params[0] as Tensor, next);
    const kept = tensorsOf(next);
    for (const tensor of tensorsOf(before)) if (!kept.includes(tensor)) tensor.dispose();
    return first.value;
  }

  protected override checkSettings({ lr }: LBFGSSettings): void {
    checkRange("LBFGS", "learning rate", lr);
  }

  // How far a step goes follows from what the closure says, so there is no plan.
  protected override plan(): [] {
    return [];
  }

  protected override saveState(state: LBFGSState): Record<string, LBFGSValue> {
    return saved(state);
  }

  protected override loadState(
    state: Readonly<Record<string, LBFGSValue>>,
    param: Tensor,
  ): LBFGSState {
    const flat = new FlatParams(this.#group.params);
    return loaded(state, param, flat.count);
  }

  get #group(): ParamGroup<LBFGSSettings> {
    return this.paramGroups[0] as ParamGroup<LBFGSSettings>;
  }

  // The first parameter has the state of all, as in PyTorch.
  get #own(): LBFGSState {
    return this.state.get(this.#group.params[0] as Tensor) ?? kStart;
  }
}

function iterate(
  call: () => Point,
  first: Point,
  begin: LBFGSState,
  group: LBFGSSettings,
  flat: FlatParams,
): LBFGSState {
  const { lr, maxIter, toleranceGrad, toleranceChange, historySize } = group;
  let { funcEvals, nIter } = begin;
  const maxEvals = funcEvals - 1 + (group.maxEval ?? Infinity);
  let last = begin.last;
  let here = first;
  for (let i = 1; i <= maxIter; i++) {
    nIter++;
    const next = nextIteration({ funcEvals, nIter, last }, here, flat, historySize);
    const start = nIter === 1 ? firstStep(here.gradient) * lr : lr;
    last = { ...next, t: start };
    const slope = product(here.gradient, last.d);
    if (slope > -toleranceChange) break;
    const before = here.loss;
    if (group.lineSearchFn !== null) {
      const { trial, evaluations } = search(call, here, last, slope, flat);
      here = trial;
      funcEvals += evaluations;
      last = { ...last, t: trial.step };
    }
    flat.move(last.t, last.d);
    if (i === maxIter) break;
    if (group.lineSearchFn === null) {
      here = call();
      funcEvals++;
    }
    if (funcEvals >= maxEvals || largest(here.gradient) <= toleranceGrad) break;
    if (largest(last.d) * Math.abs(last.t) <= toleranceChange) break;
    if (Math.abs(here.loss - before) < toleranceChange) break;
    flat.releaseAllBut([here.gradient, ...tensorsOf({ funcEvals, nIter, last })]);
  }
  return { funcEvals, nIter, last };
}

// Tries steps along the direction; the parameters are where they were afterwards.
function search(
  call: () => Point,
  here: Point,
  { d, t }: Iteration,
  slope: number,
  flat: FlatParams,
) {
  const values = flat.hold(() => flat.values());
  const evaluate = (step: number) => {
    flat.move(step, d);
    const { loss, gradient } = call();
    flat.set(values);
    return { step, loss, gradient, slope: product(gradient, d) };
  };
  return strongWolfe(evaluate, { ...here, step: 0, slope }, t, largest(d));
}

function firstStep(gradient: Tensor): number {
  return Math.min(1, 1 / quietly(() => Number(gradient.abs().sum().item())));
}

function lossOf(value: unknown): number {
  if (typeof value === "number") return value;
  if (value instanceof Tensor && value.numel === 1) return Number(value.item());
  const told = `closure: expected it to return the loss, a tensor of one element or a number, got ${describe(value)}.`;
  return fail("InvalidArgument", "LBFGS.step", told);
}
