import type { Arguments } from "../arguments/read.js";
import { boolean, number, type Values } from "../arguments/rule.js";
import { addcmul_, copy_, fill_, gt, lt, mul, sign, where } from "../generated/ops.js";
import { fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { kNumberPair } from "./betas.js";
import { ComposedOptimizer, parts, type StateOf } from "./composed.js";
import { checkRange, type Params, readSettings } from "./optimizer.js";
import { zeroState } from "./state.js";

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
export type RpropSettings = Values<typeof kSettings>;

const kState = { step: 0, prev: zeroState, stepSize: zeroState };

/** Resilient backpropagation: every element has its own step size, which grows until the sign of its gradient changes. */
export class Rprop extends ComposedOptimizer<RpropSettings, typeof kState> {
  constructor(
    params: Params<RpropSettings>,
    ...rest: Arguments<
      [lr: number, etas: readonly [number, number], stepSizes: readonly [number, number]],
      Partial<RpropSettings>
    >
  ) {
    super(params, readSettings(new.target.name, kSettings, rest), kSettings, kState);
  }

  protected override checkSettings({ lr, etas }: RpropSettings): void {
    checkRange("Rprop", "lr", lr);
    if (etas[0] > 0 && etas[0] < 1 && etas[1] > 1) return;
    fail(
      "InvalidArgument",
      "Rprop",
      `etas: expected 0 < etas[0] < 1 < etas[1], got ${etas[0]} and ${etas[1]}.`,
    );
  }

  protected override fresh(param: Tensor, settings: RpropSettings): StateOf<typeof kState> {
    const state = super.fresh(param, settings);
    fill_(parts(state.stepSize), settings.lr);
    return state;
  }

  protected override update(
    { etas, stepSizes }: RpropSettings,
    state: StateOf<typeof kState>,
    param: Tensor,
    given: Tensor,
  ): void {
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
  }
}
