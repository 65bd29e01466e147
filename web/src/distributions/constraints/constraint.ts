// What constraints are, and the functions that make them.

import { Rule } from "../../arguments/rule.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import { Tensor } from "../../tensor/tensor.js";
import { type Parameter, parameter } from "../base/arguments.js";

/** How the values of a constraint are made up. */
export interface ConstraintKind {
  /** How many dimensions, the last ones, one value has; default 0. */
  eventDim?: number;
  /** Whether there are gaps between values; default false. */
  isDiscrete?: boolean;
  /** What it is made of: bounds, or other constraints. @internal */
  made?: readonly unknown[];
}

/** A set of values, such as the support of a distribution. */
export class Constraint {
  /** Whether there are gaps between values. */
  readonly isDiscrete: boolean;
  /** How many dimensions, the last ones, one value has. */
  readonly eventDim: number;
  /** What it is made of: bounds, or other constraints. @internal */
  readonly made: readonly unknown[];
  readonly #text: string;
  readonly #holds: (value: Tensor) => Tensor;

  /** @internal */
  constructor(text: string, holds: (value: Tensor) => Tensor, kind: ConstraintKind = {}) {
    this.#text = text;
    this.#holds = holds;
    this.eventDim = kind.eventDim ?? 0;
    this.isDiscrete = kind.isDiscrete ?? false;
    this.made = kind.made ?? [];
  }

  /** Returns which values are in the set: booleans in the shape of `value` without the dimensions of one value. */
  check(value: Tensor): Tensor {
    const checked = tensorRule.check("Constraint.check", "value", value);
    return scope(() => this.#holds(checked));
  }

  /** Its name, with its bounds. */
  toString(): string {
    return this.#text;
  }

  /** The name of it, or of the function that made it. @internal */
  get family(): string {
    return this.#text.replace(/\(.*/s, "");
  }
}

export const constraintRule = /* @__PURE__ */ new Rule<Constraint>(
  "a constraint",
  (value) => value instanceof Constraint,
);

export const kNumbers = {};
export const kDiscrete = { isDiscrete: true };
export const kVectors = { eventDim: 1 };
export const kMatrices = { eventDim: 2 };

/** Makes a constraint. */
export function constraint(
  text: string,
  kind: ConstraintKind,
  holds: (value: Tensor) => Tensor,
): Constraint {
  return new Constraint(text, holds, kind);
}

/** Makes a constraint whose bounds are part of its name. */
export function bounded(
  name: string,
  bounds: Readonly<Record<string, Parameter>>,
  kind: ConstraintKind,
  holds: (value: Tensor) => Tensor,
): Constraint {
  const spelled = Object.entries(bounds).map(([key, bound]) => {
    const checked = parameter.check(name, key, bound);
    return checked instanceof Tensor ? `a tensor of shape [${checked.shape}]` : String(checked);
  });
  const made = Object.values(bounds);
  return new Constraint(`${name}(${spelled.join(", ")})`, holds, { ...kind, made });
}
