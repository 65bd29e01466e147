import { boolean, number, type Values } from "../arguments/rule.js";
import { abs, addcdiv_, lerp_, maximum_, mul_ } from "../generated/ops.js";
import { needsPart } from "../runtime/start/parts.js";
import { type AdamPositions, kAdamChecks, kNumberPair } from "./betas.js";
import { composed, decayed, flush_, parts } from "./composed.js";
import { zeroState } from "./state.js";

needsPart("extras");

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
export interface AdamaxSettings extends Values<typeof kSettings> {}

const kState = { step: 0, expAvg: zeroState, expInf: zeroState };

/** Adamax: Adam that divides by the decaying maximum of the gradient instead of by the root of averaged squares. */
export class Adamax extends composed<AdamaxSettings, AdamPositions, typeof kState>({
  settings: kSettings,
  checks: kAdamChecks,
  state: kState,
  update({ lr, betas, eps, weightDecay }, state, param, given) {
    const [beta1, beta2] = betas;
    const expAvg = parts(state.expAvg);
    const expInf = parts(state.expInf);
    const grad = decayed(given, param, weightDecay);
    lerp_(expAvg, grad, 1 - beta1);
    if (eps > 0) flush_(expAvg, 1 - beta1);
    maximum_(mul_(expInf, beta2), abs(grad).add_(eps));
    addcdiv_(param, expAvg, expInf, -lr / (1 - beta1 ** state.step));
  },
}) {}
