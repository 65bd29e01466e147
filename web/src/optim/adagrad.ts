import { boolean, number, type Values } from "../arguments/rule.js";
import { adagradStep_ } from "../generated/internal.js";
import { add, addcdiv, addcmul, sqrt } from "../generated/ops.js";
import { needsPart } from "../runtime/start/parts.js";
import type { Tensor } from "../tensor/tensor.js";
import { checkRange } from "./check_range.js";
import { byStep, optimizer } from "./declaration.js";
import type { GroupOf, PlannedStep, StepInputs } from "./groups.js";
import { plannedByRows, refuseDecay } from "./sparse_rows.js";
import { fullState } from "./state.js";

needsPart("extras");

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
export interface AdagradSettings extends Values<typeof kSettings> {}

const kState = {
  step: 0,
  sum: (param: Tensor, settings: AdagradSettings) =>
    fullState(param, settings.initialAccumulatorValue),
};

/** Adagrad: divides steps by the root of the sum of all squared gradients so far. */
export class Adagrad extends optimizer<
  AdagradSettings,
  [lr: number, lrDecay: number, weightDecay: number, initialAccumulatorValue: number, eps: number],
  typeof kState
>({
  settings: kSettings,
  checks: {
    lr: checkRange,
    lrDecay: checkRange,
    weightDecay: checkRange,
    initialAccumulatorValue: checkRange,
    eps: checkRange,
  },
  state: kState,
}) {
  override addParamGroup(group: GroupOf<AdagradSettings>): void {
    super.addParamGroup(group);
    // As in PyTorch, the state exists before the first step, and thus in every state dict.
    const added = this.paramGroups[this.paramGroups.length - 1];
    if (added !== undefined) for (const param of added.params) this.stateFor(param, added);
  }

  protected override plan(settings: AdagradSettings, inputs: StepInputs): readonly PlannedStep[] {
    const { lr, lrDecay, weightDecay, eps, maximize } = settings;
    const all = inputs.params.map((param) => this.stateFor(param, settings));
    // The learning rate depends on the step number.
    return byStep(inputs, all).map(({ params, grads, states, step }): PlannedStep => {
      const sums = states.map((state) => state.sum);
      const run = () => {
        adagradStep_(params, grads, sums, lr / (1 + step * lrDecay), eps, weightDecay, maximize);
        for (const state of states) state.step++;
      };
      return { params, grads, states: [sums], run };
    });
  }

  protected override planSparse(
    settings: AdagradSettings,
    inputs: StepInputs,
  ): readonly PlannedStep[] {
    const { lr, lrDecay, weightDecay, eps, maximize } = settings;
    refuseDecay(this.constructor.name, weightDecay);
    const states = inputs.params.map((param) => this.stateFor(param, settings));
    return plannedByRows(inputs, (param, rows, i) => {
      const state = states[i] as (typeof states)[number];
      const rate = (lr / (1 + state.step * lrDecay)) * (maximize ? -1 : 1);
      state.step++;
      const sum = addcmul(rows.take(state.sum), rows.values, rows.values);
      rows.put_(state.sum, sum);
      rows.put_(param, addcdiv(rows.take(param), rows.values, add(sqrt(sum), eps), -rate));
    });
  }
}
