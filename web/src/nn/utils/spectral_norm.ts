import { type Arguments, readArguments } from "../../arguments/read.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { clone, copy_, div, dot, mv, normalize, t } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Module } from "../module.js";
import { bufferFrom, type Parameter } from "../parameter.js";
import { asComputed, likeMember, takeMember } from "./computed.js";
import { kSpectralNormArguments, outputDimOf, type SpectralNormOptions } from "./norm_options.js";
import { matrixOf, randomDirection } from "./weights.js";

/**
 * Divides a weight ("weight_orig") by its largest singular value before each call, which it approximates by power iterations
 * during training. New programs should use nn.utils.parametrizations.spectralNorm.
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
  const hook = module.registerForwardPreHook((called) => {
    const [original, u, v] = partsOf(called, name);
    const steps = called.training ? nPowerIterations : 0;
    showWeight(called, name, asComputed(normalized(original, u, v, { dim, eps, steps })));
  });
  const removal = () => {
    hook.remove();
    const [original, u, v] = partsOf(module, name);
    const value = noGrad(() => normalized(original, u, v, { dim, eps, steps: 0 }));
    for (const old of ["", "_orig", "_u", "_v"]) Reflect.deleteProperty(module, `${name}${old}`);
    Object.assign(module, { [name]: likeMember(original, value) });
    value.dispose();
  };
  removals.set(module, new Map(removals.get(module)).set(name, removal));
  return module;
}

// The functions that remove the norms of a module, by parameter. A copy of the module has its own hooks and no entry here.
const removals = new WeakMap<Module, Map<string, () => void>>();

const kRemoveArguments = {
  module: kSpectralNormArguments.module,
  name: kSpectralNormArguments.name,
};

/** Removes the effect of spectralNorm(): the computed weight becomes a parameter. */
export function removeSpectralNorm<M extends Module>(module: M, ...rest: [name?: string]): M {
  const where = "removeSpectralNorm";
  const { name } = readArguments(where, kRemoveArguments, [module, ...rest]);
  const remove = removals.get(module)?.get(name);
  if (remove === undefined) {
    const message = `${module.constructor.name} has no spectralNorm of "${name}".`;
    fail("InvalidArgument", where, message);
  }
  removals.get(module)?.delete(name);
  remove();
  return module;
}

type Parts = [original: Parameter, u: Tensor, v: Tensor];

function partsOf(module: Module, name: string): Parts {
  return ["orig", "u", "v"].map((part) => Reflect.get(module, `${name}_${part}`)) as Parts;
}

// Not a member of the module: the original is.
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
    // Copies, so that the next step does not change saved tensors.
    return div(weight, dot(clone(u), mv(matrix, clone(v))));
  });
}
