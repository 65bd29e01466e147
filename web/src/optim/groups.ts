// The types of the groups of parameters of an optimizer, of their settings and of their state.

import type { Rule } from "../arguments/rule.js";
import type { Tensor } from "../tensor/tensor.js";

/** Parameters with their own settings; omitted settings are those of the optimizer. */
export type ParamGroup<Settings> = {
  params: Tensor[];
  /** The names of the parameters, if they were given. */
  paramNames?: string[];
} & Settings;

/** A parameter with its name, as namedParameters() of a module lists them. */
export type NamedParam = readonly [name: string, param: Tensor];

/** The first argument of an optimizer: parameters, with or without names, or groups of them. */
export type Params<Settings> =
  | Iterable<Tensor>
  | Iterable<NamedParam>
  | Iterable<GroupOf<Settings>>;

/** The settings of an optimizer that has nothing but a rate. */
export interface RateSettings {
  /** The learning rate. */
  lr: number;
}

/** A group as passed to an optimizer. */
export type GroupOf<Settings> = GroupParts & Partial<Settings>;

/** The properties of a group besides the settings of its optimizer. */
export interface GroupParts {
  /** The parameters, with or without their names. */
  params: Iterable<Tensor> | Iterable<NamedParam> | Tensor;
  /** The names of the parameters; default: those in `params`. */
  paramNames?: readonly string[];
  /** The learning rate with which schedulers start when training is resumed. */
  initialLr?: number;
}

/** The declaration of an optimizer's settings. */
export type SettingRules<Settings> = { readonly [Name in keyof Settings]: Rule<Settings[Name]> };

/** A state dict with PyTorch's structure and names: the state by parameter index, and the settings by group. */
export interface OptimizerState<Value = Tensor> {
  /** The state of each parameter, by its index. */
  state: Record<number, Record<string, Value>>;
  /** The settings of each group, and the indices of its parameters. */
  param_groups: ({ params: number[] } & Record<string, unknown>)[];
}

/** The parameters of a group that have a gradient, and their gradients. */
export interface StepInputs {
  /** The parameters. */
  readonly params: readonly Tensor[];
  /** Their gradients. */
  readonly grads: readonly Tensor[];
}

/** A planned change of parameters: the tensors it reads and writes, and the function that makes it. */
export interface PlannedStep extends StepInputs {
  /** State as lists of one tensor per parameter. */
  readonly states: readonly (readonly Tensor[])[];
  /** Whether the gradients are sparse. */
  readonly isSparse?: boolean;
  /** Makes the change. */
  readonly run: () => void;
}
