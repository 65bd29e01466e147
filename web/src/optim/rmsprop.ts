import type { Arguments } from "../arguments/read.js";
import { boolean, number, type Values } from "../arguments/rule.js";
import { rmspropStep_ } from "../generated/internal.js";
import type { Tensor } from "../tensor/tensor.js";
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
export type RMSpropSettings = Values<typeof kSettings>;

interface State {
  step: number;
  squareAvg: Tensor;
  /** With momentum only. */
  momentumBuffer?: Tensor;
  /** When centered only. */
  gradAvg?: Tensor;
}

/** RMSprop: divides steps by the running root mean square of the gradient. */
export class RMSprop extends Optimizer<RMSpropSettings, State> {
  constructor(
    params: Params<RMSpropSettings>,
    ...rest: Arguments<
      [
        lr: number,
        alpha: number,
        eps: number,
        weightDecay: number,
        momentum: number,
        centered: boolean,
      ],
      Partial<RMSpropSettings>
    >
  ) {
    super(params, readSettings(new.target.name, kSettings, rest), kSettings);
  }

  protected override checkSettings(settings: RMSpropSettings): void {
    checkRange("RMSprop", "lr", settings.lr);
    checkRange("RMSprop", "eps", settings.eps);
    checkRange("RMSprop", "momentum", settings.momentum);
    checkRange("RMSprop", "weightDecay", settings.weightDecay);
    checkRange("RMSprop", "alpha", settings.alpha);
  }

  protected override plan(settings: RMSpropSettings, inputs: StepInputs): readonly PlannedStep[] {
    const { params, grads } = inputs;
    const { lr, alpha, eps, weightDecay, momentum, centered, maximize } = settings;
    const own = params.map((param) => this.#stateOf(param, settings));
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

  #stateOf(param: Tensor, { momentum, centered }: RMSpropSettings): State {
    const state =
      this.state.get(param) ?? this.addState(param, { step: 0, squareAvg: zeroState(param) });
    if (momentum > 0) this.partOf(state, "momentumBuffer", () => zeroState(param));
    if (centered) this.partOf(state, "gradAvg", () => zeroState(param));
    return state;
  }
}
