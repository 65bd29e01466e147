// Reductions of the elements that a mask selects.

import type { Arguments } from "../../arguments/read.js";
import type { Ints } from "../../dispatch/types.js";
import { toDtype, norm as vectorNorms } from "../../generated/internal.js";
import {
  amax as amaxOf,
  amin as aminOf,
  argmax as argmaxOf,
  argmin as argminOf,
  conj,
  cumprod as cumprodOf,
  cumsum as cumsumOf,
  div,
  isnan,
  logsumexp as logsumexpOf,
  maximum,
  mul,
  nanmedian,
  prod as prodOf,
  real,
  reshape,
  sqrt,
  sub,
  sum as sumOf,
  where,
  zerosLike,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { type DType, isComplex, isFloat } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { cast, filled, kHighest, kLowest, kOne, kZero, maskFor } from "./mask.js";

interface ReductionOptions {
  keepdim?: boolean;
  dtype?: DType | null;
  /** True for the elements that count; broadcast to the input. Default: all of them. */
  mask?: Tensor | null;
}

type Reduction<Dim = Ints> = (
  input: Tensor,
  ...rest: Arguments<[dim: Dim | null], ReductionOptions & { dim?: Dim | null }>
) => Tensor;

type Scan = (
  input: Tensor,
  dim: number,
  ...rest: [options?: Pick<ReductionOptions, "dtype" | "mask">]
) => Tensor;

const kReduction =
  "input:tensor dim:ints?=null keepdim:bool=false dtype:dtype?=null mask:tensor?=null";
const kArgReduction =
  "input:tensor dim:int?=null keepdim:bool=false dtype:dtype?=null mask:tensor?=null";
const kScan = "input:tensor dim:int dtype:dtype?=null mask:tensor?=null";

/** The sum of the selected elements, of all or along `dim`; 0 where there are none. */
export const sum = /* @__PURE__ */ composite<Reduction>(
  "masked.sum",
  kReduction,
  (input, dim, keepdim, dtype, mask) =>
    sumOf(filled("masked.sum", input, mask, kZero), dim, keepdim, dtype),
);

/** The product of the selected elements, of all or along `dim`; 1 where there are none. */
export const prod = /* @__PURE__ */ composite<Reduction>(
  "masked.prod",
  kReduction,
  (input, dim, keepdim, dtype, mask) => {
    const value = filled("masked.prod", input, mask, kOne);
    const dims = dim === null ? [null] : [dim].flat();
    if (dims.length === 1) return prodOf(value, dims[0], keepdim, dtype);
    return inDescendingOrder(input, dims).reduce(
      (product, dim) => prodOf(product, dim, keepdim, dtype),
      value,
    );
  },
);

// So that the later dims keep their numbers.
function inDescendingOrder({ ndim }: Tensor, dims: readonly number[]): number[] {
  return dims.map((dim) => (dim < 0 ? dim + ndim : dim)).sort((a, b) => b - a);
}

/** The running sum of the selected elements along `dim`. */
export const cumsum = /* @__PURE__ */ composite<Scan>(
  "masked.cumsum",
  kScan,
  (input, dim, dtype, mask) =>
    cast(
      cumsumOf(filled("masked.cumsum", input, mask, kZero), dim, { dtype }),
      dtype ?? input.dtype,
    ),
);

/** The running product of the selected elements along `dim`. */
export const cumprod = /* @__PURE__ */ composite<Scan>(
  "masked.cumprod",
  kScan,
  (input, dim, dtype, mask) =>
    cast(
      cumprodOf(filled("masked.cumprod", input, mask, kOne), dim, { dtype }),
      dtype ?? input.dtype,
    ),
);

/** The largest of the selected elements, of all or along `dim`; where there are none, the lowest value of the dtype. */
export const amax = /* @__PURE__ */ composite<Reduction>(
  "masked.amax",
  kReduction,
  (input, dim, keepdim, dtype, mask) =>
    cast(amaxOf(filled("masked.amax", input, mask, kLowest), dim, keepdim), dtype),
);

/** The smallest of the selected elements, of all or along `dim`; where there are none, the highest value of the dtype. */
export const amin = /* @__PURE__ */ composite<Reduction>(
  "masked.amin",
  kReduction,
  (input, dim, keepdim, dtype, mask) =>
    cast(aminOf(filled("masked.amin", input, mask, kHighest), dim, keepdim), dtype),
);

/** The position of the largest of the selected elements, of all or along `dim`, in the dtype of the input. */
export const argmax = /* @__PURE__ */ composite<Reduction<number>>(
  "masked.argmax",
  kArgReduction,
  (input, dim, keepdim, dtype, mask) =>
    toDtype(
      argmaxOf(filled("masked.argmax", input, mask, kLowest), dim, keepdim),
      dtype ?? input.dtype,
    ),
);

/** The position of the smallest of the selected elements, of all or along `dim`, in the dtype of the input. */
export const argmin = /* @__PURE__ */ composite<Reduction<number>>(
  "masked.argmin",
  kArgReduction,
  (input, dim, keepdim, dtype, mask) =>
    toDtype(
      argminOf(filled("masked.argmin", input, mask, kHighest), dim, keepdim),
      dtype ?? input.dtype,
    ),
);

/** log(sum(exp(x))) of the selected elements, of all or along `dim`; -Infinity where there are none. */
export const logsumexp = /* @__PURE__ */ composite<Reduction>(
  "masked.logsumexp",
  kReduction,
  (input, dim, keepdim, dtype, mask) => {
    // Also of complex numbers, where -Infinity leaves nothing either.
    const value =
      mask === null
        ? input
        : where(maskFor("masked.logsumexp", input, mask), input, Number.NEGATIVE_INFINITY);
    return cast(logsumexpOf(value, dim ?? allDims(input), keepdim), dtype ?? input.dtype);
  },
);

const allDims = ({ ndim }: Tensor): number[] => Array.from({ length: ndim }, (_, dim) => dim);

/** The mean of the selected elements, of all or along `dim`; NaN where there are none. */
export const mean = /* @__PURE__ */ composite<Reduction>(
  "masked.mean",
  kReduction,
  (input, dim, keepdim, dtype, mask) => {
    const total = sumOf(
      filled("masked.mean", input, mask, kZero),
      dim,
      keepdim,
      dtype ?? input.dtype,
    );
    return div(total, countOf("masked.mean", input, dim, keepdim, mask));
  },
);

// The number of elements that count in each sum.
function countOf(
  where: string,
  input: Tensor,
  dim: Ints | null,
  keepdim: boolean,
  mask: Tensor | null,
): Tensor {
  const all = mask === null ? zerosLike(input, { dtype: "bool" }).logicalNot() : mask;
  return sumOf(maskFor(where, input, all), dim, keepdim, "int64");
}

type Median = (
  input: Tensor,
  ...rest: Arguments<[dim: number], ReductionOptions & { dim?: number }>
) => Tensor;

/**
 * The median of the selected elements along `dim`, by default the last: the lower of two. NaN where there are none, for which integers
 * throw InvalidArgument.
 */
export const median = /* @__PURE__ */ composite<Median>(
  "masked.median",
  "input:tensor dim:int=-1 keepdim:bool=false dtype:dtype?=null mask:tensor?=null",
  (input: Tensor, dim: number, keepdim: boolean, dtype: DType | null, mask: Tensor | null) => {
    if (isComplex(input.dtype))
      fail("DtypeMismatch", "masked.median", `input: expected real numbers, got ${input.dtype}.`);
    const isReal = isFloat(input.dtype);
    const value = filled(
      "masked.median",
      isReal ? input : toDtype(input, "float32"),
      mask,
      () => Number.NaN,
    );
    const [middle] = nanmedian(value, dim, keepdim);
    if (isReal) return middle;
    if (isnan(middle).any().item<boolean>())
      fail("InvalidArgument", "masked.median", "the mask leaves no element of a row of integers.");
    return toDtype(middle, dtype ?? input.dtype);
  },
);

type Norm = (
  input: Tensor,
  ...rest: Arguments<
    [ord: number, dim: Ints | null],
    ReductionOptions & { ord?: number; dim?: Ints | null }
  >
) => Tensor;

/** The `ord`-norm of the selected elements, of all or along `dim`; 0 where there are none. */
export const norm = /* @__PURE__ */ composite<Norm>(
  "masked.norm",
  "input:tensor ord:number=2 dim:ints?=null keepdim:bool=false dtype:dtype?=null mask:tensor?=null",
  (input, ord, dim, keepdim, dtype, mask) => {
    const value = filled("masked.norm", input, mask, ord === -Infinity ? kHighest : kZero);
    return vectorNorms(cast(value, dtype), ord, dim, keepdim);
  },
);

interface VarianceOptions extends ReductionOptions {
  dim?: Ints | null;
  /** What the number of elements is reduced by in the division; default 1. */
  correction?: number;
}

type Variance = (input: Tensor, ...rest: Arguments<[dim: Ints | null], VarianceOptions>) => Tensor;

const kVariance =
  "input:tensor dim:ints?=null correction:number=1 keepdim:bool=false dtype:dtype?=null mask:tensor?=null";

/** The variance of the selected elements, of all or along `dim`; NaN where there are too few. */
export const variance = /* @__PURE__ */ composite<Variance>("masked.var", kVariance, (...given) =>
  varianceOf("masked.var", ...(given as VarianceArguments)),
);

/** The standard deviation of the selected elements, of all or along `dim`; NaN where there are too few. */
export const std = /* @__PURE__ */ composite<Variance>("masked.std", kVariance, (...given) =>
  sqrt(varianceOf("masked.std", ...(given as VarianceArguments))),
);

type VarianceArguments = [
  input: Tensor,
  dim: Ints | null,
  correction: number,
  keepdim: boolean,
  dtype: DType | null,
  mask: Tensor | null,
];

function varianceOf(where: string, ...given: VarianceArguments): Tensor {
  const [input, dim, correction, keepdim, dtype, mask] = given;
  const exact = isFloat(input.dtype) || isComplex(input.dtype) ? input.dtype : "float32";
  const value = cast(input, dtype ?? exact);
  const count = countOf(where, value, dim, true, mask);
  const mean = div(sumOf(filled(where, value, mask, kZero), dim, true), count);
  const apart = sub(value, mean);
  const squares = isComplex(value.dtype) ? real(mul(apart, conj(apart))) : mul(apart, apart);
  const total = sumOf(filled(where, squares, mask, kZero), dim, keepdim);
  const divisor = sub(toDtype(reshape(count, total.shape), total.dtype), correction);
  return div(total, maximum(divisor, zerosLike(divisor)));
}
