import { type Arguments, readArguments } from "../../arguments/read.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { clone, copy_, div, dot, mv, normalize, t } from "../../generated/ops.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Module } from "../module.js";
import { bufferFrom } from "../parameter.js";
import { takeMember } from "./computed.js";
import { kSpectralNormArguments, outputDimOf, type SpectralNormOptions } from "./norm_options.js";
import { matrixOf, randomDirection } from "./weights.js";

/**
 * Divides a weight ("weight_orig") by its largest singular value before each call, towards which it makes steps while
 * it trains; new programs use nn.utils.parametrizations.spectralNorm.
 */
export function spectralNorm<M extends Module>(
  module: M,
  ...rest: Arguments<
    [name: string, nPowerIterations: number, eps: number, dim: number | null],
    SpectralNormOptions
  >
): M {
  const where = "spectralNorm";
  const own = readArguments(where, kSpectralNormArguments, [module, ...rest]);
  const { name, nPowerIterations, eps } = own;
  const dim = own.dim ?? outputDimOf(module);
  const weight = takeMember(where, module, name);
  const matrix = noGrad(() => matrixOf(weight, dim));
  const [rows = 0, columns = 0] = matrix.shape;
  Object.assign(module, {
    [`${name}_orig`]: weight,
    [`${name}_u`]: bufferFrom(randomDirection(matrix, rows, eps)),
    [`${name}_v`]: bufferFrom(randomDirection(matrix, columns, eps)),
  });
  showWeight(module, name, weight.detach());
  module.registerForwardPreHook((called) => {
    const [original, u, v] = ["orig", "u", "v"].map(
      (part) => Reflect.get(called, `${name}_${part}`) as Tensor,
    ) as [Tensor, Tensor, Tensor];
    const steps = called.training ? nPowerIterations : 0;
    showWeight(called, name, normalized(original, u, v, { dim, eps, steps }));
  });
  return module;
}

// No member of the module, which has the original.
function showWeight(module: Module, name: string, value: Tensor): void {
  Object.defineProperty(module, name, {
    value,
    writable: true,
    configurable: true,
    enumerable: false,
  });
}

function normalized(
  weight: Tensor,
  u: Tensor,
  v: Tensor,
  { dim, eps, steps }: { dim: number; eps: number; steps: number },
): Tensor {
  return scope(() => {
    const matrix = matrixOf(weight, dim);
    noGrad(() => {
      for (let i = 0; i < steps; i++) {
        copy_(v, normalize(mv(t(matrix), u), 2, 0, eps));
        copy_(u, normalize(mv(matrix, v), 2, 0, eps));
      }
    });
    // Copies, which the next step does not change.
    return div(weight, dot(clone(u), mv(matrix, clone(v))));
  });
}
