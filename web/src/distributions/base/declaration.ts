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
import type { Tensor } from "../../tensor/tensor.js";
import type { Constraint } from "../constraints/constraint.js";
import {
  broadcastAll,
  kDistributionOptions,
  type Parameter,
  parameter,
  type Validation,
} from "./arguments.js";
import {
  Distribution,
  type DistributionParts,
  type Formulas,
  type Parameters,
} from "./distribution.js";

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
  abstract class Made extends Distribution {
    constructor(...given: G) {
      const { name } = new.target;
      const call = readArguments(name, rules, given);
      const { fields, ...others } = parts(name, call as never);
      super({ ...others, validateArgs: call.validateArgs as boolean | null });
      Object.assign(this, fields?.());
    }
  }
  return withFormulas({ ...declaration, base: Made }) as never;
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

/** A class with formulas, and with parameters that `parameters` constrains. */
interface FormulaDeclaration<B> extends Formulas<never> {
  base: B;
  parameters?: Constraints;
}

/** Returns a class with a getter for each parameter, and whose other members are computed by formulas. */
export function withFormulas<B extends object>(declaration: FormulaDeclaration<B>): B {
  const { base, parameters = {}, ...own } = declaration;
  const Base = base as unknown as DistributionClass;
  const formulas: Formulas<never> = { ...Base.prototype.formulas, ...own };
  abstract class WithFormulas extends Base {
    static {
      for (const name of Object.keys(parameters)) {
        Object.defineProperty(WithFormulas.prototype, name, {
          configurable: true,
          get(this: WithFormulas) {
            const given = this.parameters;
            return formulas.parameter?.(this as never, name as never, given) ?? given[name];
          },
        });
      }
    }

    override get formulas(): Formulas<never> {
      return formulas;
    }

    override get argConstraints(): Readonly<Record<string, Constraint>> {
      const listed = Object.entries(parameters).map(([name, constraint]) => {
        return [name, typeof constraint === "function" ? constraint() : constraint];
      });
      return { ...Object.fromEntries(listed), ...super.argConstraints };
    }
  }
  return WithFormulas as never;
}
