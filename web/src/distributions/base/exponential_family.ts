import { grad } from "../../autograd/grad.js";
import { freshLeaf, opsAreRecorded, recording } from "../../autograd/recording.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Distribution, type DistributionParts, type Parameters } from "./distribution.js";
import { sumRightmost } from "./numbers.js";

/**
 * A family of distributions with densities exp(t(x)·η - F(η) + k(x)): a subclass says its natural parameters η and its log
 * normalizer F, and has with that its entropy and the divergence from others of its class, by derivatives of F.
 */
export abstract class ExponentialFamily<P extends Parameters = Parameters> extends Distribution<P> {
  /** Takes what every distribution is made with. */
  constructor(parts: DistributionParts<P>) {
    if (new.target === ExponentialFamily) {
      fail("InvalidArgument", "ExponentialFamily", "it is abstract: make one of its subclasses.");
    }
    super(parts);
  }

  /** The natural parameters. */
  abstract get naturalParams(): readonly Tensor[];

  /** The mean of the carrier measure k under the distribution, for its entropy. */
  get meanCarrierMeasure(): Tensor | number {
    return this.missing("meanCarrierMeasure");
  }

  /** Returns the log normalizer of natural parameters, per distribution. */
  abstract logNormalizer(...naturalParams: Tensor[]): Tensor;

  override entropy(): Tensor {
    if (this.formulas.entropy !== undefined) return super.entropy();
    const params = this.naturalParams;
    const [normalizer, gradients] = normalizerOf(this, params);
    const carried = normalizer.sub(this.meanCarrierMeasure);
    return params.reduce(
      (sum, param, i) =>
        sum.sub(sumRightmost(param.mul(gradients[i] as Tensor), eventDims(this, param))),
      carried,
    );
  }
}

/** Returns the divergence of two distributions of the same class by the Bregman divergence of their log normalizer. */
export function bregmanDivergence(p: ExponentialFamily, q: ExponentialFamily): Tensor {
  const [own, others] = [p.naturalParams, q.naturalParams];
  const [normalizer, gradients] = normalizerOf(p, own);
  return own.reduce(
    (sum, param, i) => {
      const term = (others[i] as Tensor).sub(param).mul(gradients[i] as Tensor);
      return sum.sub(sumRightmost(term, eventDims(p, param)));
    },
    q.logNormalizer(...others).sub(normalizer),
  );
}

// The dimensions that a natural parameter has besides those of the batch.
function eventDims({ batchShape }: ExponentialFamily, param: Tensor): number {
  return param.ndim - batchShape.length;
}

// The log normalizer with its derivatives by the parameters; both can be differentiated where the parameters can.
function normalizerOf(
  family: ExponentialFamily,
  params: readonly Tensor[],
): [normalizer: Tensor, gradients: Tensor[]] {
  const isRecorded = opsAreRecorded() && params.some(({ requiresGrad }) => requiresGrad);
  return recording(() => {
    const inputs = params.map((param) =>
      isRecorded && param.requiresGrad ? param : freshLeaf(param),
    );
    const normalizer = family.logNormalizer(...inputs);
    const options = { createGraph: isRecorded, materializeGrads: true };
    const gradients = grad(normalizer.sum(), inputs, options) as Tensor[];
    return [isRecorded ? normalizer : normalizer.detach(), gradients];
  });
}
