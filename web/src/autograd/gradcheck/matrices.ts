// Matrices of derivatives, and how they are compared.

import { fromElements } from "../../ops/create.js";
import { EdgeGradError } from "../../runtime/errors/errors.js";
import { newArray, partsOf } from "../../tensor/dtype.js";
import { Tensor } from "../../tensor/tensor.js";
import type { Matrix } from "./numerical_jacobian.js";

/** The tolerances of a check. */
export interface Tolerances {
  readonly eps: number;
  readonly atol: number;
  readonly rtol: number;
  /** How much two backward calls may differ. */
  readonly nondetTol: number;
  /** Whether gradients must have the dtypes of their inputs. */
  readonly checkGradDtypes: boolean;
}

/** A wrong gradient. With `raiseException: false` it makes the check return false; other errors are always thrown. */
export class Mismatch extends EdgeGradError {
  constructor(message: string, options?: ErrorOptions) {
    super("InvalidGradient", message, options);
  }
}

/** True for a tensor that requires a gradient. */
export function requiresGrad(tensor: unknown): tensor is Tensor {
  return tensor instanceof Tensor && tensor.requiresGrad;
}

/** Returns the number of real numbers in a tensor. */
export function elementsOf({ dtype, numel }: Tensor): number {
  return numel * partsOf(dtype);
}

/** Returns a tensor like `like`, with zeros but for the number at `index` of its real numbers, which is 1. */
export function unitLike({ dtype, shape, numel, device }: Tensor, index: number): Tensor {
  const elements = newArray(dtype, numel, "gradcheck") as Float64Array;
  elements[index] = 1;
  return fromElements(dtype, shape, elements).to(device);
}

/** Returns a tensor like `like` whose real numbers are `elements`. */
export function filledLike(
  { dtype, shape, numel, device }: Tensor,
  elements: Float64Array,
): Tensor {
  const own = newArray(dtype, numel, "gradcheck") as Float64Array;
  own.set(elements);
  return fromElements(dtype, shape, own).to(device);
}

/** True if every number is near the expected one. */
export function areClose(actual: Matrix, expected: Matrix, atol: number, rtol: number): boolean {
  return actual.every((value, k) => {
    const wanted = expected[k] as number;
    return value === wanted || Math.abs(value - wanted) <= atol + rtol * Math.abs(wanted);
  });
}

/** Returns the text of a matrix. */
export function print(matrix: Matrix, columns: number): string {
  const shape = [columns === 0 ? 0 : matrix.length / columns, columns];
  return String(fromElements("float64", shape, matrix));
}
