import { boolean, number, type Values } from "../arguments/rule.js";
import { add_, copy_, mul_, sub } from "../generated/ops.js";
import { needsPart } from "../runtime/start/parts.js";
import type { Tensor } from "../tensor/tensor.js";
import { checkRange } from "./check_range.js";
import { composed, decayed, parts } from "./composed.js";
import type { StateOf } from "./declaration.js";
import { keptNumber, zeroState } from "./state.js";

needsPart("extras");

const kSettings = {
  /** The learning rate; default 1e-2. */
  lr: number.or(1e-2),
  /** The decay of the parameters; default 1e-4. */
  lambd: number.or(1e-4),
  /** The exponent of the decay of the learning rate; default 0.75. */
  alpha: number.or(0.75),
  /** The step at which averaging starts; default 1e6. */
  t0: number.or(1e6),
  /** The multiple of the parameter that is added to its gradient; default 0. */
  weightDecay: number.or(0),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

/** Settings of `ASGD`. */
export interface ASGDSettings extends Values<typeof kSettings> {}

const kState = { step: 0, eta: 0, mu: 1, ax: zeroState };

/** Averaged stochastic gradient descent; its state contains the average of the parameters, `ax`. */
export class ASGD extends composed<
  ASGDSettings,
  [lr: number, lambd: number, alpha: number, t0: number, weightDecay: number],
  typeof kState
>({
  settings: kSettings,
  checks: { lr: checkRange, weightDecay: checkRange },
  state: kState,
  update({ lr, lambd, alpha, t0, weightDecay }, state, param, given) {
    const ax = parts(state.ax);
    const grad = decayed(given, param, weightDecay);
    mul_(param, 1 - lambd * state.eta);
    add_(param, grad, -state.eta);
    if (state.mu === 1) copy_(ax, param);
    else add_(ax, sub(param, ax), state.mu);
    state.eta = rateFor(param, lr / (1 + lambd * lr * state.step) ** alpha);
    state.mu = rateFor(param, 1 / Math.max(1, state.step - t0));
  },
}) {
  protected override fresh(param: Tensor, settings: ASGDSettings): StateOf<typeof kState> {
    return { ...super.fresh(param, settings), eta: rateFor(param, settings.lr) };
  }
}

// Unlike PyTorch, this does not round the learning rate of float64 parameters to float32.
function rateFor({ dtype }: Tensor, value: number): number {
  return dtype === "float64" || dtype === "complex128" ? value : keptNumber(value);
}
