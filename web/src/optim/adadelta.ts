import { boolean, number, type Values } from "../arguments/rule.js";
import { add, add_, addcmul_, mul_ } from "../generated/ops.js";
import { needsPart } from "../runtime/start/parts.js";
import { checkRange } from "./check_range.js";
import { composed, decayed, flush_, parts } from "./composed.js";
import { zeroState } from "./state.js";

needsPart("extras");

const kSettings = {
  /** The learning rate, a factor of every change; default 1. */
  lr: number.or(1),
  /** The decay rate of the running averages of squares; default 0.9. */
  rho: number.or(0.9),
  /** Added to both averages; default 1e-6. */
  eps: number.or(1e-6),
  /** The multiple of the parameter that is added to its gradient; default 0. */
  weightDecay: number.or(0),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

/** Settings of `Adadelta`. */
export interface AdadeltaSettings extends Values<typeof kSettings> {}

const kState = { step: 0, squareAvg: zeroState, accDelta: zeroState };

/** Adadelta: the ratio of the averages of earlier steps and earlier gradients determines the size of a step. */
export class Adadelta extends composed<
  AdadeltaSettings,
  [lr: number, rho: number, eps: number, weightDecay: number],
  typeof kState
>({
  settings: kSettings,
  checks: { lr: checkRange, rho: checkShare, eps: checkRange, weightDecay: checkRange },
  state: kState,
  update({ lr, rho, eps, weightDecay }, state, param, given) {
    const squareAvg = parts(state.squareAvg);
    const accDelta = parts(state.accDelta);
    const grad = decayed(given, param, weightDecay);
    addcmul_(mul_(squareAvg, rho), grad, grad, 1 - rho);
    const deviation = add(squareAvg, eps).sqrt_();
    const delta = add(accDelta, eps).sqrt_().div_(deviation).mul_(grad);
    addcmul_(mul_(accDelta, rho), delta, delta, 1 - rho);
    if (eps > 0) {
      flush_(squareAvg, rho);
      flush_(accDelta, rho);
    }
    add_(param, delta, -lr);
  },
}) {}

function checkShare(owner: string, name: string, share: number): void {
  checkRange(owner, name, share);
  checkRange(owner, `1 - ${name}`, 1 - share);
}
