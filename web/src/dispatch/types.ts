// The types of op arguments that are not tensors.

import type { Complex } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";

/** A plain number, where PyTorch takes a Python number. */
export type Scalar = number | boolean | bigint;

/** A tensor, or a real or complex number that is broadcast to any shape. */
export type Operand = Tensor | Scalar | Complex;

/** An array of whole numbers; a single number means an array of one. */
export type Ints = number | readonly number[];

/** The sizes of a result, or one size for all dimensions; null keeps the size of the input. */
export type OutputSize = number | readonly (number | null)[];
