import { type MixedArguments, readArguments } from "../../arguments/read.js";
import { count, functionOf, number, oneOf, type Values } from "../../arguments/rule.js";
import { isCapturing } from "../../runtime/bridge/live.js";
import { describe, fail } from "../../runtime/errors/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import { checkRange } from "../check_range.js";
import { callClosure } from "../closure.js";
import type { GroupOf, ParamGroup, Params } from "../groups.js";
import { Optimizer, readSettings } from "../optimizer.js";
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
  /** The learning rate, or with a line search the first step to try; default 1. */
  lr: number.or(1),
  /** The maximum number of iterations in one step(); default 20. */
  maxIter: count.or(20),
  /** The maximum number of calls of the closure in one step(); default 5 / 4 of maxIter. */
  maxEval: count.orNull(),
  /** Stop if no element of the gradient is larger; default 1e-7. */
  toleranceGrad: number.or(1e-7),
  /** Stop if the loss, or every parameter, changes by less; default 1e-9. */
  toleranceChange: number.or(1e-9),
  /** The number of changes of the gradient to store; default 100. */
  historySize: count.or(100),
  /** The line search, "strong_wolfe", or null for none; default null. */
  lineSearchFn: oneOf("strong_wolfe").orNull(),
};

const kStepArguments = { closure: functionOf<() => never>() };

/** Settings of `LBFGS`. */
export interface LBFGSSettings extends Values<typeof kSettings> {}

const kStart: LBFGSState = { funcEvals: 0, nIter: 0, last: null };

/**
 * Limited-memory BFGS: steps that use the curvature of all parameters together. Its step() calls the
 * closure many times, and reads values from the device.
 */
export class LBFGS extends Optimizer<LBFGSSettings, LBFGSState, LBFGSValue> {
  constructor(
    params: Params<LBFGSSettings>,
    lr?: number,
    maxIter?: number,
    maxEval?: number | null,
    toleranceGrad?: number,
    toleranceChange?: number,
    historySize?: number,
    lineSearchFn?: "strong_wolfe" | null,
  );
  constructor(
    params: Params<LBFGSSettings>,
    ...rest: MixedArguments<
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
  );
  constructor(params: Params<LBFGSSettings>, options?: Partial<LBFGSSettings>);
  constructor(params: Params<LBFGSSettings>, ...rest: unknown[]) {
    const settings = readSettings(new.target.name, kSettings, rest);
    const maxEval = settings.maxEval ?? Math.max(1, Math.floor((settings.maxIter * 5) / 4));
    super(params, { ...settings, maxEval }, kSettings);
  }

  override addParamGroup(...rest: [group: GroupOf<LBFGSSettings>]): void {
    if (this.paramGroups.length > 0) {
      const reason = "supports only one parameter group: pass all parameters in one list.";
      fail("InvalidArgument", "LBFGS", reason);
    }
    super.addParamGroup(...rest);
  }

  /**
   * Minimizes the loss that `closure` returns, a tensor or a number; the closure must clear the gradients and compute
   * new ones. Returns the first loss. If the closure throws, parameters and state are restored.
   */
  override step(): never;
  override step<T>(closure: () => T): T;
  override step<T>(...given: [closure?: () => T]): T {
    const { closure } = readArguments("LBFGS.step", kStepArguments, given);
    if (isCapturing()) {
      const reason = "cannot be captured, because its step depends on values that it reads.";
      fail("InvalidArgument", "LBFGS.step", reason);
    }
    const group = this.#group;
    this.checkTypes(group);
    const flat = new FlatParams(group.params);
    const values = flat.values();
    try {
      return this.#minimize<T>(closure, group, flat);
    } catch (error) {
      // Parameters that were not moved are not written, which would increase their version.
      if (flat.hasMoved) flat.set(values);
      throw error;
    } finally {
      flat.releaseAllBut(tensorsOf(this.#own));
      values.dispose();
    }
  }

  #minimize<T>(closure: () => T, group: ParamGroup<LBFGSSettings>, flat: FlatParams): T {
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
    checkRange("LBFGS", "lr", lr);
  }

  // A step depends on the results of the closure, so it cannot be planned.
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

  // As in PyTorch, the state is stored for the first parameter.
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
  let current = first;
  for (let i = 1; i <= maxIter; i++) {
    nIter++;
    const next = nextIteration({ funcEvals, nIter, last }, current, flat, historySize);
    const start = nIter === 1 ? firstStep(current.gradient) * lr : lr;
    last = { ...next, t: start };
    const slope = product(current.gradient, last.d);
    if (slope > -toleranceChange) break;
    const before = current.loss;
    if (group.lineSearchFn !== null) {
      const { trial, evaluations } = search(call, current, last, slope, flat);
      current = trial;
      funcEvals += evaluations;
      last = { ...last, t: trial.step };
    }
    flat.move(last.t, last.d);
    if (i === maxIter) break;
    if (group.lineSearchFn === null) {
      current = call();
      funcEvals++;
    }
    if (funcEvals >= maxEvals || largest(current.gradient) <= toleranceGrad) break;
    if (largest(last.d) * Math.abs(last.t) <= toleranceChange) break;
    if (Math.abs(current.loss - before) < toleranceChange) break;
    flat.releaseAllBut([current.gradient, ...tensorsOf({ funcEvals, nIter, last })]);
  }
  return { funcEvals, nIter, last };
}

// Tries steps along the direction, and restores the parameters afterwards.
function search(
  call: () => Point,
  current: Point,
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
  return strongWolfe(evaluate, { ...current, step: 0, slope }, t, largest(d));
}

function firstStep(gradient: Tensor): number {
  return Math.min(1, 1 / quietly(() => Number(gradient.abs().sum().item())));
}

function lossOf(value: unknown): number {
  if (typeof value === "number") return value;
  if (value instanceof Tensor && value.numel === 1) return Number(value.item());
  const reason = `closure: expected it to return the loss, a tensor of one element or a number, got ${describe(value)}.`;
  return fail("InvalidArgument", "LBFGS.step", reason);
}
