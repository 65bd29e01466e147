// Module.to() and toEmpty(): parameters and buffers in another dtype or on another device.

import { noGrad } from "../autograd/grad_mode.js";
import { emptyLike } from "../generated/ops.js";
import { optionsOf, type Target, type ToOptions } from "../ops/to.js";
import { fail } from "../runtime/errors/errors.js";
import { type Device, type DType, isComplex, isFloat } from "../tensor/dtype.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";
import { shareData } from "./load_state.js";
import { shapelessOrNull } from "./parameter.js";

/** Converts tensors and their gradients in place; integers keep their dtype. */
export function convertState(tensors: Iterable<Tensor>, targets: readonly Target[]): void {
  const wanted: ToOptions = Object.assign({}, ...targets.map(optionsOf));
  const { dtype, device } = wanted;
  if (dtype !== undefined && !isInexact(dtype)) {
    fail(
      "InvalidArgument",
      "Module.to",
      `expected a floating-point or complex dtype, got ${dtype}.`,
    );
  }
  const converted = (tensor: Tensor) =>
    tensor.to(isInexact(tensor.dtype) ? wanted : device ? { device } : {});
  replaceState(tensors, converted, wanted);
}

/** Gives tensors, and their gradients, memory on a device whose values are not set. */
export function emptyState(tensors: Iterable<Tensor>, device: Device): void {
  replaceState(tensors, (tensor) => emptyLike(tensor, { device }), { device });
}

// All are made before any is changed: the device may run out of memory, or not have the dtype.
function replaceState(
  tensors: Iterable<Tensor>,
  make: (tensor: Tensor) => Tensor,
  wanted: ToOptions,
): void {
  scope(() =>
    noGrad(() => {
      const all = [...tensors];
      const made = all.flatMap((tensor) => {
        if (shapelessOrNull(tensor) !== null) return [];
        const { grad } = tensor;
        return { tensor, data: make(tensor), gradient: grad === null ? null : make(grad) };
      });
      for (const tensor of all) shapelessOrNull(tensor)?.convertTo(wanted);
      for (const { tensor, data, gradient } of made) {
        shareData(tensor, data);
        tensor.grad = gradient;
      }
    }),
  );
}

function isInexact(dtype: DType): boolean {
  return isFloat(dtype) || isComplex(dtype);
}
