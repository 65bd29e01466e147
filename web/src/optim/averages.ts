// The running averages of NAdam and RAdam, which compute their steps from them.

import { addcmul_, lerp_, mul_ } from "../generated/ops.js";
import type { Tensor } from "../tensor/tensor.js";
import { decayed, flush_, parts } from "./composed.js";

interface Settings {
  readonly lr: number;
  readonly betas: readonly [number, number];
  readonly eps: number;
  readonly weightDecay: number;
  readonly decoupledWeightDecay: boolean;
}

interface Averages {
  readonly expAvg: Tensor;
  readonly expAvgSq: Tensor;
}

/** Applies weight decay, and updates the averages of the gradient and of its square. Returns all three as real numbers. */
export function averaged(
  settings: Settings,
  state: Averages,
  param: Tensor,
  given: Tensor,
): Averages & { readonly grad: Tensor } {
  const { lr, betas, eps, weightDecay, decoupledWeightDecay } = settings;
  const [beta1, beta2] = betas;
  const [expAvg, expAvgSq] = [parts(state.expAvg), parts(state.expAvgSq)];
  if (decoupledWeightDecay && weightDecay !== 0) mul_(param, 1 - lr * weightDecay);
  const grad = decoupledWeightDecay ? given : decayed(given, param, weightDecay);
  lerp_(expAvg, grad, 1 - beta1);
  addcmul_(mul_(expAvgSq, beta2), grad, grad, 1 - beta2);
  if (eps > 0) {
    flush_(expAvg, 1 - beta1);
    flush_(expAvgSq, beta2);
  }
  return { grad, expAvg, expAvgSq };
}
