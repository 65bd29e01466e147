import { readOptions } from "../arguments/read.js";
import { boolean, number, type Values } from "../arguments/rule.js";
import { noGrad } from "../autograd/grad_mode.js";
import { add, add_, addcdiv_, addcmul_, neg, sqrt } from "../generated/ops.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";
import { checkRange, type GroupOf, Optimizer, type Params, type StepInputs } from "./optimizer.js";
import { fullState, loadedNumber, loadedState, numberState } from "./state.js";

const kSettings = {
  /** The learning rate; default 1e-2. */
  lr: number.or(1e-2),
  /** How fast the learning rate falls with the steps; default 0. */
  lrDecay: number.or(0),
  /** The factor of the parameter that is added to its gradient; default 0. */
  weightDecay: number.or(0),
  /** What the sums of squares begin with; default 0. */
  initialAccumulatorValue: number.or(0),
  /** Added to the denominator; default 1e-10. */
  eps: number.or(1e-10),
  /** Climb instead of descending; default false. */
  maximize: boolean.or(false),
};

/** Settings of `Adagrad`. */
export type AdagradSettings = Values<typeof kSettings>;

interface State {
  step: number;
  sum: Tensor;
}

/** Steps divided by the root of the sum of all squared gradients so far. */
export class Adagrad extends Optimizer<AdagradSettings, State> {
  constructor(params: Params<AdagradSettings>, ...rest: [settings?: Partial<AdagradSettings>]) {
    super(params, readOptions(new.target.name, kSettings, rest), kSettings);
  }

  override addParamGroup(group: GroupOf<AdagradSettings>): void {
    super.addParamGroup(group);
    // PyTorch's state is there before the first step, and so in every state dict.
    const added = this.paramGroups[this.paramGroups.length - 1];
    if (added !== undefined) for (const param of added.params) this.stateOf(param, added);
  }

  protected override checkSettings(settings: AdagradSettings): void {
    const { lr, lrDecay, weightDecay, initialAccumulatorValue, eps } = settings;
    checkRange("Adagrad", "learning rate", lr);
    checkRange("Adagrad", "lrDecay value", lrDecay);
    checkRange("Adagrad", "weightDecay value", weightDecay);
    checkRange("Adagrad", "initialAccumulatorValue value", initialAccumulatorValue);
    checkRange("Adagrad", "epsilon value", eps);
  }

  protected override update(settings: AdagradSettings, { params, grads }: StepInputs): void {
    noGrad(() => {
      params.forEach((param, i) => {
        scope(() => this.#updateOne(settings, param, grads[i] as Tensor));
      });
    });
  }

  protected override saveState({ step, sum }: State): Record<string, Tensor> {
    return { step: numberState(step), sum: sum.detach() };
  }

  protected override loadState(saved: Readonly<Record<string, Tensor>>, param: Tensor): State {
    return {
      step: loadedNumber("Adagrad", "step", saved),
      sum: loadedState("Adagrad", "sum", saved, param),
    };
  }

  #updateOne(settings: AdagradSettings, param: Tensor, given: Tensor): void {
    const { lr, lrDecay, weightDecay, eps, maximize } = settings;
    const state = this.stateOf(param, settings);
    const signed = maximize ? neg(given) : given;
    const grad = weightDecay === 0 ? signed : add(signed, param, { alpha: weightDecay });
    addcmul_(state.sum, grad, grad);
    addcdiv_(param, grad, add_(sqrt(state.sum), eps), { value: -lr / (1 + state.step * lrDecay) });
    state.step++;
  }

  // Not #private: the base class makes groups before the private methods are there.
  private stateOf(param: Tensor, { initialAccumulatorValue }: AdagradSettings): State {
    let state = this.state.get(param);
    if (state === undefined) {
      state = { step: 0, sum: fullState(param, initialAccumulatorValue) };
      this.state.set(param, state);
    }
    return state;
  }
}
