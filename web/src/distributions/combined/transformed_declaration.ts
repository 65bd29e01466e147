// Declarations of distributions that are another one's values after transforms.

import { readArguments } from "../../arguments/read.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastParts,
  type Constraints,
  type DeclaredClass,
  type Named,
  rulesFor,
  withFormulas,
} from "../base/declaration.js";
import type { Distribution, Formulas } from "../base/distribution.js";
import type { Transform } from "../transforms/transform.js";
import { TransformedDistribution } from "./transformed_distribution.js";

/** A declared transformed distribution. */
export type DeclaredTransformed<C, Base extends Distribution> = TransformedDistribution<
  Base,
  Record<keyof C & string, Tensor>
> &
  Named<C>;

/** What transformed() takes. */
export interface TransformedDeclaration<
  G extends unknown[],
  C extends Constraints,
  Base extends Distribution,
> extends Formulas<DeclaredTransformed<C, Base>> {
  /** The type of the constructor's arguments, whose names editors show; the value is not read. */
  given: G;
  parameters: C;
  /** Returns the distribution before the transforms; its arguments need no check. */
  base: (parameters: Named<C>) => Base;
  transforms: (parameters: Named<C>) => Transform | readonly Transform[];
}

/** Returns what a class of transformed distributions extends. With `parameter` it has no parameters besides those of its base. */
export function transformed<G extends unknown[], C extends Constraints, Base extends Distribution>(
  declaration: TransformedDeclaration<G, C, Base>,
): DeclaredClass<G, DeclaredTransformed<C, Base>> {
  const { parameters, base, transforms, parameter } = declaration;
  const names = Object.keys(parameters);
  const rules = rulesFor(parameters);
  class Transformed extends TransformedDistribution {
    constructor(...given: G) {
      const { name } = new.target;
      const { validateArgs, ...values } = readArguments(name, rules, given);
      const tensors = broadcastParts(name, names, values as never).parameters;
      const named = tensors as Named<C>;
      super(base(named), transforms(named), { validateArgs: validateArgs as boolean | null });
      if (parameter === undefined) this.take(tensors);
      else this.validateParameters(tensors);
    }
  }
  return withFormulas({ ...declaration, base: Transformed }) as never;
}
