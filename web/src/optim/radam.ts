import { boolean, number, type Values } from "../arguments/rule.js";
import { add_, addcdiv_, sqrt } from "../generated/ops.js";
import { needsPart } from "../runtime/start/parts.js";
import { averaged } from "./averages.js";
import { type AdamPositions, kAdamChecks, kNumberPair } from "./betas.js";
import { composed } from "./composed.js";
import { zeroState } from "./state.js";

needsPart("extras");

const kSettings = {
  /** The learning rate; default 1e-3. */
  lr: number.or(1e-3),
  /** The decay rates of the running averages of the gradient and of its square; default [0.9, 0.999]. */
  betas: kNumberPair.or([0.9, 0.999]),
  /** Added to the denominator; default 1e-8. */
  eps: number.or(1e-8),
  /** The strength of weight decay; default 0. */
  weightDecay: number.or(0),
  /** Apply weight decay to the parameters directly, as AdamW does; default false. */
  decoupledWeightDecay: boolean.or(false),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

/** Settings of `RAdam`. */
export interface RAdamSettings extends Values<typeof kSettings> {}

const kState = { step: 0, expAvg: zeroState, expAvgSq: zeroState };

/** RAdam: Adam that divides by the average of squares only once that average is reliable enough. */
export class RAdam extends composed<RAdamSettings, AdamPositions, typeof kState>({
  settings: kSettings,
  checks: kAdamChecks,
  state: kState,
  update(settings, state, param, given) {
    const { lr, betas, eps } = settings;
    const [beta1, beta2] = betas;
    const { step } = state;
    const { expAvg, expAvgSq } = averaged(settings, state, param, given);
    const stepSize = -lr / (1 - beta1 ** step);
    const rectification = rectificationOf(beta2, step);
    if (rectification === null) add_(param, expAvg, stepSize);
    else {
      const factor = stepSize * rectification * Math.sqrt(1 - beta2 ** step);
      addcdiv_(param, expAvg, add_(sqrt(expAvgSq), eps), factor);
    }
  },
}) {}

// The rectification factor for the average of squares; null while its variance is not tractable.
function rectificationOf(beta2: number, step: number): number | null {
  const longest = 2 / (1 - beta2) - 1;
  const length = longest - (2 * step * beta2 ** step) / (1 - beta2 ** step);
  if (!(length > 5)) return null;
  const share = (length - 4) * (length - 2) * longest;
  return Math.sqrt(share / ((longest - 4) * (longest - 2) * length));
}
