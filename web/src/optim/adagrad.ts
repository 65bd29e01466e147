import type { Arguments } from "../arguments/read.js";
import { boolean, number, type Values } from "../arguments/rule.js";
import { adagradStep_ } from "../generated/internal.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  checkRange,
  type GroupOf,
  Optimizer,
  type Params,
  type PlannedStep,
  readSettings,
  type StepInputs,
} from "./optimizer.js";
import { fullState, loadedNumber, loadedState, numberState } from "./state.js";

const kSettings = {
  /** The learning rate; default 1e-2. */
  lr: number.or(1e-2),
  /** The decay of the learning rate with the number of steps; default 0. */
  lrDecay: number.or(0),
  /** The multiple of the parameter that is added to its gradient; default 0. */
  weightDecay: number.or(0),
  /** The initial value of the sums of squares; default 0. */
  initialAccumulatorValue: number.or(0),
  /** Added to the denominator; default 1e-10. */
  eps: number.or(1e-10),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

/** Settings of `Adagrad`. */
export type AdagradSettings = Values<typeof kSettings>;

interface State {
  step: number;
  sum: Tensor;
}

/** Adagrad: divides steps by the root of the sum of all squared gradients so far. */
export class Adagrad extends Optimizer<AdagradSettings, State> {
  constructor(
    params: Params<AdagradSettings>,
    ...rest: Arguments<
      [
        lr: number,
        lrDecay: number,
        weightDecay: number,
        initialAccumulatorValue: number,
        eps: number,
      ],
      Partial<AdagradSettings>
    >
  ) {
    super(params, readSettings(new.target.name, kSettings, rest), kSettings);
  }

  override addParamGroup(group: GroupOf<AdagradSettings>): void {
    super.addParamGroup(group);
    // As in PyTorch, the state exists before the first step, and thus in every state dict.
    const added = this.paramGroups[this.paramGroups.length - 1];
    if (added !== undefined) for (const param of added.params) this.stateOf(param, added);
  }

  protected override checkSettings(settings: AdagradSettings): void {
    const { lr, lrDecay, weightDecay, initialAccumulatorValue, eps } = settings;
    checkRange("Adagrad", "lr", lr);
    checkRange("Adagrad", "lrDecay", lrDecay);
    checkRange("Adagrad", "weightDecay", weightDecay);
    checkRange("Adagrad", "initialAccumulatorValue", initialAccumulatorValue);
    checkRange("Adagrad", "eps", eps);
  }

  protected override plan(settings: AdagradSettings, inputs: StepInputs): readonly PlannedStep[] {
    const all = inputs.params.map((param) => this.stateOf(param, settings));
    // The learning rate depends on the step number, which is equal for all parameters except those that got gradients later.
    return [...new Set(all.map((state) => state.step))].map((step): PlannedStep => {
      const chosen = [...all.keys()].filter((i) => all[i]?.step === step);
      const pick = <T>(values: readonly T[]) => chosen.map((i) => values[i] as T);
      const params = pick(inputs.params);
      const grads = pick(inputs.grads);
      const own = pick(all);
      const sums = own.map((state) => state.sum);
      const { lr, lrDecay, weightDecay, eps, maximize } = settings;
      const run = () => {
        adagradStep_(params, grads, sums, lr / (1 + step * lrDecay), eps, weightDecay, maximize);
        for (const state of own) state.step++;
      };
      return { params, grads, states: [sums], run };
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

  // Not #private, because the base class's constructor adds groups before private methods exist.
  private stateOf(param: Tensor, { initialAccumulatorValue }: AdagradSettings): State {
    return (
      this.state.get(param) ??
      this.addState(param, { step: 0, sum: fullState(param, initialAccumulatorValue) })
    );
  }
}
