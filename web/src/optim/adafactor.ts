import { boolean, number, Rule, type Values } from "../arguments/rule.js";
import { norm } from "../generated/internal.js";
import {
  clamp_,
  clone,
  div,
  div_,
  lerp_,
  matmul,
  mean,
  mul_,
  neg,
  rsqrt_,
  square,
  sub_,
  zeros,
} from "../generated/ops.js";
import { finfo } from "../ops/number_types.js";
import { fail } from "../runtime/errors/errors.js";
import { snakeCase } from "../runtime/host/spelling.js";
import { needsPart } from "../runtime/start/parts.js";
import { isComplex } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { checkRange } from "./check_range.js";
import { onDemand, optimizer, type StateOf } from "./declaration.js";
import type { PlannedStep, StepInputs } from "./groups.js";
import { quietly } from "./quietly.js";
import { loadedNumber } from "./state.js";

needsPart("extras");

/** Lower limits: of squared gradients (null: the dtype's epsilon), and of the size of parameters. */
export type AdafactorEps = readonly [squares: number | null, params: number];

const epsRule = /* @__PURE__ */ new Rule<AdafactorEps>(
  "a list of two: a number or null, and a number",
  (value) =>
    Array.isArray(value) &&
    value.length === 2 &&
    (value[0] === null || number.accepts(value[0])) &&
    number.accepts(value[1]),
);

const kSettings = {
  /** The learning rate: the largest change in a step, relative to the size of the parameter; default 1e-2. */
  lr: number.or(1e-2),
  /** The decay rate of the averages of squares, as an exponent of the step number; default -0.8. */
  beta2Decay: number.or(-0.8),
  /** Lower limits of squared gradients (null: the dtype's epsilon) and of parameter sizes; default [null, 1e-3]. */
  eps: epsRule.or([null, 1e-3]),
  /** The size above which a change is scaled down; default 1. */
  d: number.or(1),
  /** The strength of weight decay; default 0. */
  weightDecay: number.or(0),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

/** Settings of `Adafactor`. */
export interface AdafactorSettings extends Values<typeof kSettings> {}

// The averaged squares of a gradient; for matrices, the means of their rows and columns.
const kState = { step: 0, rowVar: onDemand, colVar: onDemand, variance: onDemand };

type State = StateOf<typeof kState>;

/** Adafactor: like Adam with little memory, because it only stores the row and column means of squared matrix gradients. */
export class Adafactor extends optimizer<
  AdafactorSettings,
  [lr: number, beta2Decay: number, eps: AdafactorEps, d: number, weightDecay: number],
  typeof kState
>({
  settings: kSettings,
  checks: {
    lr: checkRange,
    beta2Decay: (owner, name, decay) => checkRange(owner, `-${name}`, -decay),
    eps: checkEps,
    d: (owner, name, size) => checkRange(owner, name, size, 1),
    weightDecay: checkRange,
  },
  state: kState,
}) {
  protected override plan(
    settings: AdafactorSettings,
    { params, grads }: StepInputs,
  ): readonly PlannedStep[] {
    const states = params.map((param) => {
      if (isComplex(param.dtype)) {
        fail(
          "DtypeMismatch",
          "Adafactor",
          `does not support complex parameters, got ${param.dtype}.`,
        );
      }
      return this.stateFor(param, settings);
    });
    const run = () => {
      params.forEach((param, i) => {
        const [state, grad] = [states[i] as State, grads[i] as Tensor];
        state.step++;
        quietly(() => update(settings, state, param, settings.maximize ? neg(grad) : grad));
      });
    };
    return [{ params, grads, states: [], run }];
  }

  protected override fresh(param: Tensor): State {
    const { dtype, device } = param;
    const made = Object.entries(shapesFor(param)).map(([name, shape]) => [
      name,
      zeros(shape, { dtype, device }),
    ]);
    return { step: 0, ...Object.fromEntries(made) };
  }

  protected override loadState(saved: Readonly<Record<string, Tensor>>, param: Tensor): State {
    const given = Object.entries(shapesFor(param)).map(([name, shape]): [string, Tensor] => {
      const value = saved[snakeCase(name)];
      if (value instanceof Tensor && String(value.shape) === String(shape)) return [name, value];
      const reason = `the state has no "${snakeCase(name)}" of shape [${shape}].`;
      return fail("InvalidArgument", "Adafactor", reason);
    });
    const step = loadedNumber("Adafactor", "step", saved);
    const own = given.map(([name, value]) => [name, clone(value.detach().to(param))]);
    return { step, ...Object.fromEntries(own) };
  }
}

function checkEps(owner: string, name: string, eps: AdafactorEps): void {
  checkRange(owner, `${name}[0]`, eps[0] ?? 0);
  checkRange(owner, `${name}[1]`, eps[1]);
}

// The shapes of the state of a parameter.
function shapesFor({ shape, ndim }: Tensor): Readonly<Record<string, readonly number[]>> {
  if (ndim < 2) return { variance: shape };
  const without = (dim: number) => shape.map((size, i) => (i === dim ? 1 : size));
  return { rowVar: without(ndim - 1), colVar: without(ndim - 2) };
}

function update(settings: AdafactorSettings, state: State, param: Tensor, grad: Tensor): void {
  const { lr, beta2Decay, eps, d, weightDecay } = settings;
  const { step } = state;
  const tiny = eps[0] ?? finfo(param.dtype).eps;
  const share = step ** beta2Decay;
  const rate = Math.min(lr, 1 / Math.sqrt(step));
  const size = clamp_(rootMeanSquare(param), { min: eps[1] });
  if (weightDecay !== 0) mul_(param, 1 - lr * weightDecay);
  const squares = averaged(state, grad, share, tiny);
  // The limit is squared because the root is taken afterwards.
  const change = mul_(rsqrt_(clamp_(squares, { min: tiny * tiny })), grad);
  const excess = clamp_(div_(rootMeanSquare(change), d), { min: 1 });
  sub_(param, mul_(change, div(mul_(size, rate), excess)));
}

// Adds a gradient to the averages of squares, and returns the average for each element.
function averaged(state: State, grad: Tensor, share: number, tiny: number): Tensor {
  const { rowVar, colVar, variance } = state;
  if (variance !== undefined) return clone(lerp_(variance, square(grad), share));
  const [rows, columns] = [rowVar as Tensor, colVar as Tensor];
  lerp_(rows, mean(square(grad), -1, true), share);
  lerp_(columns, mean(square(grad), -2, true), share);
  return div_(matmul(rows, columns), clamp_(mean(rows, -2, true), { min: tiny }));
}

function rootMeanSquare(tensor: Tensor): Tensor {
  return div(norm(tensor), Math.sqrt(tensor.numel));
}
