// What all distributions have in common.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Constraint } from "../constraints/constraint.js";
import { dependent } from "../constraints/constraints.js";
import { type SampleShape, shapeOf } from "./arguments.js";
import { holdsEverywhere } from "./numbers.js";

/** Parameters of a distribution by name, those that were given. */
export type Parameters = Readonly<Record<string, Tensor | undefined>>;

/** What a distribution is made with. */
export interface DistributionParts<P extends Parameters> {
  /** Tensors whose first dimensions are the batch shape; `argConstraints` says what they may be. */
  readonly parameters: P;
  /** The shape of independent distributions that are not the same; default []. */
  readonly batchShape?: readonly number[];
  /** The shape of one value; default []. */
  readonly eventShape?: readonly number[];
  /** Check parameters and values; default `Distribution.setDefaultValidateArgs`'s. */
  readonly validateArgs?: boolean | null | undefined;
}

type Shape = readonly number[];

/** What a class of distributions knows, as functions of a distribution. */
export interface Formulas<Self> {
  support?: Constraint | ((it: Self) => Constraint);
  mean?: (it: Self) => Tensor;
  mode?: (it: Self) => Tensor;
  variance?: (it: Self) => Tensor;
  stddev?: (it: Self) => Tensor;
  /** Draws values that gradients pass through: in `shape`, which is `sampleShape`, the batch shape and the event shape. */
  rsample?: (it: Self, shape: Shape, sampleShape: Shape) => Tensor;
  /** Draws values where there is no rsample; nothing is recorded. */
  sample?: (it: Self, shape: Shape, sampleShape: Shape) => Tensor;
  /** The value has been checked; `where` is for messages. */
  logProb?: (it: Self, value: Tensor, where: string) => Tensor;
  cdf?: (it: Self, value: Tensor) => Tensor;
  icdf?: (it: Self, value: Tensor) => Tensor;
  entropy?: (it: Self) => Tensor;
  /** What enumerateSupport() returns. */
  values?: (it: Self, expand: boolean) => Tensor;
  /** Returns what is wrong with parameters that each satisfy their constraint. */
  refuse?: (it: Self) => string | undefined;
  /** Returns a parameter by its name; default the one of `own` that was given. */
  parameter?: (it: Self, name: never, own: Parameters) => Tensor;
}

const kNoFormulas: Formulas<never> = {};

let validatesByDefault = true;

const kSupportArguments = { expand: boolean.or(true) };

/**
 * A batch of probability distributions. A subclass says what it can: `rsample` or `sample`, `logProb`, `mean` and so on;
 * what it does not say is an error that names it.
 */
export abstract class Distribution<P extends Parameters = Parameters> {
  /** The shape of independent distributions that are not the same. */
  readonly batchShape: readonly number[];
  /** The shape of one value. */
  readonly eventShape: readonly number[];
  /** The parameters that were given, in their common shape. */
  protected readonly parameters: P;
  /** Whether values are checked. */
  protected readonly validatesArgs: boolean;

  /** Sets whether distributions check parameters and values where `validateArgs` does not say; at first they do. */
  static setDefaultValidateArgs(value: boolean): void {
    validatesByDefault = boolean.check("setDefaultValidateArgs", "value", value);
  }

  protected constructor(parts: DistributionParts<P>) {
    if (new.target === Distribution) {
      fail("InvalidArgument", "Distribution", "it is abstract: make one of its subclasses.");
    }
    this.parameters = parts.parameters;
    this.batchShape = parts.batchShape ?? [];
    this.eventShape = parts.eventShape ?? [];
    this.validatesArgs = parts.validateArgs ?? validatesByDefault;
    this.validateParameters(parts.parameters);
  }

  /** What its class is declared with, see declaration.ts. @internal */
  get formulas(): Formulas<never> {
    return kNoFormulas;
  }

  /** What each parameter may be. */
  get argConstraints(): Readonly<Record<string, Constraint>> {
    return {};
  }

  /** The values that have a probability. */
  get support(): Constraint {
    const { support = this.missing("support") } = this.formulas;
    return typeof support === "function" ? support(this as never) : support;
  }

  /** Whether rsample() draws values that gradients pass through. */
  get hasRsample(): boolean {
    return this.formulas.rsample !== undefined;
  }

  /** Whether enumerateSupport() lists all values. */
  get hasEnumerateSupport(): boolean {
    return this.formulas.values !== undefined;
  }

  /** The mean. */
  get mean(): Tensor {
    return this.formulas.mean?.(this as never) ?? this.missing("mean");
  }

  /** The most probable value. */
  get mode(): Tensor {
    return this.formulas.mode?.(this as never) ?? this.missing("mode");
  }

  /** The variance. */
  get variance(): Tensor {
    return this.formulas.variance?.(this as never) ?? this.missing("variance");
  }

  /** The standard deviation. */
  get stddev(): Tensor {
    return this.formulas.stddev?.(this as never) ?? this.variance.sqrt();
  }

  /** Draws values without recording: `shape`, then the batch shape, then the shape of one value. */
  sample(shape: SampleShape = []): Tensor {
    const { sample } = this.formulas;
    const own = shapeOf(this.whereIs("sample"), shape);
    if (sample === undefined) return noGrad(() => this.rsample(own));
    const extended = this.extendedShape("sample", own);
    return noGrad(() => sample(this as never, extended, own));
  }

  /** Like sample(), but gradients pass through the values to the parameters. */
  rsample(shape: SampleShape = []): Tensor {
    const own = shapeOf(this.whereIs("rsample"), shape);
    const { rsample = this.missing("rsample") } = this.formulas;
    return rsample(this as never, this.extendedShape("rsample", own), own);
  }

  /** Returns the logarithm of the density, or of the probability, of values, per distribution. */
  logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const { logProb = this.missing("logProb") } = this.formulas;
    return logProb(this as never, value, this.whereIs("logProb"));
  }

  /** Returns the probability of values up to `value`. */
  cdf(value: Tensor): Tensor {
    this.validateSample("cdf", value);
    return this.formulas.cdf?.(this as never, value) ?? this.missing("cdf");
  }

  /** Returns the value up to which the probability is `value`: the inverse of cdf(). */
  icdf(value: Tensor): Tensor {
    this.checkTensor("icdf", value);
    return this.formulas.icdf?.(this as never, value) ?? this.missing("icdf");
  }

  /** Returns all values along a first dimension; unless `expand`, the dimensions of the batch have the size 1. */
  enumerateSupport(...given: Arguments<[expand: boolean], { expand?: boolean }>): Tensor {
    return this.listSupport(
      readArguments(this.whereIs("enumerateSupport"), kSupportArguments, given).expand,
    );
  }

  /** Returns the entropy, per distribution. */
  entropy(): Tensor {
    return this.formulas.entropy?.(this as never) ?? this.missing("entropy");
  }

  /** Returns the exponential of the entropy. */
  perplexity(): Tensor {
    return this.entropy().exp();
  }

  /** Returns the same distribution with its batch expanded to a shape; it shares the parameters. */
  expand(batchShape: SampleShape): this {
    const shape = shapeOf(this.whereIs("expand"), batchShape);
    return this.changed({ batchShape: shape, parameters: this.expandedParameters(shape) });
  }

  /** The parameters that it has. @internal */
  get tensors(): readonly Tensor[] {
    return Object.values(this.parameters).filter((value) => value !== undefined);
  }

  /** Its name with its parameters, by value when they are one number, else by shape. */
  toString(): string {
    const listed = Object.entries(this.parameters).flatMap(([name, value]) => {
      if (value === undefined) return [];
      return [`${name}: ${value.numel === 1 ? value.detach().item() : `[${value.shape}]`}`];
    });
    return `${this.constructor.name}(${listed.join(", ")})`;
  }

  /** What enumerateSupport() returns. */
  protected listSupport(expand: boolean): Tensor {
    return this.formulas.values?.(this as never, expand) ?? this.missing("enumerateSupport");
  }

  /** Returns a copy that has these properties and no others changed. */
  protected changed(properties: object): this {
    return Object.assign(Object.create(Object.getPrototypeOf(this)), this, properties);
  }

  /** Returns the parameters for another batch shape. */
  protected expandedParameters(shape: readonly number[]): P {
    const ownNdim = this.batchShape.length;
    const expanded = Object.entries(this.parameters).map(([name, value]) => {
      return [name, value?.expand([...shape, ...value.shape.slice(ownNdim)])];
    });
    return Object.fromEntries(expanded);
  }

  /** Returns the shape of a sample. */
  protected extendedShape(where: string, shape: SampleShape): number[] {
    return [...shapeOf(this.whereIs(where), shape), ...this.batchShape, ...this.eventShape];
  }

  /** Throws InvalidArgument, if validation is wanted, when a parameter is not what `argConstraints` says. */
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
      const told = `Expected parameter ${name} (a tensor of shape [${value.shape}]) of distribution ${this} to satisfy the constraint ${constraint}, but found invalid values:\n${value.detach()}`;
      fail("InvalidArgument", this.constructor.name, told);
    }
    const told = this.formulas.refuse?.(this as never);
    if (told !== undefined) fail("InvalidArgument", this.constructor.name, told);
  }

  /** Throws when `value` is no tensor; if validation is wanted, also when its shape or values are none of this distribution's. */
  protected validateSample(where: string, value: Tensor): void {
    this.checkTensor(where, value);
    if (!this.validatesArgs) return;
    this.checkShape(where, value.shape);
    const { support } = this;
    if (holdsEverywhere(() => support.check(value))) return;
    const told = `Expected value (a tensor of shape [${value.shape}]) to be within the support (${support}) of the distribution ${this}, but found invalid values:\n${value.detach()}`;
    fail("InvalidArgument", this.whereIs(where), told);
  }

  /** Throws InvalidArgument: this distribution has no `what`. */
  protected missing(what: string, why = ""): never {
    const told = `${this.constructor.name} does not implement ${what}${why}.`;
    return fail("InvalidArgument", this.whereIs(what), told);
  }

  /** Throws InvalidArgument when `value` is no tensor. */
  protected checkTensor(where: string, value: Tensor): void {
    tensorRule.check(this.whereIs(where), "value", value);
  }

  /** Returns what messages call a method. */
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
    const told = `Value is not broadcastable with batchShape + eventShape: [${shape}] vs [${own}].`;
    fail("ShapeMismatch", this.whereIs(where), told);
  }
}
