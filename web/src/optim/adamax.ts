import type { Arguments } from "../arguments/read.js";
import { boolean, number, type Values } from "../arguments/rule.js";
import { abs, addcdiv_, lerp_, maximum_, mul_ } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { checkBetas, kNumberPair } from "./betas.js";
import { ComposedOptimizer, decayed, flush_, parts, type StateOf } from "./composed.js";
import { checkRange, type Params, readSettings } from "./optimizer.js";
import { zeroState } from "./state.js";

const kSettings = {
  /** The learning rate; default 2e-3. */
  lr: number.or(2e-3),
  /** The decay rates of the running average of the gradient and of its maximum; default [0.9, 0.999]. */
  betas: kNumberPair.or([0.9, 0.999]),
  /** Added to the size of the gradient; default 1e-8. */
  eps: number.or(1e-8),
  /** The multiple of the parameter that is added to its gradient; default 0. */
  weightDecay: number.or(0),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

/** Settings of `Adamax`. */
export type AdamaxSettings = Values<typeof kSettings>;

const kState = { step: 0, expAvg: zeroState, expInf: zeroState };

/** Adamax: Adam that divides by the decaying maximum of the gradient instead of by the root of averaged squares. */
export class Adamax extends ComposedOptimizer<AdamaxSettings, typeof kState> {
  constructor(
    params: Params<AdamaxSettings>,
    ...rest: Arguments<
      [lr: number, betas: readonly [number, number], eps: number, weightDecay: number],
      Partial<AdamaxSettings>
    >
  ) {
    super(params, readSettings(new.target.name, kSettings, rest), kSettings, kState);
  }

  protected override checkSettings(settings: AdamaxSettings): void {
    checkRange("Adamax", "lr", settings.lr);
    checkRange("Adamax", "eps", settings.eps);
    checkBetas("Adamax", settings.betas);
    checkRange("Adamax", "weightDecay", settings.weightDecay);
  }

  protected override update(
    { lr, betas, eps, weightDecay }: AdamaxSettings,
    state: StateOf<typeof kState>,
    param: Tensor,
    given: Tensor,
  ): void {
    const [beta1, beta2] = betas;
    const expAvg = parts(state.expAvg);
    const expInf = parts(state.expInf);
    const grad = decayed(given, param, weightDecay);
    lerp_(expAvg, grad, 1 - beta1);
    if (eps > 0) flush_(expAvg, 1 - beta1);
    maximum_(mul_(expInf, beta2), abs(grad).add_(eps));
    addcdiv_(param, expAvg, expInf, -lr / (1 - beta1 ** state.step));
  }
}
