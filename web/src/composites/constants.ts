// Tensors of numbers that a composite needs beside those it is given: where these are, and of their dtype.

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

/** The dtype in which division computes: the tensor's own, or the default one for integers and booleans. */
export function floatTypeOf({ dtype }: Tensor): DType {
  return isFloat(dtype) || isComplex(dtype) ? dtype : getDefaultDtype();
}

/** Numbers with a fraction, as a list beside a tensor. */
export function numbersLike(input: Tensor, values: readonly number[]): Tensor {
  return tensor(values, { dtype: floatTypeOf(input), device: input.device });
}

/** Positions, as a list on the device of a tensor. */
export function positionsLike({ device }: Tensor, values: readonly number[]): Tensor {
  return tensor(values, { dtype: "int64", device });
}

/** One number as a tensor of no dimensions, of the dtype and on the device of another. */
export function scalarLike({ dtype, device }: Tensor, value: Scalar): Tensor {
  return tensor(value, { dtype, device });
}

/**
 * Operands as tensors, numbers beside the first one that is a tensor: on its device, and of its dtype where that holds all
 * their digits.
 */
export function asTensors<const Operands extends readonly Operand[]>(
  ...operands: Operands
): { [i in keyof Operands]: Tensor } {
  const like = operands.find((one) => one instanceof Tensor);
  const tensors = operands.map((one) => (one instanceof Tensor ? one : beside(like, one)));
  return tensors as { [i in keyof Operands]: Tensor };
}

function beside(like: Tensor | undefined, value: Scalar | Complex): Tensor {
  if (like === undefined) return tensor(value);
  const { dtype, device } = like;
  if (isComplex(dtype) || (isFloat(dtype) && !isComplexNumber(value)))
    return tensor(value, { dtype, device });
  return isInt64(value) ? tensor(value, { dtype: "int64", device }) : tensor(value, { device });
}
