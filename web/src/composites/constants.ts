// Constant tensors that a composite needs, on the device and of the dtype of its arguments.

import type { Operand, Scalar } from "../dispatch/types.js";
import { tensor } from "../ops/create.js";
import { getDefaultDtype } from "../tensor/default_dtype.js";
import {
  type Complex,
  type DType,
  isComplex,
  isComplexNumber,
  isFloat,
  isInt64,
} from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";

/** The dtype in which division computes: the tensor's own, or the default dtype for integers and booleans. */
export function floatTypeOf({ dtype }: Tensor): DType {
  return isFloat(dtype) || isComplex(dtype) ? dtype : getDefaultDtype();
}

/** Floating-point numbers as a one-dimensional tensor on the device of a tensor. */
export function numbersLike(input: Tensor, values: readonly number[]): Tensor {
  return tensor(values, { dtype: floatTypeOf(input), device: input.device });
}

/** Indices as a one-dimensional int64 tensor on the device of a tensor. */
export function positionsLike({ device }: Tensor, values: readonly number[]): Tensor {
  return tensor(values, { dtype: "int64", device });
}

/** One number as a tensor without dimensions, of the dtype and on the device of another. */
export function scalarLike({ dtype, device }: Tensor, value: Scalar): Tensor {
  return tensor(value, { dtype, device });
}

/**
 * Operands as tensors. Numbers are placed on the device of the first tensor, and get its dtype if that represents them
 * exactly.
 */
export function asTensors<const Operands extends readonly Operand[]>(
  ...operands: Operands
): { [i in keyof Operands]: Tensor } {
  const like = operands.find((operand) => operand instanceof Tensor);
  const tensors = operands.map((operand) =>
    operand instanceof Tensor ? operand : beside(like, operand),
  );
  return tensors as { [i in keyof Operands]: Tensor };
}

function beside(like: Tensor | undefined, value: Scalar | Complex): Tensor {
  if (like === undefined) return tensor(value);
  const { dtype, device } = like;
  if (isComplex(dtype) || (isFloat(dtype) && !isComplexNumber(value)))
    return tensor(value, { dtype, device });
  return isInt64(value) ? tensor(value, { dtype: "int64", device }) : tensor(value, { device });
}
