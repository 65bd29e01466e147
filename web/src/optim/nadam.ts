import { boolean, number, type Values } from "../arguments/rule.js";
import { addcdiv_, div } from "../generated/ops.js";
import { needsPart } from "../runtime/start/parts.js";
import { averaged } from "./averages.js";
import { type AdamPositions, kAdamChecks, kNumberPair } from "./betas.js";
import { checkRange } from "./check_range.js";
import { composed } from "./composed.js";
import { keptNumber, zeroState } from "./state.js";

needsPart("extras");

const kSettings = {
  /** The learning rate; default 2e-3. */
  lr: number.or(2e-3),
  /** The decay rates of the running averages of the gradient and of its square; default [0.9, 0.999]. */
  betas: kNumberPair.or([0.9, 0.999]),
  /** Added to the denominator; default 1e-8. */
  eps: number.or(1e-8),
  /** The strength of weight decay; default 0. */
  weightDecay: number.or(0),
  /** The decay of the momentum schedule; default 4e-3. */
  momentumDecay: number.or(4e-3),
  /** Apply weight decay to the parameters directly, as AdamW does; default false. */
  decoupledWeightDecay: boolean.or(false),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

/** Settings of `NAdam`. */
export interface NAdamSettings extends Values<typeof kSettings> {}

const kState = { step: 0, muProduct: 1, expAvg: zeroState, expAvgSq: zeroState };

/** NAdam: Adam with Nesterov momentum, which looks ahead along the average of the gradient. */
export class NAdam extends composed<
  NAdamSettings,
  [...AdamPositions, momentumDecay: number],
  typeof kState
>({
  settings: kSettings,
  checks: { ...kAdamChecks, momentumDecay: checkRange },
  state: kState,
  update(settings, state, param, given) {
    const { lr, betas, eps, momentumDecay } = settings;
    const [beta1, beta2] = betas;
    const { step } = state;
    const { grad, expAvg, expAvgSq } = averaged(settings, state, param, given);

    const momentumAt = (at: number) => beta1 * (1 - 0.5 * 0.96 ** (at * momentumDecay));
    const mu = momentumAt(step);
    const nextMu = momentumAt(step + 1);
    state.muProduct = keptNumber(state.muProduct * keptNumber(mu));

    const denominator = div(expAvgSq, 1 - beta2 ** step)
      .sqrt_()
      .add_(eps);
    addcdiv_(param, grad, denominator, (-lr * (1 - mu)) / (1 - state.muProduct));
    addcdiv_(param, expAvg, denominator, (-lr * nextMu) / (1 - state.muProduct * nextMu));
  },
}) {}
