// Declarations of distributions: parameters, each with its constraint, and formulas. distribution() makes of one
// what a class of distributions consists of, so that a regular class is its declaration:
//
//   export class Exponential extends distribution({
//     given: {} as Given<[rate: Parameter]>,
//     parameters: {
//       /** Events per unit. */
//       rate: positive,
//     },
//     support: nonnegative,
//     mean: ({ rate }) => rate.reciprocal(),
//     ...
//   }) {}
//
// The class itself is written with `class ... extends`, which gives it its name and its type.

import { readArguments } from "../../arguments/read.js";
import type { Rules } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Constraint } from "../constraints/constraints.js";
import {
  broadcastAll,
  kDistributionOptions,
  type Parameter,
  parameter,
  type SampleShape,
  shapeOf,
  type Validation,
} from "./arguments.js";
import { Distribution, type DistributionParts, type Parameters } from "./distribution.js";

/** A class of distributions. */
export type DistributionClass<D extends Distribution = Distribution> = abstract new (
  // biome-ignore lint/suspicious/noExplicitAny: the constructors of distributions have nothing in common.
  ...given: any[]
) => D;

/** The arguments of a constructor: its own, then those of every distribution. */
export type Given<Own extends unknown[]> = [...Own, ...rest: Validation];

/** Parameters by name, in the order of the constructor: what each may be. A function stands for what is made on demand. */
export type Constraints = Readonly<Record<string, Constraint | (() => Constraint)>>;

/** The parameters that constraints are for, as tensors; each has the comment of its constraint. */
export type Named<C> = { readonly [Name in keyof C]: Tensor };

type Shape = readonly number[];

/** What a distribution knows, as functions of it; what is left out is inherited. */
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

/** A declared distribution. */
export type Declared<C> = Distribution<Record<keyof C & string, Tensor>> & Named<C>;

/** What distribution() takes. */
export interface Declaration<G extends unknown[], C extends Constraints, Fields>
  extends Formulas<Declared<C> & Fields> {
  /** The type of the constructor's arguments, whose names editors show; the value is not read. */
  given: G;
  /** How the constructor's arguments are read; default one tensor or number for each parameter. */
  arguments?: Rules;
  parameters: C;
  /** Returns what a distribution is made with, with fields; default the parameters, broadcast to the shape of the batch. */
  parts?: (where: string, call: never) => Parts<Fields>;
}

/** What a distribution is made with, besides whether it is validated. */
export interface Parts<Fields = unknown>
  extends Omit<DistributionParts<Parameters>, "validateArgs"> {
  /** Returns fields, once the parameters have been validated. */
  readonly fields?: () => Fields;
}

/** What a class of distributions with such a constructor extends. */
export interface DeclaredClass<G extends unknown[], D extends Distribution>
  extends Pick<typeof Distribution, "setDefaultValidateArgs"> {
  new (...given: G): D;
}

/** Returns what a class of distributions extends. */
export function distribution<G extends unknown[], C extends Constraints, Fields = unknown>(
  declaration: Declaration<G, C, Fields>,
): DeclaredClass<G, Declared<C> & Fields> {
  const { parameters } = declaration;
  const names = Object.keys(parameters);
  const rules = declaration.arguments ?? rulesFor(parameters);
  const parts = declaration.parts ?? ((where, call) => broadcastParts(where, names, call));
  abstract class Declared extends Distribution {
    constructor(...given: G) {
      const { name } = new.target;
      const call = readArguments(name, rules, given);
      const { fields, ...others } = parts(name, call as never);
      super({ ...others, validateArgs: call.validateArgs as boolean | null });
      Object.assign(this, fields?.());
    }
  }
  return withFormulas(Declared, parameters, declaration) as never;
}

/** Returns the rules of arguments that are one tensor or number for each parameter. */
export function rulesFor(constraints: Constraints): Rules {
  const rules = Object.keys(constraints).map((name) => [name, parameter]);
  return { ...Object.fromEntries(rules), ...kDistributionOptions };
}

/** Returns parameters with these names as tensors of one shape, that of the batch. */
export function broadcastParts(
  where: string,
  names: readonly string[],
  call: Readonly<Record<string, Parameter>>,
): Parts<never> & { parameters: Record<string, Tensor> } {
  const tensors = broadcastAll(where, ...names.map((name) => call[name] as Parameter));
  const named = names.map((name, i) => [name, tensors[i] as Tensor]);
  return { parameters: Object.fromEntries(named), batchShape: tensors[0]?.shape ?? [] };
}

/** Returns a class with a getter for each parameter, and whose other members are computed by formulas. */
export function withFormulas<B extends DistributionClass>(
  Base: B,
  constraints: Constraints,
  formulas: Formulas<never>,
): B {
  const { parameter, support, refuse, values } = formulas;
  abstract class WithFormulas extends Base {
    static {
      for (const name of Object.keys(constraints)) {
        Object.defineProperty(WithFormulas.prototype, name, {
          configurable: true,
          get(this: WithFormulas) {
            const own = this.parameters;
            return parameter?.(this as never, name as never, own) ?? own[name];
          },
        });
      }
    }

    override get argConstraints(): Readonly<Record<string, Constraint>> {
      const own = Object.entries(constraints).map(([name, constraint]) => {
        return [name, typeof constraint === "function" ? constraint() : constraint];
      });
      return { ...Object.fromEntries(own), ...super.argConstraints };
    }

    override get support(): Constraint {
      if (support === undefined) return super.support;
      return typeof support === "function" ? support(this as never) : support;
    }

    override get hasRsample(): boolean {
      return formulas.rsample !== undefined || super.hasRsample;
    }

    override get hasEnumerateSupport(): boolean {
      return values !== undefined || super.hasEnumerateSupport;
    }

    override get mean(): Tensor {
      return formulas.mean?.(this as never) ?? super.mean;
    }

    override get mode(): Tensor {
      return formulas.mode?.(this as never) ?? super.mode;
    }

    override get variance(): Tensor {
      return formulas.variance?.(this as never) ?? super.variance;
    }

    override get stddev(): Tensor {
      return formulas.stddev?.(this as never) ?? super.stddev;
    }

    override sample(shape: SampleShape = []): Tensor {
      const { sample } = formulas;
      if (sample === undefined) return super.sample(shape);
      const [extended, own] = this.shapesOf("sample", shape);
      return noGrad(() => sample(this as never, extended, own));
    }

    override rsample(shape: SampleShape = []): Tensor {
      const { rsample } = formulas;
      if (rsample === undefined) return super.rsample(shape);
      return rsample(this as never, ...this.shapesOf("rsample", shape));
    }

    override logProb(value: Tensor): Tensor {
      const { logProb } = formulas;
      if (logProb === undefined) return super.logProb(value);
      this.validateSample("logProb", value);
      return logProb(this as never, value, this.whereIs("logProb"));
    }

    override cdf(value: Tensor): Tensor {
      const { cdf } = formulas;
      if (cdf === undefined) return super.cdf(value);
      this.validateSample("cdf", value);
      return cdf(this as never, value);
    }

    override icdf(value: Tensor): Tensor {
      const { icdf } = formulas;
      if (icdf === undefined) return super.icdf(value);
      this.checkTensor("icdf", value);
      return icdf(this as never, value);
    }

    override entropy(): Tensor {
      return formulas.entropy?.(this as never) ?? super.entropy();
    }

    protected override listSupport(expand: boolean): Tensor {
      return values?.(this as never, expand) ?? super.listSupport(expand);
    }

    protected override validateParameters(parameters: Parameters): void {
      super.validateParameters(parameters);
      const told = this.validatesArgs ? refuse?.(this as never) : undefined;
      if (told !== undefined) fail("InvalidArgument", this.constructor.name, told);
    }

    private shapesOf(where: string, shape: SampleShape): [Shape, Shape] {
      return [this.extendedShape(where, shape), shapeOf(this.whereIs(where), shape)];
    }
  }
  return WithFormulas;
}
