// The history of L-BFGS, the search direction computed from it, and its form in a state dict.

import { add_, clone, mul, mul_, neg, sub } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import { quietly } from "../quietly.js";
import { loadedNumber } from "../state.js";
import { type FlatParams, product } from "./flat_params.js";

/** A value of the state dict: a vector, a number, or a list of either. */
export type LBFGSValue = Tensor | number | readonly Tensor[] | readonly number[];

/** The state after an iteration. It is immutable: the next iteration replaces it. */
export interface Iteration {
  /** The direction, and the step along it. */
  readonly d: Tensor;
  readonly t: number;
  /** The last changes of the gradient, and the steps that made them. */
  readonly oldDirs: readonly Tensor[];
  readonly oldStps: readonly Tensor[];
  /** The reciprocals of their dot products. */
  readonly ro: readonly number[];
  readonly hDiag: number;
  readonly prevFlatGrad: Tensor;
  readonly prevLoss: number;
}

/** The state of the optimizer. */
export interface LBFGSState {
  readonly funcEvals: number;
  readonly nIter: number;
  /** Null before the first iteration. */
  readonly last: Iteration | null;
}

/** A point at which the closure was called. */
export interface Point {
  readonly loss: number;
  readonly gradient: Tensor;
}

/** Starts an iteration at a point: chooses the direction, using the curvature from the previous steps. */
export function nextIteration(
  { last }: LBFGSState,
  { loss, gradient }: Point,
  flat: FlatParams,
  historySize: number,
): Iteration {
  const start = { t: 0, prevFlatGrad: gradient, prevLoss: loss };
  if (last === null) {
    const d = flat.hold(() => neg(gradient));
    return { d, oldDirs: [], oldStps: [], ro: [], hDiag: 1, ...start };
  }
  let { oldDirs, oldStps, ro, hDiag } = last;
  const change = flat.hold(() => sub(gradient, last.prevFlatGrad));
  const step = flat.hold(() => mul(last.d, last.t));
  const curvature = product(change, step);
  if (curvature > kSmallestCurvature) {
    oldDirs = [...oldDirs, change].slice(-historySize);
    oldStps = [...oldStps, step].slice(-historySize);
    ro = [...ro, 1 / curvature].slice(-historySize);
    hDiag = curvature / product(change, change);
  }
  const history = { oldDirs, oldStps, ro, hDiag };
  return { d: directionOf(history, gradient, flat), ...history, ...start };
}

const kSmallestCurvature = 1e-10;

// The approximate inverse Hessian times the negative gradient, by the two-loop recursion over the history.
function directionOf(
  { oldDirs, oldStps, ro, hDiag }: Pick<Iteration, "oldDirs" | "oldStps" | "ro" | "hDiag">,
  gradient: Tensor,
  flat: FlatParams,
): Tensor {
  const pairs = oldDirs.map((change, i) => ({
    change,
    step: oldStps[i] as Tensor,
    scale: ro[i] as number,
  }));
  const d = flat.hold(() => neg(gradient));
  const shares = new Map<Tensor, number>();
  for (const { change, step, scale } of [...pairs].reverse()) {
    const share = product(step, d) * scale;
    shares.set(step, share);
    quietly(() => add_(d, change, -share));
  }
  quietly(() => mul_(d, hDiag));
  for (const { change, step, scale } of pairs) {
    const share = (shares.get(step) ?? 0) - product(change, d) * scale;
    quietly(() => add_(d, step, share));
  }
  return d;
}

/** Returns the tensors of a state. */
export function tensorsOf({ last }: LBFGSState): Tensor[] {
  return last === null ? [] : [last.d, last.prevFlatGrad, ...last.oldDirs, ...last.oldStps];
}

/** Returns a state under PyTorch's names. */
export function saved({ funcEvals, nIter, last }: LBFGSState): Record<string, LBFGSValue> {
  const counts = { func_evals: funcEvals, n_iter: nIter };
  if (last === null) return counts;
  return {
    ...counts,
    d: last.d.detach(),
    t: last.t,
    old_dirs: last.oldDirs.map((direction) => direction.detach()),
    old_stps: last.oldStps.map((step) => step.detach()),
    ro: last.ro,
    H_diag: last.hDiag,
    prev_flat_grad: last.prevFlatGrad.detach(),
    prev_loss: last.prevLoss,
  };
}

/** Returns the state from the result of saved(), for parameters with `count` elements in total, on the device of `param`. */
export function loaded(
  state: Readonly<Record<string, LBFGSValue>>,
  param: Tensor,
  count: number,
): LBFGSState {
  const numberOf = (name: string) => loadedNumber("LBFGS", name, state as Record<string, number>);
  const vector = (name: string, value: unknown): Tensor => {
    if (!(value instanceof Tensor)) fail("InvalidArgument", "LBFGS", `the state has no "${name}".`);
    if (value.ndim !== 1 || value.numel !== count) {
      const reason = `"${name}" has shape [${value.shape}], but the parameters need [${count}].`;
      fail("ShapeMismatch", "LBFGS", reason);
    }
    return clone(value.detach().to(param.device));
  };
  const vectors = (name: string) => listIn(state, name).map((value) => vector(name, value));
  const counts = { funcEvals: numberOf("func_evals"), nIter: numberOf("n_iter") };
  if (state.d === undefined) return { ...counts, last: null };
  const ro = listIn(state, "ro").map((value) => loadedNumber("LBFGS", "ro", { ro: value }));
  const last = {
    d: vector("d", state.d),
    t: numberOf("t"),
    oldDirs: vectors("old_dirs"),
    oldStps: vectors("old_stps"),
    ro,
    hDiag: numberOf("H_diag"),
    prevFlatGrad: vector("prev_flat_grad", state.prev_flat_grad),
    prevLoss: numberOf("prev_loss"),
  };
  return { ...counts, last };
}

function listIn(
  state: Readonly<Record<string, LBFGSValue>>,
  name: string,
): readonly (Tensor | number)[] {
  const value = state[name];
  if (Array.isArray(value)) return value;
  return fail("InvalidArgument", "LBFGS", `the state has no list "${name}".`);
}
