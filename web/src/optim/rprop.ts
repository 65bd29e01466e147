import { boolean, number, type Values } from "../arguments/rule.js";
import { addcmul_, copy_, fill_, gt, lt, mul, sign, where } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { needsPart } from "../runtime/start/parts.js";
import type { Tensor } from "../tensor/tensor.js";
import { kNumberPair } from "./betas.js";
import { checkRange } from "./check_range.js";
import { composed, parts } from "./composed.js";
import { zeroState } from "./state.js";

needsPart("extras");

const kSettings = {
  /** The size of the first step; default 1e-2. */
  lr: number.or(1e-2),
  /** The factors of the step size if the sign of the gradient changed, and if not; default [0.5, 1.2]. */
  etas: kNumberPair.or([0.5, 1.2]),
  /** The smallest and the largest step size; default [1e-6, 50]. */
  stepSizes: kNumberPair.or([1e-6, 50]),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

/** Settings of `Rprop`. */
export interface RpropSettings extends Values<typeof kSettings> {}

const kState = { step: 0, prev: zeroState, stepSize: firstStepSize };

/** Resilient backpropagation: every element has its own step size, which grows until the sign of its gradient changes. */
export class Rprop extends composed<
  RpropSettings,
  [lr: number, etas: readonly [number, number], stepSizes: readonly [number, number]],
  typeof kState
>({
  settings: kSettings,
  checks: { lr: checkRange, etas: checkEtas },
  state: kState,
  update({ etas, stepSizes }, state, param, given) {
    const prev = parts(state.prev);
    const stepSize = parts(state.stepSize);
    const agreement = mul(given, prev);
    const hasTurned = lt(agreement, 0);
    const shorter = where(hasTurned, mul(stepSize, etas[0]), stepSize);
    const next = where(gt(agreement, 0), mul(stepSize, etas[1]), shorter);
    copy_(stepSize, next.clamp_(stepSizes[0], stepSizes[1]));
    // After a change of sign an element pauses for one step.
    const grad = where(hasTurned, 0, given);
    addcmul_(param, sign(grad), stepSize, -1);
    copy_(prev, grad);
  },
}) {}

function firstStepSize(param: Tensor, { lr }: RpropSettings): Tensor {
  const stepSize = zeroState(param);
  fill_(parts(stepSize), lr);
  return stepSize;
}

function checkEtas(owner: string, name: string, etas: readonly [number, number]): void {
  if (etas[0] > 0 && etas[0] < 1 && etas[1] > 1) return;
  const reason = `${name}: expected 0 < etas[0] < 1 < etas[1], got ${etas[0]} and ${etas[1]}.`;
  fail("InvalidArgument", owner, reason);
}
