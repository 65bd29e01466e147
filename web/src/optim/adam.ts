import { boolean, number, type Values } from "../arguments/rule.js";
import { adamStep_ } from "../generated/internal.js";
import { type AdamPositions, kAdamChecks, kNumberPair } from "./betas.js";
import {
  byStep,
  type DeclaredOptimizer,
  type OptimizerClass,
  onDemand,
  optimizer,
} from "./declaration.js";
import type { PlannedStep, StepInputs } from "./groups.js";
import { zeroState } from "./state.js";

const kSettings = {
  /** The learning rate; default 1e-3. */
  lr: number.or(1e-3),
  /** The decay rates of the running averages of the gradient and of its square; default [0.9, 0.999]. */
  betas: kNumberPair.or([0.9, 0.999]),
  /** Added to the denominator; default 1e-8. */
  eps: number.or(1e-8),
  /** The strength of weight decay; default 0, for AdamW 0.01. */
  weightDecay: number.or(0),
  /** Use the largest average of squares so far (AMSGrad); default false. */
  amsgrad: boolean.or(false),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

const kDecoupledSettings = { ...kSettings, weightDecay: number.or(0.01) };

/** Settings of `Adam` and `AdamW`. */
export interface AdamSettings extends Values<typeof kSettings> {}

const kState = {
  step: 0,
  expAvg: zeroState,
  expAvgSq: zeroState,
  /** With AMSGrad only. */
  maxExpAvgSq: onDemand,
};

type Positional = [...AdamPositions, amsgrad: boolean];

// Adam adds the weight decay to the gradient, AdamW applies it to the parameter directly.
function adam(
  declared: typeof kSettings,
  isDecoupled: boolean,
): OptimizerClass<AdamSettings, Positional, DeclaredOptimizer<AdamSettings, typeof kState>> {
  return class extends optimizer<AdamSettings, Positional, typeof kState>({
    settings: declared,
    checks: kAdamChecks,
    state: kState,
  }) {
    protected override plan(settings: AdamSettings, inputs: StepInputs): readonly PlannedStep[] {
      const { lr, betas, eps, weightDecay, amsgrad, maximize } = settings;
      const all = inputs.params.map((param) => {
        const state = this.stateFor(param, settings);
        if (amsgrad) this.partOf(state, "maxExpAvgSq", () => zeroState(param));
        return state;
      });
      // The bias correction depends on the step number.
      return byStep(inputs, all).map(({ params, grads, states, step }): PlannedStep => {
        const expAvgs = states.map((state) => state.expAvg);
        const expAvgSqs = states.map((state) => state.expAvgSq);
        const maxima = amsgrad ? states.flatMap((state) => state.maxExpAvgSq ?? []) : [];
        const run = () => {
          adamStep_(
            params,
            grads,
            expAvgs,
            expAvgSqs,
            maxima,
            step + 1,
            lr,
            betas[0],
            betas[1],
            eps,
            weightDecay,
            isDecoupled,
            maximize,
          );
          for (const state of states) state.step = step + 1;
        };
        return { params, grads, states: [expAvgs, expAvgSqs, maxima], run };
      });
    }
  };
}

/** Adam: steps scaled by running averages of the gradient and of its square. */
export class Adam extends adam(kSettings, false) {}

/** Adam with decoupled weight decay, which does not affect the running averages. */
export class AdamW extends adam(kDecoupledSettings, true) {}
