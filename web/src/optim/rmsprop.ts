import { boolean, number, type Values } from "../arguments/rule.js";
import { rmspropStep_ } from "../generated/internal.js";
import { needsPart } from "../runtime/start/parts.js";
import { checkRange } from "./check_range.js";
import { onDemand, optimizer } from "./declaration.js";
import type { PlannedStep, StepInputs } from "./groups.js";
import { zeroState } from "./state.js";

needsPart("extras");

const kSettings = {
  /** The learning rate; default 1e-2. */
  lr: number.or(1e-2),
  /** The decay rate of the running average of the squared gradient; default 0.99. */
  alpha: number.or(0.99),
  /** Added to the denominator; default 1e-8. */
  eps: number.or(1e-8),
  /** The multiple of the parameter that is added to its gradient; default 0. */
  weightDecay: number.or(0),
  /** The share of the previous change that is kept; default 0. */
  momentum: number.or(0),
  /** Divide by the standard deviation instead of the root mean square; default false. */
  centered: boolean.or(false),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

/** Settings of `RMSprop`. */
export interface RMSpropSettings extends Values<typeof kSettings> {}

const kState = {
  step: 0,
  squareAvg: zeroState,
  /** With momentum only. */
  momentumBuffer: onDemand,
  /** When centered only. */
  gradAvg: onDemand,
};

/** RMSprop: divides steps by the running root mean square of the gradient. */
export class RMSprop extends optimizer<
  RMSpropSettings,
  [
    lr: number,
    alpha: number,
    eps: number,
    weightDecay: number,
    momentum: number,
    centered: boolean,
  ],
  typeof kState
>({
  settings: kSettings,
  checks: {
    lr: checkRange,
    eps: checkRange,
    momentum: checkRange,
    weightDecay: checkRange,
    alpha: checkRange,
  },
  state: kState,
}) {
  protected override plan(settings: RMSpropSettings, inputs: StepInputs): readonly PlannedStep[] {
    const { params, grads } = inputs;
    const { lr, alpha, eps, weightDecay, momentum, centered, maximize } = settings;
    const own = params.map((param) => {
      const state = this.stateFor(param, settings);
      if (momentum > 0) this.partOf(state, "momentumBuffer", () => zeroState(param));
      if (centered) this.partOf(state, "gradAvg", () => zeroState(param));
      return state;
    });
    const squareAvgs = own.map((state) => state.squareAvg);
    const buffers = momentum > 0 ? own.flatMap((state) => state.momentumBuffer ?? []) : [];
    const gradAvgs = centered ? own.flatMap((state) => state.gradAvg ?? []) : [];
    const run = () => {
      rmspropStep_(
        params,
        grads,
        squareAvgs,
        buffers,
        gradAvgs,
        lr,
        alpha,
        eps,
        weightDecay,
        momentum,
        maximize,
      );
      for (const state of own) state.step++;
    };
    return [{ params, grads, states: [squareAvgs, buffers, gradAvgs], run }];
  }
}
