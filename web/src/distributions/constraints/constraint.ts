// The class of constraints, and the functions that create them.

import { Rule } from "../../arguments/rule.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import { Tensor } from "../../tensor/tensor.js";
import { type Parameter, parameter } from "../base/arguments.js";

/** Properties of a constraint. */
export interface ConstraintKind {
  /** How many trailing dimensions form one value; default 0. */
  eventDim?: number;
  /** Whether the values are discrete; default false. */
  isDiscrete?: boolean;
  /** The arguments that it was created with: bounds, or other constraints. @internal */
  made?: readonly unknown[];
}

/** A set of values, such as the support of a distribution. */
export class Constraint {
  /** Whether the values are discrete. */
  readonly isDiscrete: boolean;
  /** How many trailing dimensions form one value. */
  readonly eventDim: number;
  /** The arguments that it was created with: bounds, or other constraints. @internal */
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

  /** Returns a boolean per value: whether it is in the set. The shape is that of `value` without its last `eventDim` dimensions. */
  check(value: Tensor): Tensor {
    const checked = tensorRule.check("Constraint.check", "value", value);
    return scope(() => this.#holds(checked));
  }

  /** The name with the bounds. */
  toString(): string {
    return this.#text;
  }

  /** The name without bounds. @internal */
  get family(): string {
    return this.#text.replace(/\(.*/s, "");
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
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

/** Creates a constraint. */
export function constraint(
  text: string,
  kind: ConstraintKind,
  holds: (value: Tensor) => Tensor,
): Constraint {
  return new Constraint(text, holds, kind);
}

/** Checks bounds and creates a constraint that has them in its name. */
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
