import { readOptions } from "../arguments/read.js";
import { boolean, number, type Values } from "../arguments/rule.js";
import { noGrad } from "../autograd/grad_mode.js";
import {
  add,
  add_,
  addcdiv_,
  addcmul,
  addcmul_,
  lerp_,
  mul_,
  neg,
  sqrt,
} from "../generated/ops.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";
import { checkRange, Optimizer, type Params, type StepInputs } from "./optimizer.js";
import { loadedNumber, loadedState, numberState, zeroState } from "./state.js";

const kSettings = {
  /** The learning rate; default 1e-2. */
  lr: number.or(1e-2),
  /** How slowly the average of the squared gradient changes; default 0.99. */
  alpha: number.or(0.99),
  /** Added to the denominator; default 1e-8. */
  eps: number.or(1e-8),
  /** The factor of the parameter that is added to its gradient; default 0. */
  weightDecay: number.or(0),
  /** The share of the last change that goes on; default 0. */
  momentum: number.or(0),
  /** Divide by the deviation instead of the root mean square; default false. */
  centered: boolean.or(false),
  /** Climb instead of descending; default false. */
  maximize: boolean.or(false),
};

/** Settings of `RMSprop`. */
export type RMSpropSettings = Values<typeof kSettings>;

interface State {
  step: number;
  squareAvg: Tensor;
  /** With momentum only. */
  momentumBuffer?: Tensor;
  /** When centered only. */
  gradAvg?: Tensor;
}

/** Steps divided by a running root mean square of the gradient. */
export class RMSprop extends Optimizer<RMSpropSettings, State> {
  constructor(params: Params<RMSpropSettings>, ...rest: [settings?: Partial<RMSpropSettings>]) {
    super(params, readOptions(new.target.name, kSettings, rest), kSettings);
  }

  protected override checkSettings(settings: RMSpropSettings): void {
    checkRange("RMSprop", "learning rate", settings.lr);
    checkRange("RMSprop", "epsilon value", settings.eps);
    checkRange("RMSprop", "momentum value", settings.momentum);
    checkRange("RMSprop", "weightDecay value", settings.weightDecay);
    checkRange("RMSprop", "alpha value", settings.alpha);
  }

  protected override update(settings: RMSpropSettings, { params, grads }: StepInputs): void {
    noGrad(() => {
      params.forEach((param, i) => {
        scope(() => this.#updateOne(settings, param, grads[i] as Tensor));
      });
    });
  }

  protected override saveState(state: State): Record<string, Tensor> {
    const { step, squareAvg, momentumBuffer, gradAvg } = state;
    return {
      step: numberState(step),
      square_avg: squareAvg.detach(),
      ...(momentumBuffer && { momentum_buffer: momentumBuffer.detach() }),
      ...(gradAvg && { grad_avg: gradAvg.detach() }),
    };
  }

  protected override loadState(saved: Readonly<Record<string, Tensor>>, param: Tensor): State {
    const load = (key: string) => loadedState("RMSprop", key, saved, param);
    return {
      step: loadedNumber("RMSprop", "step", saved),
      squareAvg: load("square_avg"),
      ...("momentum_buffer" in saved && { momentumBuffer: load("momentum_buffer") }),
      ...("grad_avg" in saved && { gradAvg: load("grad_avg") }),
    };
  }

  #updateOne(settings: RMSpropSettings, param: Tensor, given: Tensor): void {
    const { lr, alpha, eps, weightDecay, momentum, maximize } = settings;
    const state = this.#stateOf(param, settings);
    const signed = maximize ? neg(given) : given;
    const grad = weightDecay === 0 ? signed : add(signed, param, { alpha: weightDecay });
    addcmul_(mul_(state.squareAvg, alpha), grad, grad, { value: 1 - alpha });
    const divisor = add_(sqrt(this.#variance(state, grad, alpha)), eps);
    if (state.momentumBuffer !== undefined && momentum > 0) {
      addcdiv_(mul_(state.momentumBuffer, momentum), grad, divisor);
      add_(param, state.momentumBuffer, { alpha: -lr });
    } else {
      addcdiv_(param, grad, divisor, { value: -lr });
    }
    state.step++;
  }

  #variance({ squareAvg, gradAvg }: State, grad: Tensor, alpha: number): Tensor {
    if (gradAvg === undefined) return squareAvg;
    lerp_(gradAvg, grad, 1 - alpha);
    return addcmul(squareAvg, gradAvg, gradAvg, { value: -1 });
  }

  #stateOf(param: Tensor, { momentum, centered }: RMSpropSettings): State {
    let state = this.state.get(param);
    if (state === undefined) {
      state = { step: 0, squareAvg: zeroState(param) };
      this.state.set(param, state);
    }
    if (momentum > 0) state.momentumBuffer ??= zeroState(param);
    if (centered) state.gradAvg ??= zeroState(param);
    return state;
  }
}
