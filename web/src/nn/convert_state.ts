// Module.to(): parameters and buffers in another dtype or on another device.

import { noGrad } from "../autograd/grad_mode.js";
import { optionsOf, type Target, type ToOptions } from "../ops/to.js";
import { fail } from "../runtime/errors.js";
import { type DType, isComplex, isFloat } from "../tensor/dtype.js";
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
  scope(() =>
    noGrad(() => {
      // All are converted before any is changed: the device may run out of memory, or not have the dtype.
      const all = [...tensors];
      const converted = all.flatMap((tensor) => {
        if (shapelessOrNull(tensor) !== null) return [];
        const own: ToOptions = isInexact(tensor.dtype) ? wanted : device ? { device } : {};
        return { tensor, data: tensor.to(own), gradient: tensor.grad?.to(own) ?? null };
      });
      for (const tensor of all) shapelessOrNull(tensor)?.convertTo(wanted);
      for (const { tensor, data, gradient } of converted) {
        shareData(tensor, data);
        tensor.grad = gradient;
      }
    }),
  );
}

function isInexact(dtype: DType): boolean {
  return isFloat(dtype) || isComplex(dtype);
}
