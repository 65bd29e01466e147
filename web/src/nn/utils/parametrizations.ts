// nn.utils.parametrizations: weights by norm and direction, of spectral norm 1, and orthogonal ones.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { adjointOf } from "../../composites/linalg/matrices.js";
import { vdot } from "../../composites/products.js";
import { clone, copy_, div, mv, normalize } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { scope } from "../../tensor/scope.js";
import { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { type Buffer, bufferFrom } from "../parameter.js";
import {
  kSpectralNormArguments,
  kWeightNormArguments,
  outputDimOf,
  type SpectralNormOptions,
  type WeightNormOptions,
} from "./norm_options.js";
import { registerParametrization } from "./parametrize.js";
import { matrixOf, normExcept, randomDirection, scaledTo } from "./weights.js";

export { type OrthogonalMap, type OrthogonalOptions, orthogonal } from "./orthogonal.js";

/**
 * Learns the norms of a weight ("original0") and its direction ("original1") separately. Also loads the state of nn.utils.weightNorm
 * ("weight_g" and "weight_v").
 */
export function weightNorm<M extends Module>(
  module: M,
  ...rest: Arguments<[name: string, dim: number | null], WeightNormOptions>
): M {
  const { name, dim } = readArguments("weightNorm", kWeightNormArguments, [module, ...rest]);
  registerParametrization(module, name, new WeightNorm(dim), { unsafe: true });
  // Files from before have the names of nn.utils.weightNorm.
  module.registerLoadStateDictPreHook((_, state, prefix) => {
    const before = ["g", "v"].map((part) => `${prefix}${name}_${part}`);
    if (!before.every((key) => key in state)) return;
    before.forEach((key, i) => {
      state[`${prefix}parametrizations.${name}.original${i}`] = state[key] as Tensor;
      delete state[key];
    });
  });
  return module;
}

class WeightNorm extends Module {
  static override readonly name = "_WeightNorm";
  readonly dim: number | null;

  constructor(dim: number | null) {
    super();
    this.dim = dim;
  }

  override forward(norms: Tensor, direction: Tensor): Tensor {
    return scaledTo(direction, norms, this.dim);
  }

  rightInverse(weight: Tensor): [norms: Tensor, direction: Tensor] {
    return [normExcept(weight, this.dim), weight];
  }
}

/** Divides a weight by its largest singular value, which it approximates by power iterations during training. */
export function spectralNorm<M extends Module>(
  module: M,
  ...rest: Arguments<
    [name: string, nPowerIterations: number, eps: number, dim: number | null],
    SpectralNormOptions
  >
): M {
  const where = "spectralNorm";
  const own = readArguments(where, kSpectralNormArguments, [module, ...rest]);
  const weight: unknown = Reflect.get(module, own.name);
  if (!(weight instanceof Tensor)) {
    const message = `${module.constructor.name} has no parameter or buffer "${own.name}".`;
    fail("InvalidArgument", where, message);
  }
  const dim = own.dim ?? outputDimOf(module);
  const norm = new SpectralNorm(weight, own.nPowerIterations, dim, own.eps);
  return registerParametrization(module, own.name, norm);
}

const kFirstIterations = 15;

class SpectralNorm extends Module {
  static override readonly name = "_SpectralNorm";
  readonly dim: number;
  readonly eps: number;
  readonly nPowerIterations: number;
  _u: Buffer | null = null;
  _v: Buffer | null = null;

  constructor(weight: Tensor, nPowerIterations: number, dim: number, eps: number) {
    super();
    this.dim = dim;
    this.eps = eps;
    this.nPowerIterations = nPowerIterations;
    if (weight.ndim <= 1) return;
    const matrix = noGrad(() => matrixOf(weight, dim));
    const [rows = 0, columns = 0] = matrix.shape;
    this._u = bufferFrom(randomDirection(matrix, rows, eps));
    this._v = bufferFrom(randomDirection(matrix, columns, eps));
    this.approach(matrix, this._u, this._v, kFirstIterations);
    if (matrix !== weight) matrix.dispose();
  }

  override forward(weight: Tensor): Tensor {
    const { _u, _v, dim, eps } = this;
    if (_u === null || _v === null) return normalize(weight, 2, 0, eps);
    return scope(() => {
      const matrix = matrixOf(weight, dim);
      if (this.training) this.approach(matrix, _u, _v, this.nPowerIterations);
      // Copies, so that the next step does not change saved tensors.
      return div(weight, vdot(clone(_u), mv(matrix, clone(_v))));
    });
  }

  private approach(matrix: Tensor, u: Tensor, v: Tensor, steps: number): void {
    scope(() =>
      noGrad(() => {
        for (let i = 0; i < steps; i++) {
          copy_(u, normalize(mv(matrix, v), 2, 0, this.eps));
          copy_(v, normalize(mv(adjointOf(matrix), u), 2, 0, this.eps));
        }
      }),
    );
  }
}
