// Sums of products over axes.

import type { Ints } from "../dispatch/types.js";
import { conj, matmul, mul, permute, reshape, sum } from "../generated/ops.js";
import { fail, refusal } from "../runtime/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { axisOf, sizeOf } from "./shapes.js";

type Contracted = number | readonly [Ints, Ints] | Tensor;

/**
 * Sums of products over axes of both: the last ones of `a` with the first ones of `b`, as many as `dims` says, or those that
 * `dims` lists for each of the two. A size of 1 meets every size.
 */
export const tensordot: {
  (a: Tensor, b: Tensor, dims?: Contracted): Tensor;
  (a: Tensor, b: Tensor, options: { dims?: Contracted }): Tensor;
} = /* @__PURE__ */ composite(
  "tensordot",
  "a:tensor b:tensor dims:any=2",
  (a: Tensor, b: Tensor, dims: unknown) => {
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
  const [ofA, ofB] = isPair ? given.map((one) => [one].flat()) : [];
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
    const told = `expected 0 to ${Math.min(a.ndim, b.ndim)}, got ${count}`;
    fail("InvalidArgument", "tensordot", `dims: ${told}.`);
  }
  const counting = Array.from({ length: count }, (_, i) => i);
  return [counting.map((i) => a.ndim - count + i), counting];
}

function checkSizes(a: Tensor, ofA: readonly number[], b: Tensor, ofB: readonly number[]): void {
  if (new Set(ofA).size < ofA.length || new Set(ofB).size < ofB.length) {
    fail("InvalidArgument", "tensordot", "dims: a dimension appears multiple times in a list.");
  }
  const fits = ofA.every((d, i) => {
    const sizes = new Set([sizeOf(a, d), sizeOf(b, ofB[i] as number)]);
    return sizes.size === 1 || sizes.has(1);
  });
  if (ofA.length === ofB.length && fits) return;
  const told = "contracted dimensions need to match";
  fail(
    "ShapeMismatch",
    "tensordot",
    `${told}: [${ofA}] of [${a.shape}] and [${ofB}] of [${b.shape}].`,
  );
}

// A size of 1 meets every size as broadcasting has it: what it meets is summed first.
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

/** Sums of products over the last axes of both; the product, if one has no dimensions. */
export const inner: (input: Tensor, other: Tensor) => Tensor = /* @__PURE__ */ composite(
  "inner",
  "input:tensor other:tensor",
  (input: Tensor, other: Tensor) =>
    input.ndim === 0 || other.ndim === 0
      ? mul(input, other)
      : tensordot(input, other, [[-1], [-1]]),
);

/** Sum of the products of two lists, the first one conjugated. */
export const vdot: (input: Tensor, other: Tensor) => Tensor = /* @__PURE__ */ composite(
  "vdot",
  "input:tensor other:tensor",
  (input: Tensor, other: Tensor) => {
    if (input.ndim !== 1 || other.ndim !== 1 || input.numel !== other.numel) {
      const told = "1D tensors of the same size expected";
      fail("ShapeMismatch", "vdot", `${told}, got [${input.shape}] and [${other.shape}].`);
    }
    if (input.dtype !== other.dtype) {
      const told = "dot : expected both vectors to have same dtype";
      fail("DtypeMismatch", "vdot", `${told}, but found ${input.dtype} and ${other.dtype}.`);
    }
    return sum(mul(conj(input), other));
  },
);
