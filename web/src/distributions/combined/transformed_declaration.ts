// Declarations of distributions that are another one's values after transforms.

import type { Tensor } from "../../tensor/tensor.js";
import {
  type Constraints,
  type Formulas,
  type Named,
  readParameters,
  rulesFor,
  withFormulas,
} from "../base/declaration.js";
import type { Distribution } from "../base/distribution.js";
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

/** Returns what a class of transformed distributions extends. With `parametersOf` it has no parameters besides those of its base. */
export function transformed<G extends unknown[], C extends Constraints, Base extends Distribution>(
  declaration: TransformedDeclaration<G, C, Base>,
): new (
  ...given: G
) => DeclaredTransformed<C, Base> {
  const { parameters, base, transforms, parametersOf } = declaration;
  const rules = rulesFor(parameters);
  class Transformed extends TransformedDistribution {
    constructor(...given: G) {
      const { name } = new.target;
      const { tensors, validateArgs } = readParameters(name, parameters, rules, given);
      const named = tensors as Named<C>;
      super(base(named), transforms(named), { validateArgs });
      if (parametersOf === undefined) this.take(tensors);
      else this.validateParameters(tensors);
    }
  }
  return withFormulas(Transformed, parameters, declaration) as never;
}
