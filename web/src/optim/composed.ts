// Declarations of optimizers whose step consists of tensor ops, for one parameter after the other. A complex number is
// treated as two real ones.

import { checkStep_ } from "../generated/internal.js";
import { add, hardshrink_, neg, viewAsReal } from "../generated/ops.js";
import { isComplex } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  DeclaredOptimizer,
  type OptimizerClass,
  type OptimizerDeclaration,
  optimizer,
  type StateOf,
  type StateRules,
} from "./declaration.js";
import type { PlannedStep, StepInputs } from "./groups.js";
import { quietly } from "./quietly.js";

/** The state of a parameter, with the number of its steps. */
type SteppedRules<Settings> = StateRules<Settings> & { readonly step: number };

/** The argument of composed(). */
interface ComposedDeclaration<Settings, Rules> extends OptimizerDeclaration<Settings, Rules> {
  /**
   * Updates a parameter and its state, except the step number, which has been incremented already. Runs without
   * recording, and all other tensors that it creates are freed. `grad` is the direction to descend.
   */
  update: (settings: Settings, state: StateOf<Rules>, param: Tensor, grad: Tensor) => void;
}

/** An optimizer that declares the update of one parameter. */
export class ComposedOptimizer<
  Settings extends { maximize: boolean },
  Rules extends SteppedRules<Settings>,
> extends DeclaredOptimizer<Settings, Rules> {
  /** @internal */
  declare protected readonly declaration: ComposedDeclaration<Settings, Rules>;

  protected override plan(
    settings: Settings,
    { params, grads }: StepInputs,
  ): readonly PlannedStep[] {
    const { state: rules, update } = this.declaration;
    const states = params.map((param) => this.stateFor(param, settings));
    const lists = Object.entries(rules)
      .filter(([, rule]) => typeof rule !== "number")
      .map(([name]) => states.map((state) => state[name as keyof typeof state] as Tensor));
    const run = () => {
      checkStep_(params, grads, lists.flat());
      params.forEach((param, i) => {
        const state = states[i] as StateOf<Rules> & { step: number };
        state.step++;
        const grad = parts(grads[i] as Tensor);
        quietly(() => {
          update(settings, state, parts(param), settings.maximize ? neg(grad) : grad);
        });
      });
    };
    return [{ params, grads, states: lists, run }];
  }
}

/** Returns the base class of an optimizer that declares its update. */
export function composed<
  Settings extends { maximize: boolean },
  Positional extends readonly unknown[],
  Rules extends SteppedRules<Settings>,
>(
  declaration: ComposedDeclaration<Settings, Rules>,
): OptimizerClass<Settings, Positional, ComposedOptimizer<Settings, Rules>> {
  return optimizer(declaration, ComposedOptimizer as never) as never;
}

/** Returns a view of complex numbers as pairs of real ones; returns a real tensor unchanged. */
export function parts(t: Tensor): Tensor {
  return isComplex(t.dtype) ? viewAsReal(t) : t;
}

/** Returns the gradient plus `weightDecay` times the parameter. */
export function decayed(grad: Tensor, param: Tensor, weightDecay: number): Tensor {
  return weightDecay === 0 ? grad : add(grad, param, weightDecay);
}

/**
 * Sets elements to 0 that would become denormal when multiplied by `factor` again: processors are slow with
 * such numbers, and averages of a gradient that has become 0 decay to them.
 */
export function flush_(average: Tensor, factor: number): void {
  const smallest = average.dtype === "float64" ? 2 ** -1022 : 2 ** -126;
  hardshrink_(average, smallest / Math.max(factor, kSmallestFactor));
}

// A lower bound of the factor, so that the limit itself is never a significant number.
const kSmallestFactor = 1e-6;
