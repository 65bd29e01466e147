// Sums of products over axes.

import type { Ints } from "../dispatch/types.js";
import { conj, dot, matmul, mul, permute, reshape, sum } from "../generated/ops.js";
import { fail, refusal } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { axisOf, sizeOf } from "./shapes.js";

type Contracted = number | readonly [Ints, Ints] | Tensor;

/**
 * Sums products over axes of both tensors: over the last `dims` axes of `a` and the first `dims` of `b`, or over the axes
 * that `dims` lists for each of them. A size of 1 broadcasts.
 */
export const tensordot = /* @__PURE__ */ composite(
  "tensordot",
  "a:tensor b:tensor dims:any=2",
  (a, b, dims: Contracted) => {
    const [ofA, ofB] = axesOf(a, b, dims);
    checkSizes(a, ofA, b, ofB);
    const restOfA = others(a, ofA);
    const restOfB = others(b, ofB);
    const left = asMatrix(summedAgainst(a, ofA, b, ofB), restOfA, ofA);
    const right = asMatrix(summedAgainst(b, ofB, a, ofA), ofB, restOfB);
    const shape = [...restOfA.map((d) => sizeOf(a, d)), ...restOfB.map((d) => sizeOf(b, d))];
    return reshape(matmul(left, right), shape);
  },
);

function axesOf(a: Tensor, b: Tensor, dims: unknown): readonly [number[], number[]] {
  const given = dims instanceof Tensor ? listsOf(dims) : dims;
  if (typeof given === "number") return lastAndFirst(a, b, given);
  const isPair = Array.isArray(given) && given.length === 2;
  const [ofA, ofB] = isPair ? given.map((dims) => [dims].flat()) : [];
  if (!ofA?.every(Number.isInteger) || !ofB?.every(Number.isInteger)) {
    const expected = "a whole number or two lists of dimensions";
    return fail("InvalidArgument", "tensordot", refusal("dims", expected, dims));
  }
  return [
    ofA.map((dim: number) => axisOf("tensordot", dim, a.ndim)),
    ofB.map((dim: number) => axisOf("tensordot", dim, b.ndim)),
  ];
}

function listsOf(dims: Tensor): unknown {
  return JSON.parse(JSON.stringify(dims)) as unknown;
}

function lastAndFirst(a: Tensor, b: Tensor, count: number): readonly [number[], number[]] {
  if (!Number.isInteger(count) || count < 0 || count > Math.min(a.ndim, b.ndim)) {
    const reason = `expected a number from 0 to ${Math.min(a.ndim, b.ndim)}, got ${count}`;
    fail("InvalidArgument", "tensordot", `dims: ${reason}.`);
  }
  const counting = Array.from({ length: count }, (_, i) => i);
  return [counting.map((i) => a.ndim - count + i), counting];
}

function checkSizes(a: Tensor, ofA: readonly number[], b: Tensor, ofB: readonly number[]): void {
  if (new Set(ofA).size < ofA.length || new Set(ofB).size < ofB.length) {
    fail("InvalidArgument", "tensordot", "dims: a list has a dimension twice.");
  }
  const fits = ofA.every((d, i) => {
    const sizes = new Set([sizeOf(a, d), sizeOf(b, ofB[i] as number)]);
    return sizes.size === 1 || sizes.has(1);
  });
  if (ofA.length === ofB.length && fits) return;
  const reason = "the sizes to sum over do not match";
  fail(
    "ShapeMismatch",
    "tensordot",
    `${reason}: [${ofA}] of [${a.shape}] and [${ofB}] of [${b.shape}].`,
  );
}

// A size of 1 broadcasts, so the axis of the other tensor is summed first.
function summedAgainst(
  tensor: Tensor,
  axes: readonly number[],
  other: Tensor,
  axesOfOther: readonly number[],
): Tensor {
  const met = axes.filter((d, i) => {
    return sizeOf(tensor, d) !== 1 && sizeOf(other, axesOfOther[i] as number) === 1;
  });
  return met.length === 0 ? tensor : sum(tensor, met, true);
}

function others(tensor: Tensor, axes: readonly number[]): number[] {
  return tensor.shape.map((_, d) => d).filter((d) => !axes.includes(d));
}

function asMatrix(tensor: Tensor, rows: readonly number[], columns: readonly number[]): Tensor {
  const count = (axes: readonly number[]) =>
    axes.reduce((product, d) => product * sizeOf(tensor, d), 1);
  return reshape(permute(tensor, [...rows, ...columns]), [count(rows), count(columns)]);
}

/** Sums products over the last axis of both tensors; the plain product if one has no dimensions. */
export const inner = /* @__PURE__ */ composite(
  "inner",
  "input:tensor other:tensor",
  (input, other) =>
    input.ndim === 0 || other.ndim === 0
      ? mul(input, other)
      : tensordot(input, other, [[-1], [-1]]),
);

/** The dot product of two vectors, with the first one conjugated. */
export const vdot = /* @__PURE__ */ composite(
  "vdot",
  "input:tensor other:tensor",
  (input, other) => {
    if (input.ndim !== 1 || other.ndim !== 1 || input.numel !== other.numel) {
      const reason = "expected two tensors of one dimension and the same size";
      fail("ShapeMismatch", "vdot", `${reason}, got [${input.shape}] and [${other.shape}].`);
    }
    if (input.dtype !== other.dtype) {
      const reason = "expected two tensors of the same dtype";
      fail("DtypeMismatch", "vdot", `${reason}, got ${input.dtype} and ${other.dtype}.`);
    }
    return dot(conj(input), other);
  },
);
