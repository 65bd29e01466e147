// Declarations of optimizers. optimizer() turns the rules of the settings, the checks of their ranges and the state of a
// parameter into a base class, which reads the arguments, and creates, saves and loads the state:
//
//   export class Adagrad extends optimizer<
//     AdagradSettings,
//     [lr: number, lrDecay: number],
//     typeof kState
//   >({
//     settings: kSettings,
//     checks: { lr: checkRange, lrDecay: checkRange },
//     state: kState,
//   }) { ... }
//
// The types are those of the settings, whose name editors show, and of the settings that may be passed by position.
// composed.ts adds optimizers that declare their update, too.

import type { Constructor } from "../arguments/read.js";
import { keysOf } from "../runtime/host/keys.js";
import { snakeCase } from "../runtime/host/spelling.js";
import { Tensor } from "../tensor/tensor.js";
import type { Params, SettingRules, StepInputs } from "./groups.js";
import { Optimizer, readSettings } from "./optimizer.js";
import { loadedNumber, loadedState, numberState } from "./state.js";

/** Marks a tensor of the state that partOf() creates when it is first needed. */
export const onDemand: OnDemand = "on demand";

type OnDemand = "on demand";

/** The state of a parameter: initial numbers, functions that create tensors, and tensors that are created on demand. */
export type StateRules<Settings> = Readonly<
  Record<string, number | OnDemand | ((param: Tensor, settings: Settings) => Tensor)>
>;

/** The type of the state for a declaration. */
export type StateOf<Rules> = {
  [Name in keyof Rules as Rules[Name] extends OnDemand ? never : Name]: Rules[Name] extends number
    ? number
    : Tensor;
} & { [Name in keyof Rules as Rules[Name] extends OnDemand ? Name : never]?: Tensor };

/** The argument of optimizer(). */
export interface OptimizerDeclaration<Settings, Rules> {
  settings: SettingRules<Settings>;
  /** Functions that throw InvalidArgument for a setting outside its range, in the order in which they are called. */
  checks: {
    readonly [Name in keyof Settings]?: (
      owner: string,
      name: string,
      value: Settings[Name],
    ) => void;
  };
  state: Rules;
}

/** The base class of a declared optimizer. */
export interface OptimizerClass<
  Settings extends object,
  Positional extends readonly unknown[],
  Made,
> extends Constructor<[params: Params<Settings>], Positional, Partial<Settings>, Made> {}

// biome-ignore lint/correctness/noUnusedVariables: TypeScript merges only declarations with the same type parameters.
export interface DeclaredOptimizer<Settings extends object, Rules extends StateRules<Settings>> {
  /** Updates every parameter that has a gradient. A `closure` is called first, and its result, the loss, is returned. */
  step(): undefined;
  step<T>(closure: () => T): T;
}

/** A declared optimizer. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: only states the types of step() more precisely.
export class DeclaredOptimizer<
  Settings extends object,
  Rules extends StateRules<Settings>,
> extends Optimizer<Settings, StateOf<Rules>, Tensor> {
  /** @internal */
  declare protected readonly declaration: OptimizerDeclaration<Settings, Rules>;

  protected override checkSettings(settings: Settings): void {
    const { checks } = this.declaration;
    for (const name of keysOf(checks)) checks[name]?.(this.constructor.name, name, settings[name]);
  }

  /** Returns the state of a parameter, which is created at its first step. */
  protected stateFor(param: Tensor, settings: Settings): StateOf<Rules> {
    return this.state.get(param) ?? this.addState(param, this.fresh(param, settings));
  }

  /** Returns the state of a parameter before its first step. */
  protected fresh(param: Tensor, settings: Settings): StateOf<Rules> {
    const made = Object.entries(this.declaration.state).flatMap(([name, rule]) => {
      if (rule === onDemand) return [];
      return [[name, typeof rule === "function" ? rule(param, settings) : rule]];
    });
    return Object.fromEntries(made);
  }

  protected override saveState(state: StateOf<Rules>): Record<string, Tensor> {
    const values = state as Readonly<Record<string, Tensor | number | undefined>>;
    const saved = Object.keys(this.declaration.state).flatMap((name) => {
      const value = values[name];
      if (value === undefined) return [];
      return [[snakeCase(name), value instanceof Tensor ? value.detach() : numberState(value)]];
    });
    return Object.fromEntries(saved);
  }

  protected override loadState(
    saved: Readonly<Record<string, Tensor>>,
    param: Tensor,
  ): StateOf<Rules> {
    const owner = this.constructor.name;
    const loaded = Object.entries(this.declaration.state).flatMap(([name, rule]) => {
      const key = snakeCase(name);
      if (rule === onDemand && !(key in saved)) return [];
      const load = typeof rule === "number" ? loadedNumber : loadedState;
      return [[name, load(owner, key, saved, param)]];
    });
    return Object.fromEntries(loaded);
  }
}

/** Returns the base class of a declared optimizer, which extends `Base`. */
export function optimizer<
  Settings extends object,
  Positional extends readonly unknown[],
  Rules extends StateRules<Settings>,
>(
  declaration: OptimizerDeclaration<Settings, Rules>,
  Base: typeof DeclaredOptimizer = DeclaredOptimizer,
): OptimizerClass<Settings, Positional, DeclaredOptimizer<Settings, Rules>> {
  const { settings } = declaration;
  class Declared extends Base<Settings, Rules> {
    constructor(params: Params<Settings>, ...rest: unknown[]) {
      super(params, readSettings(new.target.name, settings, rest) as Settings, settings);
    }
  }
  // On the prototype, because the constructor of Optimizer checks the settings.
  Object.assign(Declared.prototype, { declaration });
  return Declared as never;
}

/** Parameters whose states have the same step number. */
export interface SameStep<State> extends StepInputs {
  readonly states: readonly State[];
  readonly step: number;
}

/** Groups parameters by the step numbers of their states, which are equal except for those that got gradients later. */
export function byStep<State extends { readonly step: number }>(
  { params, grads }: StepInputs,
  states: readonly State[],
): SameStep<State>[] {
  return [...new Set(states.map((state) => state.step))].map((step) => {
    const chosen = [...states.keys()].filter((i) => states[i]?.step === step);
    const pick = <T>(values: readonly T[]) => chosen.map((i) => values[i] as T);
    return { params: pick(params), grads: pick(grads), states: pick(states), step };
  });
}
