// Declarations of distributions: parameters, each with its constraint, and formulas. distribution() turns one into
// a base class, so that a regular distribution is nothing but its declaration:
//
//   export class Exponential extends distribution({
//     given: {} as Given<[rate: Parameter]>,
//     parameters: {
//       /** The rate: events per unit of time. */
//       rate: positive,
//     },
//     support: nonnegative,
//     mean: ({ rate }) => rate.reciprocal(),
//     ...
//   }) {}
//
// `class ... extends` gives the class its name and its type. Formulas are arrow functions or methods of the declaration;
// they receive the distribution, never `this`. What a declaration cannot say is written in the body of the class.

import { type Overloads, readArguments } from "../../arguments/read.js";
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
  // biome-ignore lint/suspicious/noExplicitAny: the constructors of distributions have no common parameters.
  ...given: any[]
) => D;

/** The arguments of a constructor: its own, then those of every distribution. */
export type Given<Own extends unknown[]> = [...Own, ...rest: Validation];

/** The constraint of each parameter, in the order of the constructor. A function creates its constraint on demand. */
export type Constraints = Readonly<Record<string, Constraint | (() => Constraint)>>;

/** The constrained parameters as tensors; each keeps the comment of its constraint. */
export type Named<C> = { readonly [Name in keyof C]: Tensor };

/** A declared distribution. */
export type Declared<C> = Distribution<Record<keyof C & string, Tensor>> & Named<C>;

/** The argument of distribution(). */
export interface Declaration<G extends unknown[], C extends Constraints, Fields>
  extends Formulas<Declared<C> & Fields> {
  /** Only its type is used: the constructor's arguments, whose names editors show. */
  given: G;
  /** The rules of the constructor's arguments; default one tensor or number per parameter. */
  arguments?: Rules;
  parameters: C;
  /** Returns the parts of a distribution; default the parameters, broadcast to the shape of the batch. */
  parts?: (where: string, call: never) => Parts<Fields>;
}

/** The parts of a distribution, except whether to validate, and fields of the class. */
export interface Parts<Fields = unknown>
  extends Omit<DistributionParts<Parameters>, "validateArgs"> {
  /** Returns the fields; called after the parameters have been validated. */
  readonly fields?: () => Fields;
}

/** The base class of a declared class with this constructor. */
export type DeclaredClass<G extends unknown[], D extends Distribution> = Overloads<G, D> &
  Pick<typeof Distribution, "setDefaultValidateArgs">;

/** Returns the base class of a declared distribution. */
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

/** Returns rules for one tensor or number per parameter, and the common options. */
export function rulesFor(constraints: Constraints): Rules {
  const rules = Object.keys(constraints).map((name) => [name, parameter]);
  return { ...Object.fromEntries(rules), ...kDistributionOptions };
}

/** Returns the named arguments as tensors, broadcast to one shape, which is the shape of the batch. */
export function broadcastParts(
  where: string,
  names: readonly string[],
  call: Readonly<Record<string, Parameter>>,
): Parts<never> & { parameters: Record<string, Tensor> } {
  const tensors = broadcastAll(where, ...names.map((name) => call[name] as Parameter));
  const named = names.map((name, i) => [name, tensors[i] as Tensor]);
  return { parameters: Object.fromEntries(named), batchShape: tensors[0]?.shape ?? [] };
}

/** The argument of withFormulas(). */
interface FormulaDeclaration<B> extends Formulas<never> {
  base: B;
  parameters?: Constraints;
}

/** Returns a subclass of `base` with a getter for each parameter and with these formulas. */
export function withFormulas<B extends object>(declaration: FormulaDeclaration<B>): B {
  const { base, parameters = {}, ...own } = declaration;
  const Base = base as unknown as DistributionClass;
  const formulas: Formulas<never> = { ...Base.prototype.classFormulas, ...own };
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

    override get classFormulas(): Formulas<never> {
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
