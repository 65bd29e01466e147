// Optimizers whose step is made of tensor ops, one parameter after the other. A complex number is
// stepped as two real ones.

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

/** What is remembered of a parameter: the number to begin with, or what makes a tensor. */
type StateRules = { readonly step: number } & Readonly<
  Record<string, number | ((param: Tensor) => Tensor)>
>;

/** The state that a declaration describes. */
export type StateOf<Rules> = { step: number } & {
  [Name in keyof Rules]: Rules[Name] extends number ? number : Tensor;
};

/** An optimizer that says what a step does to one parameter; its state is declared once. */
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
   * Changes a parameter, and its state but for the step, which is counted already. Nothing is
   * recorded meanwhile and all other tensors are freed; `grad` points the way that is to be left.
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

/** Returns a view of complex numbers as pairs of real ones; a real tensor as it is. */
export function parts(t: Tensor): Tensor {
  return isComplex(t.dtype) ? viewAsReal(t) : t;
}

/** Returns a gradient with a share of the parameter, as weight decay wants it. */
export function decayed(grad: Tensor, param: Tensor, weightDecay: number): Tensor {
  return weightDecay === 0 ? grad : add(grad, param, weightDecay);
}

/**
 * Sets to 0 what would be denormal when it is multiplied by `factor` again: processors are slow with
 * such numbers, and averages of a gradient that has become 0 end in them.
 */
export function flush_(average: Tensor, factor: number): void {
  const smallest = average.dtype === "float64" ? 2 ** -1022 : 2 ** -126;
  hardshrink_(average, smallest / Math.max(factor, kSmallestFactor));
}

// No factor is so small that the limit itself would be a size that matters.
const kSmallestFactor = 1e-6;
