import { grad } from "../../autograd/grad.js";
import { freshLeaf, opsAreRecorded, recording } from "../../autograd/recording.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Distribution, type DistributionParts, type Parameters } from "./distribution.js";
import { sumRightmost } from "./numbers.js";

/**
 * A family of distributions with densities exp(t(x)·η - F(η) + k(x)): a subclass defines its natural parameters η and its
 * log normalizer F, and inherits its entropy and the divergence between two of its distributions, computed from derivatives of F.
 */
export abstract class ExponentialFamily<P extends Parameters = Parameters> extends Distribution<P> {
  /** Takes the parts of a distribution: parameters, shapes and whether to validate. */
  constructor(parts: DistributionParts<P>) {
    if (new.target === ExponentialFamily) {
      fail(
        "InvalidArgument",
        "ExponentialFamily",
        "this class is abstract: create one of its subclasses.",
      );
    }
    super(parts);
  }

  /** The natural parameters. */
  abstract get naturalParams(): readonly Tensor[];

  /** The mean of the carrier measure k under the distribution, needed for the entropy. */
  get meanCarrierMeasure(): Tensor | number {
    return this.missing("meanCarrierMeasure");
  }

  /** Returns the log normalizer for the given natural parameters, one value per distribution. */
  abstract logNormalizer(...naturalParams: Tensor[]): Tensor;

  override entropy(): Tensor {
    if (this.classFormulas.entropy !== undefined) return super.entropy();
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

// The number of dimensions of a natural parameter after those of the batch.
function eventDims({ batchShape }: ExponentialFamily, param: Tensor): number {
  return param.ndim - batchShape.length;
}

// The log normalizer and its derivatives with respect to the parameters; both are differentiable if the parameters are.
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
