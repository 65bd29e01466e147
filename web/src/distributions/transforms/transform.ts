// The base class of all transforms, and declarations: transformation() turns constraints and formulas into a base class.

import {
  type Forms,
  type MixedArguments,
  type Overloads,
  readArguments,
} from "../../arguments/read.js";
import { type Options, Rule, type Rules, type Values } from "../../arguments/rule.js";
import { isGradEnabled } from "../../autograd/grad_mode.js";
import { fail } from "../../runtime/errors/errors.js";
import { leaveTogether } from "../../tensor/lifetime.js";
import { tensorRule } from "../../tensor/rules.js";
import { Tensor } from "../../tensor/tensor.js";
import type { Constraint } from "../constraints/constraint.js";
import { real } from "../constraints/constraints.js";

/** How many values a transform caches. */
export type CacheSize = 0 | 1;

const cacheSize = /* @__PURE__ */ new Rule<CacheSize>(
  "0 or 1",
  (value) => value === 0 || value === 1,
);

/** The options of all transforms. */
export const kTransformOptions = {
  /** With 1, the last pair of input and output is cached, and the inverse of that output is the input itself; default 0. */
  cacheSize: cacheSize.or(0),
};

const kCacheArguments = { cacheSize: cacheSize.or(1) };

/** Options of transforms. */
export interface TransformOptions extends Options<typeof kTransformOptions> {}

/** The arguments that follow those of the transform itself. */
export type TransformArguments = Forms<[cacheSize: CacheSize], TransformOptions>;

/** A cached input and output. */
interface Pair {
  readonly x: Tensor;
  readonly y: Tensor;
  /** The versions of both and of all tensors of the transform at that time. */
  readonly state: string;
  /** Whether gradients were recorded from one to the other. */
  readonly isRecorded: boolean;
}

/** An invertible function of tensors with its inverse and the log determinant of its Jacobian. */
export abstract class Transform {
  /** How many values are cached: 0 or 1. */
  readonly cacheSize: CacheSize;

  private last: Pair | null = null;

  constructor(cacheSize?: CacheSize);
  constructor(...rest: MixedArguments<[cacheSize: CacheSize], TransformOptions>);
  constructor(options?: TransformOptions);
  constructor(...given: unknown[]) {
    this.cacheSize = readArguments(new.target.name, kTransformOptions, given).cacheSize;
  }

  /** The constraint of the inputs. */
  abstract get domain(): Constraint;

  /** The constraint of the outputs. */
  abstract get codomain(): Constraint;

  /** Returns the transformed values. */
  call(x: Tensor): Tensor {
    const checked = this.checked("call", "x", x);
    const { last } = this;
    if (last?.x === checked && this.isLike(last, checked)) return last.y;
    const y = this.forward(checked);
    this.remember(checked, y, y);
    return y;
  }

  /** Returns the values whose transform is `y`. */
  inverse(y: Tensor): Tensor {
    const checked = this.checked("inverse", "y", y);
    const { last } = this;
    if (last?.y === checked && this.isLike(last, checked)) return last.x;
    const x = this.invert(checked);
    this.remember(x, checked, x);
    return x;
  }

  /** Returns the log of the absolute determinant of the Jacobian at `x`, whose transform is `y`. */
  logAbsDetJacobian(x: Tensor, y: Tensor): Tensor {
    const where = "logAbsDetJacobian";
    return this.logStretch(this.checked(where, "x", x), this.checked(where, "y", y));
  }

  /** Returns the same transform with another cache size. */
  withCache(...given: Forms<[cacheSize: CacheSize], TransformOptions>): Transform {
    const where = `${this.constructor.name}.withCache`;
    const { cacheSize } = readArguments(where, kCacheArguments, given);
    return cacheSize === this.cacheSize ? this : this.cached(cacheSize);
  }

  /** Creates the result of withCache(). */
  protected cached(cacheSize: CacheSize): Transform {
    const copy = Object.create(Object.getPrototypeOf(this));
    return Object.assign(copy, this, { cacheSize, last: null });
  }

  /** The tensors that the transform depends on. @internal */
  get tensors(): readonly Tensor[] {
    return Object.values(this).filter((value) => value instanceof Tensor);
  }

  /** Computes the result of call(). */
  protected abstract forward(x: Tensor): Tensor;

  /** Computes the result of inverse(). */
  protected abstract invert(y: Tensor): Tensor;

  /** Computes the result of logAbsDetJacobian(), if the transform is bijective. */
  protected logStretch(_x: Tensor, _y: Tensor): Tensor {
    const where = `${this.constructor.name}.logAbsDetJacobian`;
    return fail("InvalidArgument", where, "the transform is not bijective.");
  }

  /** Whether the inverse of an output is always its input. */
  get bijective(): boolean {
    return true;
  }

  /** 1 if the transform is increasing, -1 if it is decreasing; a tensor if that differs by element. */
  get sign(): number | Tensor {
    return fail(
      "InvalidArgument",
      `${this.constructor.name}.sign`,
      "the transform is neither increasing nor decreasing.",
    );
  }

  /** The inverse transform. */
  get inv(): Transform {
    return new InverseTransform(this);
  }

  /** Returns the shape of the output for an input of this shape. */
  forwardShape(shape: readonly number[]): readonly number[] {
    return shape;
  }

  /** Returns the shape of the input for an output of this shape. */
  inverseShape(shape: readonly number[]): readonly number[] {
    return shape;
  }

  /** Returns whether another transform computes the same function. */
  equals(other: Transform): boolean {
    return this === other;
  }

  /** The name of the class. */
  toString(): string {
    return `${this.constructor.name}()`;
  }

  private checked(method: string, name: string, value: Tensor): Tensor {
    return tensorRule.check(`${this.constructor.name}.${method}`, name, value);
  }

  private remember(x: Tensor, y: Tensor, result: Tensor): void {
    if (this.cacheSize === 0) return;
    const given = result === y ? x : y;
    // If the result outlives its scope, so must the tensor that it was computed from, which inverse() returns.
    if (result !== given) leaveTogether(result, given);
    this.last = { x, y, state: this.stateOf(x, y), isRecorded: isGradEnabled() };
  }

  // Whether the cached pair is still valid: no tensor has changed, and all gradients needed now were recorded.
  private isLike({ x, y, state, isRecorded }: Pair, given: Tensor): boolean {
    if (x.disposed || y.disposed || state !== this.stateOf(x, y)) return false;
    if (isRecorded || !isGradEnabled()) return true;
    return ![given, ...this.tensors].some((tensor) => tensor.requiresGrad);
  }

  private stateOf(x: Tensor, y: Tensor): string {
    const states = [x, y, ...this.tensors].map((tensor) => {
      return [tensor.isInference ? 0 : tensor.version, tensor.requiresGrad];
    });
    return String(states);
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

export const transform = /* @__PURE__ */ new Rule<Transform>(
  "a transform",
  (value) => value instanceof Transform,
);

type Shape = readonly number[];

/** The argument of transformation(); each function receives the transform as its last argument. */
export interface TransformDeclaration<
  Self,
  G extends unknown[] = TransformArguments,
  R extends Rules = Rules,
> {
  /** Only its type is used: the constructor's arguments, whose names editors show; default only `cacheSize`. */
  given?: G;
  /** The rules of the constructor's arguments before `cacheSize`, which become the fields. */
  arguments?: R;
  /** Returns the fields for a call, also one with another `cacheSize`; default the arguments. */
  fields?: (call: Values<R> & { cacheSize: CacheSize }, where: string) => object;
  domain: Constraint | ((self: Self) => Constraint);
  codomain: Constraint | ((self: Self) => Constraint);
  /** Default true. */
  bijective?: boolean | ((self: Self) => boolean);
  /** Without it, reading the sign throws. */
  sign?: number | ((self: Self) => number | Tensor);
  forward: (x: Tensor, self: Self) => Tensor;
  inverse: (y: Tensor, self: Self) => Tensor;
  /** The log of the absolute determinant of the Jacobian, for bijective transforms. */
  logStretch?: (x: Tensor, y: Tensor, self: Self) => Tensor;
  /** Default the shape itself. */
  forwardShape?: (shape: Shape, self: Self) => Shape;
  inverseShape?: (shape: Shape, self: Self) => Shape;
  /** Whether another transform of the class computes the same function; default true. */
  equals?: (other: Self, self: Self) => boolean;
  /** The arguments in the text of the transform; default none. */
  text?: (self: Self) => string;
  /** The tensors that the transform depends on; default its fields that are tensors. */
  tensors?: (self: Self) => readonly Tensor[];
}

/** A declared transform. */
export class DeclaredTransform extends Transform {
  /** @internal */
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

  override toString(): string {
    return `${this.constructor.name}(${this.declaration.text?.(this) ?? ""})`;
  }
}

/** The base class of a declared transform with this constructor. */
export type TransformClass<G extends unknown[], T extends Transform> = Overloads<G, T>;

/** Returns the base class of a declared transform. */
export function transformation<
  G extends unknown[] = TransformArguments,
  R extends Rules = Record<never, never>,
  Fields = Readonly<Values<R>>,
>(
  declaration: TransformDeclaration<DeclaredTransform & Fields, G, R>,
): TransformClass<G, DeclaredTransform & Fields> {
  const rules: Rules = { ...declaration.arguments, ...kTransformOptions };
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

/** A declared transform that is increasing. */
export interface RisingTransform extends DeclaredTransform {
  readonly sign: number;
}

/** Returns the base class of a declared increasing transform of real numbers. */
export function rising(
  declaration: Omit<TransformDeclaration<DeclaredTransform>, "domain" | "sign">,
): TransformClass<TransformArguments, RisingTransform> {
  return transformation({ ...declaration, domain: real, sign: 1 }) as never;
}

function valueFor<Self, T extends object | boolean | number>(
  self: Self,
  value: T | ((self: Self) => T),
): T {
  return typeof value === "function" ? value(self) : value;
}

class InverseTransform extends transformation({
  given: {} as [original: Transform],
  arguments: { original: transform },
  tensors: ({ original }) => original.tensors,
  domain: ({ original }) => original.codomain,
  codomain: ({ original }) => original.domain,
  bijective: ({ original }) => original.bijective,
  sign: ({ original }) => original.sign,
  forward: (x, { original }) => original.inverse(x),
  inverse: (y, { original }) => original.call(y),
  logStretch: (x, y, { original }) => original.logAbsDetJacobian(y, x).neg(),
  forwardShape: (shape, { original }) => original.inverseShape(shape),
  inverseShape: (shape, { original }) => original.forwardShape(shape),
  equals: (other, { original }) => original.equals(other.original),
}) {
  // The original caches both directions.
  override withCache(...given: TransformArguments): Transform {
    return this.original.withCache(...given).inv;
  }

  override get inv(): Transform {
    return this.original;
  }

  override toString(): string {
    return `${this.original}.inv`;
  }
}
