// Declarations of transforms: constraints and formulas, of which transformation() makes what a class of transforms extends.

import { readArguments } from "../../arguments/read.js";
import type { Rules } from "../../arguments/rule.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Constraint } from "../constraints/constraint.js";
import { real } from "../constraints/constraints.js";
import {
  type CacheSize,
  kTransformOptions,
  Transform,
  type TransformArguments,
} from "./transform.js";

type Shape = readonly number[];

/** What a transform computes; each function gets the transform last. */
export interface TransformDeclaration<Self> {
  /** How the constructor's arguments are read; default `cacheSize` alone. */
  arguments?: Rules;
  /** Returns the fields, also for another `cacheSize` of the call; default all arguments but that. */
  fields?: (call: never, where: string) => object;
  domain: Constraint | ((it: Self) => Constraint);
  codomain: Constraint | ((it: Self) => Constraint);
  /** Default true. */
  bijective?: boolean | ((it: Self) => boolean);
  /** Without it, asking for the sign is an error. */
  sign?: number | ((it: Self) => number | Tensor);
  forward: (x: Tensor, it: Self) => Tensor;
  inverse: (y: Tensor, it: Self) => Tensor;
  /** The logarithm of how much it stretches space, for bijective transforms. */
  logStretch?: (x: Tensor, y: Tensor, it: Self) => Tensor;
  /** Default the same shape. */
  forwardShape?: (shape: Shape, it: Self) => Shape;
  inverseShape?: (shape: Shape, it: Self) => Shape;
  /** Whether another transform of the class does the same; default true. */
  equals?: (other: Self, it: Self) => boolean;
  /** The tensors that it computes with; default its fields. */
  tensors?: (it: Self) => readonly Tensor[];
}

/** A declared transform. */
export class DeclaredTransform extends Transform {
  declare protected readonly declaration: TransformDeclaration<this>;

  override get domain(): Constraint {
    return valueFor(this, this.declaration.domain);
  }

  override get codomain(): Constraint {
    return valueFor(this, this.declaration.codomain);
  }

  override get bijective(): boolean {
    return valueFor(this, this.declaration.bijective ?? true);
  }

  override get sign(): number | Tensor {
    const { sign } = this.declaration;
    return sign === undefined ? super.sign : valueFor(this, sign);
  }

  /** @internal */
  override get tensors(): readonly Tensor[] {
    return this.declaration.tensors?.(this) ?? super.tensors;
  }

  protected override cached(cacheSize: CacheSize): Transform {
    const fields = this.declaration.fields?.(
      { ...this, cacheSize } as never,
      this.constructor.name,
    );
    return Object.assign(super.cached(cacheSize), fields);
  }

  protected override forward(x: Tensor): Tensor {
    return this.declaration.forward(x, this);
  }

  protected override invert(y: Tensor): Tensor {
    return this.declaration.inverse(y, this);
  }

  protected override logStretch(x: Tensor, y: Tensor): Tensor {
    return this.declaration.logStretch?.(x, y, this) ?? super.logStretch(x, y);
  }

  override forwardShape(shape: readonly number[]): readonly number[] {
    return this.declaration.forwardShape?.(shape, this) ?? shape;
  }

  override inverseShape(shape: readonly number[]): readonly number[] {
    return this.declaration.inverseShape?.(shape, this) ?? shape;
  }

  override equals(other: Transform): boolean {
    if (other.constructor !== this.constructor) return false;
    return this.declaration.equals?.(other as this, this) ?? true;
  }
}

/** Returns what a class of transforms extends: the types are those of its constructor's arguments and of its fields. */
export function transformation<G extends unknown[] = TransformArguments, Fields = unknown>(
  declaration: TransformDeclaration<DeclaredTransform & Fields>,
): new (
  ...given: G
) => DeclaredTransform & Fields {
  const rules: Rules = declaration.arguments ?? kTransformOptions;
  class Declared extends DeclaredTransform {
    constructor(...given: G) {
      const { name } = new.target;
      const call = readArguments(name, rules, given) as { cacheSize: CacheSize };
      const { cacheSize, ...fields } = call;
      super({ cacheSize });
      Object.assign(this, declaration.fields?.(call as never, name) ?? fields);
    }
  }
  Object.assign(Declared.prototype, { declaration });
  return Declared as never;
}

/** Returns what a class of rising transforms of single numbers extends. */
export function rising(
  declaration: Omit<TransformDeclaration<DeclaredTransform>, "domain" | "sign">,
): new (
  ...given: TransformArguments
) => DeclaredTransform & { readonly sign: number } {
  return transformation({ ...declaration, domain: real, sign: 1 }) as never;
}

function valueFor<Self, T extends object | boolean | number>(
  it: Self,
  value: T | ((it: Self) => T),
): T {
  return typeof value === "function" ? value(it) : value;
}
