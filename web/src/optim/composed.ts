// Optimizers whose step consists of tensor ops, for one parameter after the other. A complex number is
// treated as two real ones.

import { checkStep_ } from "../generated/internal.js";
import { add, hardshrink_, neg, viewAsReal } from "../generated/ops.js";
import { snakeCase } from "../runtime/spelling.js";
import { isComplex } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import {
  Optimizer,
  type Params,
  type PlannedStep,
  type SettingRules,
  type StepInputs,
} from "./optimizer.js";
import { quietly } from "./quietly.js";
import { loadedNumber, loadedState, numberState } from "./state.js";

/** The state of a parameter: the initial step number, and functions that create its tensors. */
type StateRules = { readonly step: number } & Readonly<
  Record<string, number | ((param: Tensor) => Tensor)>
>;

/** The type of the state for a declaration. */
export type StateOf<Rules> = { step: number } & {
  [Name in keyof Rules]: Rules[Name] extends number ? number : Tensor;
};

/** An optimizer that defines the update of one parameter and declares its state. */
export abstract class ComposedOptimizer<
  Settings extends { maximize: boolean },
  Rules extends StateRules,
> extends Optimizer<Settings, StateOf<Rules>> {
  readonly #stateRules: Rules;

  constructor(
    params: Params<Settings>,
    defaults: Settings,
    rules: SettingRules<Settings>,
    stateRules: Rules,
  ) {
    super(params, defaults, rules);
    this.#stateRules = stateRules;
  }

  /**
   * Updates a parameter and its state, except the step number, which has been incremented already. Runs without
   * recording, and all other tensors that it creates are freed. `grad` is the direction to descend.
   */
  protected abstract update(
    settings: Settings,
    state: StateOf<Rules>,
    param: Tensor,
    grad: Tensor,
  ): void;

  /** Returns the state of a parameter before its first step. */
  protected fresh(param: Tensor, _settings: Settings): StateOf<Rules> {
    const entries = Object.entries(this.#stateRules);
    const made = entries.map(([name, rule]) => [
      name,
      typeof rule === "number" ? rule : rule(param),
    ]);
    return Object.fromEntries(made) as StateOf<Rules>;
  }

  protected override plan(
    settings: Settings,
    { params, grads }: StepInputs,
  ): readonly PlannedStep[] {
    const states = params.map((param) => {
      return this.state.get(param) ?? this.addState(param, this.fresh(param, settings));
    });
    const lists = Object.entries(this.#stateRules)
      .filter(([, rule]) => typeof rule !== "number")
      .map(([name]) => states.map((state) => state[name] as Tensor));
    const run = () => {
      checkStep_(params, grads, lists.flat());
      params.forEach((param, i) => {
        const state = states[i] as StateOf<Rules>;
        Object.assign(state, { step: state.step + 1 });
        const grad = parts(grads[i] as Tensor);
        const update = () => {
          this.update(settings, state, parts(param), settings.maximize ? neg(grad) : grad);
        };
        quietly(update);
      });
    };
    return [{ params, grads, states: lists, run }];
  }

  protected override saveState(state: StateOf<Rules>): Record<string, Tensor> {
    const saved = Object.entries<number | Tensor>(state).map(([name, value]) => [
      snakeCase(name),
      value instanceof Tensor ? value.detach() : numberState(value),
    ]);
    return Object.fromEntries(saved);
  }

  protected override loadState(
    saved: Readonly<Record<string, Tensor>>,
    param: Tensor,
  ): StateOf<Rules> {
    const owner = this.constructor.name;
    const loaded = Object.entries(this.#stateRules).map(([name, rule]) => [
      name,
      typeof rule === "number"
        ? loadedNumber(owner, snakeCase(name), saved)
        : loadedState(owner, snakeCase(name), saved, param),
    ]);
    return Object.fromEntries(loaded) as StateOf<Rules>;
  }
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
