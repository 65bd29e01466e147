// The base class of all distributions.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Constraint } from "../constraints/constraint.js";
import { dependent } from "../constraints/constraints.js";
import { type SampleShape, shapeOf } from "./arguments.js";
import { holdsEverywhere } from "./numbers.js";

/** The parameters of a distribution by name; undefined for those that were not given. */
export type Parameters = Readonly<Record<string, Tensor | undefined>>;

/** The parts of a distribution. */
export interface DistributionParts<P extends Parameters> {
  /** Tensors whose leading dimensions are the batch shape; they must satisfy `argConstraints`. */
  readonly parameters: P;
  /** The shape of the batch of independent distributions; default []. */
  readonly batchShape?: readonly number[];
  /** The shape of one value; default []. */
  readonly eventShape?: readonly number[];
  /** Check parameters and values; default as set by `Distribution.setDefaultValidateArgs`. */
  readonly validateArgs?: boolean | null | undefined;
}

type Shape = readonly number[];

/** The formulas of a class of distributions, as functions of a distribution. */
export interface Formulas<Self> {
  support?: Constraint | ((self: Self) => Constraint);
  mean?: (self: Self) => Tensor;
  mode?: (self: Self) => Tensor;
  variance?: (self: Self) => Tensor;
  stddev?: (self: Self) => Tensor;
  /** Draws differentiable samples of `shape`, which is `sampleShape` followed by the batch shape and the event shape. */
  rsample?: (self: Self, shape: Shape, sampleShape: Shape) => Tensor;
  /** Draws samples of a distribution without `rsample`; runs without recording. */
  sample?: (self: Self, shape: Shape, sampleShape: Shape) => Tensor;
  /** `value` has been validated; `where` is the name of the call for error messages. */
  logProb?: (self: Self, value: Tensor, where: string) => Tensor;
  cdf?: (self: Self, value: Tensor) => Tensor;
  icdf?: (self: Self, value: Tensor) => Tensor;
  entropy?: (self: Self) => Tensor;
  /** Computes the result of enumerateSupport(). */
  values?: (self: Self, expand: boolean) => Tensor;
  /** Returns what is wrong with the parameters together, after each has satisfied its constraint. */
  refuse?: (self: Self) => string | undefined;
  /** Returns a parameter by its name; default the one in `own`, the parameters as given. */
  parameter?: (self: Self, name: never, own: Parameters) => Tensor;
}

const kNoFormulas: Formulas<never> = {};

let validatesByDefault = true;

const kSupportArguments = { expand: boolean.or(true) };

/**
 * A batch of probability distributions. A subclass implements what it supports: `rsample` or `sample`, `logProb`, `mean` and
 * so on; the other members throw an error that names them.
 */
export abstract class Distribution<P extends Parameters = Parameters> {
  /** The shape of the batch of independent distributions. */
  readonly batchShape: readonly number[];
  /** The shape of one value. */
  readonly eventShape: readonly number[];
  /** The parameters as given, broadcast to their common shape. */
  protected readonly parameters: P;
  /** Whether values are checked. */
  protected readonly validatesArgs: boolean;

  /** Sets whether distributions check parameters and values unless `validateArgs` is given; initially true. */
  static setDefaultValidateArgs(value: boolean): void {
    validatesByDefault = boolean.check("setDefaultValidateArgs", "value", value);
  }

  protected constructor(parts: DistributionParts<P>) {
    if (new.target === Distribution) {
      fail(
        "InvalidArgument",
        "Distribution",
        "this class is abstract: create one of its subclasses.",
      );
    }
    this.parameters = parts.parameters;
    this.batchShape = parts.batchShape ?? [];
    this.eventShape = parts.eventShape ?? [];
    this.validatesArgs = parts.validateArgs ?? validatesByDefault;
    this.validateParameters(parts.parameters);
  }

  /** The formulas of its class, see declaration.ts. @internal */
  get classFormulas(): Formulas<never> {
    return kNoFormulas;
  }

  /** The constraint of each parameter. */
  get argConstraints(): Readonly<Record<string, Constraint>> {
    return {};
  }

  /** The set of values that have a probability. */
  get support(): Constraint {
    const { support = this.missing("support") } = this.classFormulas;
    return typeof support === "function" ? support(this as never) : support;
  }

  /** Whether rsample() is supported, whose samples are differentiable. */
  get hasRsample(): boolean {
    return this.classFormulas.rsample !== undefined;
  }

  /** Whether enumerateSupport() is supported. */
  get hasEnumerateSupport(): boolean {
    return this.classFormulas.values !== undefined;
  }

  /** The mean. */
  get mean(): Tensor {
    return this.classFormulas.mean?.(this as never) ?? this.missing("mean");
  }

  /** The most probable value. */
  get mode(): Tensor {
    return this.classFormulas.mode?.(this as never) ?? this.missing("mode");
  }

  /** The variance. */
  get variance(): Tensor {
    return this.classFormulas.variance?.(this as never) ?? this.missing("variance");
  }

  /** The standard deviation. */
  get stddev(): Tensor {
    return this.classFormulas.stddev?.(this as never) ?? this.variance.sqrt();
  }

  /** Draws samples without recording gradients, of `shape` followed by the batch shape and the event shape. */
  sample(shape: SampleShape = []): Tensor {
    const { sample } = this.classFormulas;
    const own = shapeOf(this.whereIs("sample"), shape);
    if (sample === undefined) return noGrad(() => this.rsample(own));
    const extended = this.extendedShape("sample", own);
    return noGrad(() => sample(this as never, extended, own));
  }

  /** Like sample(), but gradients flow through the samples to the parameters. */
  rsample(shape: SampleShape = []): Tensor {
    const own = shapeOf(this.whereIs("rsample"), shape);
    const { rsample = this.missing("rsample") } = this.classFormulas;
    return rsample(this as never, this.extendedShape("rsample", own), own);
  }

  /** Returns the log density, or the log probability, of `value`, one number per distribution. */
  logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const { logProb = this.missing("logProb") } = this.classFormulas;
    return logProb(this as never, value, this.whereIs("logProb"));
  }

  /** Returns the cumulative probability at `value`. */
  cdf(value: Tensor): Tensor {
    this.validateSample("cdf", value);
    return this.classFormulas.cdf?.(this as never, value) ?? this.missing("cdf");
  }

  /** Returns the value whose cumulative probability is `value`: the inverse of cdf(). */
  icdf(value: Tensor): Tensor {
    this.checkTensor("icdf", value);
    return this.classFormulas.icdf?.(this as never, value) ?? this.missing("icdf");
  }

  /** Returns all values along a new first dimension; without `expand`, the batch dimensions have size 1. */
  enumerateSupport(...given: Arguments<[expand: boolean], { expand?: boolean }>): Tensor {
    return this.listSupport(
      readArguments(this.whereIs("enumerateSupport"), kSupportArguments, given).expand,
    );
  }

  /** Returns the entropy, one number per distribution. */
  entropy(): Tensor {
    return this.classFormulas.entropy?.(this as never) ?? this.missing("entropy");
  }

  /** Returns the exponential of the entropy. */
  perplexity(): Tensor {
    return this.entropy().exp();
  }

  /** Returns the distribution with its batch expanded to a shape; the parameters are shared. */
  expand(batchShape: SampleShape): this {
    const shape = shapeOf(this.whereIs("expand"), batchShape);
    return this.changed({ batchShape: shape, parameters: this.expandedParameters(shape) });
  }

  /** The parameters that were given. @internal */
  get tensors(): readonly Tensor[] {
    return Object.values(this.parameters).filter((value) => value !== undefined);
  }

  /** The name of the class with the parameters: their value if they have one element, else their shape. */
  toString(): string {
    const listed = Object.entries(this.parameters).flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [`${name}: ${value.numel === 1 ? value.detach().item() : `[${value.shape}]`}`];
    });
    return `${this.constructor.name}(${listed.join(", ")})`;
  }

  /** Computes the result of enumerateSupport(). */
  protected listSupport(expand: boolean): Tensor {
    return this.classFormulas.values?.(this as never, expand) ?? this.missing("enumerateSupport");
  }

  /** Returns a copy with some properties replaced. */
  protected changed(properties: object): this {
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this, properties);
  }

  /** Returns the parameters expanded to another batch shape. */
  protected expandedParameters(shape: readonly number[]): P {
    const ownNdim = this.batchShape.length;
    const expanded = Object.entries(this.parameters).map(([name, value]) => {
      return [name, value?.expand([...shape, ...value.shape.slice(ownNdim)])];
    });
    return Object.fromEntries(expanded);
  }

  /** Returns the full shape of a sample. */
  protected extendedShape(where: string, shape: SampleShape): number[] {
    return [...shapeOf(this.whereIs(where), shape), ...this.batchShape, ...this.eventShape];
  }

  /** Throws InvalidArgument if validation is on and a parameter violates its constraint. */
  protected validateParameters(parameters: Parameters): void {
    if (!this.validatesArgs) return;
    for (const [name, constraint] of Object.entries(this.argConstraints)) {
      const value = parameters[name];
      if (
        value === undefined ||
        constraint === dependent ||
        holdsEverywhere(() => constraint.check(value))
      )
        continue;
      const message = `${name}: expected values of the constraint ${constraint} in ${this}, got shape [${value.shape}]:\n${value.detach()}`;
      fail("InvalidArgument", this.constructor.name, message);
    }
    const message = this.classFormulas.refuse?.(this as never);
    if (message !== undefined) fail("InvalidArgument", this.constructor.name, message);
  }

  /** Throws if `value` is not a tensor or, if validation is on, if its shape does not fit or its values are not in the support. */
  protected validateSample(where: string, value: Tensor): void {
    this.checkTensor(where, value);
    if (!this.validatesArgs) return;
    this.checkShape(where, value.shape);
    const { support } = this;
    if (holdsEverywhere(() => support.check(value))) return;
    const message = `value: expected values of the support ${support} of ${this}, got shape [${value.shape}]:\n${value.detach()}`;
    fail("InvalidArgument", this.whereIs(where), message);
  }

  /** Throws InvalidArgument because the distribution does not implement `what`. */
  protected missing(what: string, why = ""): never {
    const message = `${this.constructor.name} does not implement ${what}${why}.`;
    return fail("InvalidArgument", this.whereIs(what), message);
  }

  /** Throws InvalidArgument if `value` is not a tensor. */
  protected checkTensor(where: string, value: Tensor): void {
    tensorRule.check(this.whereIs(where), "value", value);
  }

  /** Returns the name of a method for error messages. */
  protected whereIs(method: string): string {
    return `${this.constructor.name}.${method}`;
  }

  private checkShape(where: string, shape: readonly number[]): void {
    const own = [...this.batchShape, ...this.eventShape];
    const eventStart = own.length - this.eventShape.length;
    const fits = own.every((size, dim) => {
      const given = shape[dim - own.length + shape.length];
      if (dim >= eventStart) return given === size;
      return given === undefined || given === 1 || size === 1 || given === size;
    });
    if (fits) return;
    const message = `value: expected a shape that broadcasts with batchShape + eventShape [${own}], got [${shape}].`;
    fail("ShapeMismatch", this.whereIs(where), message);
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}
