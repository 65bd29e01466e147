// The types of op arguments that are not tensors.

import type { Tensor } from "../tensor/tensor.js";

/** A plain number, where PyTorch takes a Python number. */
export type Scalar = number | boolean | bigint;

/** A tensor, or a number that is broadcast to any shape. */
export type Operand = Tensor | Scalar;

/** A list of whole numbers, or one for a list of one. */
export type Ints = number | readonly number[];
