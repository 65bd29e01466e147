import { boolean, number, type Values } from "../arguments/rule.js";
import { sgdStep_ } from "../generated/internal.js";
import { add_, mul_ } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { checkRange } from "./check_range.js";
import { optimizer } from "./declaration.js";
import type { PlannedStep, StepInputs } from "./groups.js";
import { quietly } from "./quietly.js";
import { refuseDecay } from "./sparse_rows.js";
import { zeroState } from "./state.js";

const kSettings = {
  /** The learning rate; default 1e-3. */
  lr: number.or(1e-3),
  /** The share of the previous change that is kept; default 0. */
  momentum: number.or(0),
  /** The share of the gradient that is not added to the momentum; default 0. */
  dampening: number.or(0),
  /** The multiple of the parameter that is added to its gradient; default 0. */
  weightDecay: number.or(0),
  /** Use Nesterov momentum, which looks ahead along the momentum; default false. */
  nesterov: boolean.or(false),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

/** Settings of `SGD`. */
export interface SGDSettings extends Values<typeof kSettings> {}

const kState = { momentumBuffer: zeroState };

/** Stochastic gradient descent, optionally with momentum. */
export class SGD extends optimizer<
  SGDSettings,
  [lr: number, momentum: number, dampening: number, weightDecay: number, nesterov: boolean],
  typeof kState
>({
  settings: kSettings,
  checks: { lr: checkRange, momentum: checkRange, weightDecay: checkRange },
  state: kState,
}) {
  protected override checkSettings(settings: SGDSettings): void {
    super.checkSettings(settings);
    if (settings.nesterov && (settings.momentum <= 0 || settings.dampening !== 0)) {
      fail("InvalidArgument", "SGD", "nesterov: needs a momentum above 0 and a dampening of 0.");
    }
  }

  protected override plan(settings: SGDSettings, inputs: StepInputs): readonly PlannedStep[] {
    const { params, grads } = inputs;
    if (settings.momentum === 0) {
      return [{ ...inputs, states: [], run: () => run(settings, inputs, [], false) }];
    }
    // The first gradient of a parameter becomes its momentum, and parameters may get their first gradient at different steps.
    const positions = [...params.keys()];
    const newcomers = positions.filter((i) => !this.state.has(params[i] as Tensor));
    const others = positions.filter((i) => this.state.has(params[i] as Tensor));
    return [others, newcomers].flatMap((chosen) => {
      if (chosen.length === 0) return [];
      const own = {
        params: chosen.map((i) => params[i] as Tensor),
        grads: chosen.map((i) => grads[i] as Tensor),
      };
      const buffers = own.params.map((param) => this.stateFor(param, settings).momentumBuffer);
      const isFirst = chosen === newcomers;
      return [{ ...own, states: [buffers], run: () => run(settings, own, buffers, isFirst) }];
    });
  }

  // Without momentum only the rows that have a gradient change.
  protected override planSparse(settings: SGDSettings, inputs: StepInputs): readonly PlannedStep[] {
    const { lr, momentum, dampening, weightDecay, nesterov, maximize } = settings;
    refuseDecay(this.constructor.name, weightDecay);
    const sign = maximize ? -1 : 1;
    const buffers = inputs.params.map((param) => {
      if (momentum === 0) return null;
      const isFirst = !this.state.has(param);
      return { isFirst, momentumBuffer: this.stateFor(param, settings).momentumBuffer };
    });
    const run = () => {
      inputs.params.forEach((param, i) => {
        const grad = inputs.grads[i] as Tensor;
        const own = buffers[i] ?? null;
        quietly(() => {
          if (own !== null) {
            const { isFirst, momentumBuffer } = own;
            const share = isFirst ? 1 : 1 - dampening;
            add_(mul_(momentumBuffer, momentum), grad, sign * share);
            add_(param, momentumBuffer, nesterov ? -lr * momentum : -lr);
          }
          if (own === null || nesterov) add_(param, grad, -lr * sign);
        });
      });
    };
    return [{ ...inputs, states: [], isSparse: true, run }];
  }
}

function run(
  settings: SGDSettings,
  { params, grads }: StepInputs,
  buffers: readonly Tensor[],
  isFirst: boolean,
): void {
  const { lr, momentum, dampening, weightDecay, nesterov, maximize } = settings;
  sgdStep_(
    params,
    grads,
    buffers,
    lr,
    momentum,
    dampening,
    weightDecay,
    nesterov,
    maximize,
    isFirst,
  );
}
