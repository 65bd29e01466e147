import type { Arguments } from "../arguments/read.js";
import { boolean, number, type Values } from "../arguments/rule.js";
import { adamStep_ } from "../generated/internal.js";
import type { Tensor } from "../tensor/tensor.js";
import { checkBetas, kNumberPair } from "./betas.js";
import {
  checkRange,
  Optimizer,
  type Params,
  type PlannedStep,
  readSettings,
  type StepInputs,
} from "./optimizer.js";
import { loadedNumber, loadedState, numberState, zeroState } from "./state.js";

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
export type AdamSettings = Values<typeof kSettings>;

interface State {
  step: number;
  expAvg: Tensor;
  expAvgSq: Tensor;
  /** With AMSGrad only. */
  maxExpAvgSq?: Tensor;
}

// Adam adds the weight decay to the gradient, AdamW applies it to the parameter directly.
abstract class AdamBase extends Optimizer<AdamSettings, State> {
  protected abstract readonly isDecoupled: boolean;

  protected override checkSettings({ lr, betas, eps, weightDecay }: AdamSettings): void {
    const name = this.constructor.name;
    checkRange(name, "lr", lr);
    checkRange(name, "eps", eps);
    checkRange(name, "weightDecay", weightDecay);
    checkBetas(name, betas);
  }

  protected override plan(settings: AdamSettings, inputs: StepInputs): readonly PlannedStep[] {
    const all = inputs.params.map((param) => this.#stateOf(param, settings.amsgrad));
    // The bias correction depends on the step number, which is equal for all parameters except those that got gradients later.
    const steps = new Set(all.map((state) => state.step + 1));
    return [...steps].map((step): PlannedStep => {
      const chosen = [...all.keys()].filter((i) => all[i]?.step === step - 1);
      const pick = <T>(values: readonly T[]) => chosen.map((i) => values[i] as T);
      const params = pick(inputs.params);
      const grads = pick(inputs.grads);
      const own = pick(all);
      const expAvgs = own.map((state) => state.expAvg);
      const expAvgSqs = own.map((state) => state.expAvgSq);
      const { lr, betas, eps, weightDecay, amsgrad, maximize } = settings;
      const maxima = amsgrad ? own.flatMap((state) => state.maxExpAvgSq ?? []) : [];
      const run = () => {
        adamStep_(
          params,
          grads,
          expAvgs,
          expAvgSqs,
          maxima,
          step,
          lr,
          betas[0],
          betas[1],
          eps,
          weightDecay,
          this.isDecoupled,
          maximize,
        );
        for (const state of own) state.step = step;
      };
      return { params, grads, states: [expAvgs, expAvgSqs, maxima], run };
    });
  }

  protected override saveState(state: State): Record<string, Tensor> {
    const { step, expAvg, expAvgSq, maxExpAvgSq } = state;
    return {
      step: numberState(step),
      exp_avg: expAvg.detach(),
      exp_avg_sq: expAvgSq.detach(),
      ...(maxExpAvgSq && { max_exp_avg_sq: maxExpAvgSq.detach() }),
    };
  }

  protected override loadState(saved: Readonly<Record<string, Tensor>>, param: Tensor): State {
    const load = (key: string) => loadedState(this.constructor.name, key, saved, param);
    return {
      step: loadedNumber(this.constructor.name, "step", saved),
      expAvg: load("exp_avg"),
      expAvgSq: load("exp_avg_sq"),
      ...("max_exp_avg_sq" in saved && { maxExpAvgSq: load("max_exp_avg_sq") }),
    };
  }

  #stateOf(param: Tensor, amsgrad: boolean): State {
    const state =
      this.state.get(param) ??
      this.addState(param, { step: 0, expAvg: zeroState(param), expAvgSq: zeroState(param) });
    if (amsgrad) this.partOf(state, "maxExpAvgSq", () => zeroState(param));
    return state;
  }
}

/** Adam: steps scaled by running averages of the gradient and of its square. */
export class Adam extends AdamBase {
  protected override readonly isDecoupled = false;

  constructor(
    params: Params<AdamSettings>,
    ...rest: Arguments<
      [
        lr: number,
        betas: readonly [number, number],
        eps: number,
        weightDecay: number,
        amsgrad: boolean,
      ],
      Partial<AdamSettings>
    >
  ) {
    super(params, readSettings(new.target.name, kSettings, rest), kSettings);
  }
}

/** Adam with decoupled weight decay, which does not affect the running averages. */
export class AdamW extends AdamBase {
  protected override readonly isDecoupled = true;

  constructor(
    params: Params<AdamSettings>,
    ...rest: Arguments<
      [
        lr: number,
        betas: readonly [number, number],
        eps: number,
        weightDecay: number,
        amsgrad: boolean,
      ],
      Partial<AdamSettings>
    >
  ) {
    super(params, readSettings(new.target.name, kDecoupledSettings, rest), kDecoupledSettings);
  }
}
