import { boolean, number, type Values } from "../arguments/rule.js";
import { add, div, lerp, mul, sqrt, sub } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { checkBetas, kNumberPair } from "./betas.js";
import { checkRange } from "./check_range.js";
import { optimizer } from "./declaration.js";
import type { PlannedStep, StepInputs } from "./groups.js";
import { plannedByRows } from "./sparse_rows.js";
import { zeroState } from "./state.js";

const kSettings = {
  /** The learning rate; default 1e-3. */
  lr: number.or(1e-3),
  /** The decay of the averages of the gradient and of its square; default [0.9, 0.999]. */
  betas: kNumberPair.or([0.9, 0.999]),
  /** Added to the denominator; default 1e-8. */
  eps: number.or(1e-8),
  /** Maximize instead of minimizing; default false. */
  maximize: boolean.or(false),
};

/** Settings of `SparseAdam`. */
export interface SparseAdamSettings extends Values<typeof kSettings> {}

const kState = { step: 0, expAvg: zeroState, expAvgSq: zeroState };

/**
 * Adam for sparse gradients, such as those of nn.Embedding with `sparse: true`: a step reads and writes only the rows that have a
 * gradient, and the averages of the others do not decay. Throws InvalidArgument for a dense gradient.
 */
export class SparseAdam extends optimizer<
  SparseAdamSettings,
  [lr: number, betas: readonly [number, number], eps: number],
  typeof kState
>({
  settings: kSettings,
  checks: { lr: checkRange, betas: checkBetas, eps: checkRange },
  state: kState,
}) {
  protected override plan(): readonly PlannedStep[] {
    const reason = "expected sparse gradients, got a dense one. Use Adam for this parameter.";
    return fail("InvalidArgument", this.constructor.name, reason);
  }

  protected override planSparse(
    settings: SparseAdamSettings,
    inputs: StepInputs,
  ): readonly PlannedStep[] {
    const { lr, betas, eps, maximize } = settings;
    const states = inputs.params.map((param) => this.stateFor(param, settings));
    return plannedByRows(inputs, (param, rows, i) => {
      const state = states[i] as (typeof states)[number];
      state.step++;
      if (rows.values.numel === 0) return;
      const grad = maximize ? mul(rows.values, -1) : rows.values;
      const average = lerp(rows.take(state.expAvg), grad, 1 - betas[0]);
      const square = lerp(rows.take(state.expAvgSq), mul(grad, grad), 1 - betas[1]);
      const rate = (lr * Math.sqrt(1 - betas[1] ** state.step)) / (1 - betas[0] ** state.step);
      const change = div(average, add(sqrt(square), eps));
      rows.put_(state.expAvg, average);
      rows.put_(state.expAvgSq, square);
      rows.put_(param, sub(rows.take(param), change, rate));
    });
  }
}
