// Distributions of transformed values, and their declarations.

import { readArguments } from "../../arguments/read.js";
import { either, listOf } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors/errors.js";
import { hasShape } from "../../tensor/shape.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  type DistributionOptions,
  kDistributionOptions,
  type SampleShape,
  shapeOf,
} from "../base/arguments.js";
import {
  broadcastParts,
  type Constraints,
  type DeclaredClass,
  type Named,
  rulesFor,
  withFormulas,
} from "../base/declaration.js";
import { Distribution, type Formulas, type Parameters } from "../base/distribution.js";
import { sumRightmost } from "../base/numbers.js";
import { independent } from "../constraints/constraints.js";
import { ComposeTransform } from "../transforms/compose.js";
import { Transform, transform } from "../transforms/transform.js";
import { distribution, Independent } from "./independent.js";

const kArguments = {
  baseDistribution: distribution,
  transforms: either(transform, listOf(transform)),
  ...kDistributionOptions,
};

interface Transformed extends Distribution {
  readonly baseDist: Distribution;
  readonly transforms: readonly Transform[];
}

/** The distribution of the values of another distribution after one or several transforms. */
export class TransformedDistribution<
  Base extends Distribution = Distribution,
  P extends Parameters = Parameters,
> extends withFormulas({
  base: Distribution,
  support({ baseDist, eventShape, transforms }: Transformed) {
    const last = transforms.at(-1);
    if (last === undefined) return baseDist.support;
    const excess = eventShape.length - last.codomain.eventDim;
    return excess > 0 ? independent(last.codomain, excess) : last.codomain;
  },
  sample: (self: Transformed, _shape, sampleShape) =>
    afterTransforms(self, self.baseDist.sample(sampleShape)),
  rsample: (self: Transformed, _shape, sampleShape) =>
    afterTransforms(self, self.baseDist.rsample(sampleShape)),
  logProb({ baseDist, eventShape, transforms }: Transformed, value) {
    let eventDim = eventShape.length;
    let y = value;
    const logDets = [...transforms].reverse().map((part) => {
      const x = part.inv.call(y);
      eventDim += part.domain.eventDim - part.codomain.eventDim;
      const logDet = part.logAbsDetJacobian(x, y);
      y = x;
      return sumRightmost(logDet, eventDim - part.domain.eventDim);
    });
    const base = sumRightmost(baseDist.logProb(y), eventDim - baseDist.eventShape.length);
    return logDets.reduce((total, logDet) => total.sub(logDet), base);
  },
  icdf: (self: Transformed, value) =>
    afterTransforms(self, self.baseDist.icdf(rising(self, value))),
})<P> {
  /** The distribution of values before the transforms. */
  readonly baseDist: Base;
  /** The transforms, in the order in which they are applied. */
  readonly transforms: readonly Transform[];

  constructor(
    baseDistribution: Base,
    transforms: Transform | readonly Transform[],
    validateArgs?: boolean | null,
  );
  constructor(
    baseDistribution: Base,
    transforms: Transform | readonly Transform[],
    options?: DistributionOptions,
  );
  constructor(...given: unknown[]) {
    const name = new.target.name;
    const call = readArguments(name, kArguments, given);
    const { baseDistribution, validateArgs } = call;
    const transforms = call.transforms instanceof Transform ? [call.transforms] : call.transforms;
    const whole = new ComposeTransform(transforms);
    const base = baseFor(name, baseDistribution, whole);
    const shape = whole.forwardShape([...base.batchShape, ...base.eventShape]);
    const excess = Math.max(base.eventShape.length - whole.domain.eventDim, 0);
    const cut = shape.length - whole.codomain.eventDim - excess;
    const shapes = { batchShape: shape.slice(0, cut), eventShape: shape.slice(cut) };
    super({ parameters: {} as P, ...shapes, validateArgs });
    this.baseDist = base as Base;
    this.transforms = transforms;
  }

  override get hasRsample(): boolean {
    return this.baseDist.hasRsample;
  }

  // As in PyTorch, the value is not validated, unlike in other distributions.
  override cdf(value: Tensor): Tensor {
    if (this.classFormulas.cdf !== undefined) return super.cdf(value);
    this.checkTensor("cdf", value);
    const x = [...this.transforms].reverse().reduce((y, part) => part.inv.call(y), value);
    return rising(this, this.baseDist.cdf(x));
  }

  override expand(batchShape: SampleShape): this {
    const shape = shapeOf(this.whereIs("expand"), batchShape);
    const whole = new ComposeTransform(this.transforms);
    const inner = whole.inverseShape([...shape, ...this.eventShape]);
    const baseBatch = inner.slice(0, inner.length - this.baseDist.eventShape.length);
    return this.changed({
      batchShape: shape,
      parameters: this.expandedParameters(shape),
      baseDist: this.baseDist.expand(baseBatch),
    });
  }

  /** Validates the parameters of a subclass and stores them. */
  protected take(parameters: P): void {
    this.validateParameters(parameters);
    Object.assign(this, { parameters });
  }
}

function afterTransforms({ transforms }: Transformed, value: Tensor): Tensor {
  return transforms.reduce((x, part) => part.call(x), value);
}

// Returns the probability p, or 1 - p where the transforms together are decreasing.
function rising({ transforms }: Transformed, probability: Tensor): Tensor {
  return transforms.reduce((p, { sign }) => {
    return sign === 1 ? p : p.sub(0.5).mul(sign).add(0.5);
  }, probability);
}

/** Returns the base distribution with its batch expanded for the transform, and with events that have the dimensions of its domain. */
function baseFor(where: string, base: Distribution, whole: ComposeTransform): Distribution {
  const shape = [...base.batchShape, ...base.eventShape];
  const domainDim = whole.domain.eventDim;
  if (shape.length < domainDim) {
    const message = `baseDistribution: expected at least ${domainDim} dimensions, got shape [${shape}].`;
    fail("ShapeMismatch", where, message);
  }
  const inner = whole.inverseShape(whole.forwardShape(shape));
  const batch = inner.slice(0, inner.length - base.eventShape.length);
  const wide = hasShape(inner, shape) ? base : base.expand(batch);
  const missing = domainDim - base.eventShape.length;
  return missing > 0 ? new Independent(wide, missing) : wide;
}

/** A declared transformed distribution. */
export type DeclaredTransformed<C, Base extends Distribution> = TransformedDistribution<
  Base,
  Record<keyof C & string, Tensor>
> &
  Named<C>;

/** The argument of transformed(). */
export interface TransformedDeclaration<
  G extends unknown[],
  C extends Constraints,
  Base extends Distribution,
> extends Formulas<DeclaredTransformed<C, Base>> {
  /** Only its type is used: the constructor's arguments, whose names editors show. */
  given: G;
  parameters: C;
  /** Returns the distribution before the transforms; it need not validate the parameters. */
  base: (parameters: Named<C>) => Base;
  transforms: (parameters: Named<C>) => Transform | readonly Transform[];
}

/** Returns the base class of a declared transformed distribution. With `parameter`, only its base distribution stores parameters. */
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
