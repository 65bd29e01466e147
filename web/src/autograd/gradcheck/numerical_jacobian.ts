// Numerical derivatives by central differences.

import { copy_, viewAsReal } from "../../generated/ops.js";
import { fromElements } from "../../ops/create.js";
import { fail } from "../../runtime/errors/errors.js";
import { type DType, isComplex, newArray } from "../../tensor/dtype.js";
import { scope } from "../../tensor/scope.js";
import { indexAt } from "../../tensor/shape.js";
import { Tensor } from "../../tensor/tensor.js";
import { unsafePreserveVersionCounter } from "../versions.js";

/** Calls the checked function and returns its results. */
export type Call = () => readonly unknown[];

/** A row-major matrix with a row per input element and a column per output element; a complex number counts as two elements. */
export type Matrix = Float64Array;

/**
 * Returns the derivatives of every output of `call` with respect to the elements of `input`. Changes
 * `input` in place for each evaluation and restores it afterwards.
 */
export function numericalJacobian(call: Call, input: Tensor, eps: number): Matrix[] {
  const original = input.dataSync();
  const numel = original.length;
  const alias = isComplex(input.dtype) ? viewAsReal(input.detach()) : input.detach();
  const { shape } = alias;
  let matrices: Matrix[] = [];
  for (let row = 0; row < numel; row++) {
    const index = indexAt(row, shape);
    const value = Number(original[row]);
    const change = (x: number) => uncounted(input, () => alias.set_(index, x));
    const at = (x: number) => {
      change(x);
      return scope(() => call().map(resultOf));
    };
    try {
      const [above, below] = compared(at(value + eps), at(value - eps));
      if (row === 0) matrices = above.map(({ length }) => newMatrix(numel * length));
      above.forEach((values, i) => {
        values.forEach((upper, column) => {
          const lower = below[i]?.[column] as number;
          (matrices[i] as Matrix)[row * values.length + column] = (upper - lower) / (2 * eps);
        });
      });
    } finally {
      change(value);
    }
  }
  // For an input without elements there is an empty matrix per output.
  return numel > 0 ? matrices : call().map(() => new Float64Array(0));
}

/**
 * Returns the derivatives of every output of `call` when `input` changes in the direction of `direction`, a number per element (two per
 * complex number). Changes `input` in place and restores it.
 */
export function numericalDerivative(
  call: Call,
  input: Tensor,
  direction: Float64Array,
  eps: number,
): Float64Array[] {
  const alias = isComplex(input.dtype) ? viewAsReal(input.detach()) : input.detach();
  const original = alias.clone();
  const step = fromElements("float64", alias.shape, direction).to(alias.dtype).to(alias.device);
  const change = (value: Tensor) => uncounted(input, () => copy_(alias, value));
  const at = (x: number) => {
    change(original.add(step.mul(x)));
    return scope(() => call().map(resultOf));
  };
  try {
    const [above, below] = compared(at(eps), at(-eps));
    return above.map((values, i) =>
      values.map((upper, k) => (upper - (below[i]?.[k] as number)) / (2 * eps)),
    );
  } finally {
    change(original);
  }
}

/** Returns a matrix of zeros with `count` elements. */
export function newMatrix(count: number): Matrix {
  return newArray("float64", count, "gradcheck") as Matrix;
}

// What has saved the input, or views of it, is not to notice: the change is taken back.
function uncounted(input: Tensor, change: () => unknown): void {
  unsafePreserveVersionCounter(input, change);
}

interface Result {
  readonly values: Float64Array;
  readonly dtype: DType | null;
}

function resultOf(output: unknown): Result {
  return { values: valuesOf(output), dtype: output instanceof Tensor ? output.dtype : null };
}

// The values of two evaluations, whose results must be of one kind.
function compared(
  above: readonly Result[],
  below: readonly Result[],
): [above: Float64Array[], below: Float64Array[]] {
  const isSame = (key: (result: Result) => unknown) =>
    above.every((item, i) => key(item) === key(below[i] as Result));
  if (!isSame(({ values }) => values.length)) {
    const message = "the shapes of the results must not depend on the values of the inputs.";
    fail("ShapeMismatch", "gradcheck", message);
  }
  if (!isSame(({ dtype }) => dtype)) {
    const message = "the dtypes of the results must not depend on the values of the inputs.";
    fail("DtypeMismatch", "gradcheck", message);
  }
  return [above.map(({ values }) => values), below.map(({ values }) => values)];
}

/** Returns the elements of a result; none for one that is not a tensor. */
export function valuesOf(output: unknown): Float64Array {
  return output instanceof Tensor
    ? Float64Array.from(output.dataSync(), Number)
    : new Float64Array(0);
}
