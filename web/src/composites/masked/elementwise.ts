// Normalizations of the elements that a mask selects, and logaddexp().

import type { Arguments } from "../../arguments/read.js";
import { norm as vectorNorms } from "../../generated/internal.js";
import {
  clamp,
  div,
  logaddexp as logaddexpOf,
  logSoftmax as logSoftmaxOf,
  softmax as softmaxOf,
  softmin as softminOf,
} from "../../generated/ops.js";
import type { DType } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { cast, filled, kHighest, kLowest, kZero } from "./mask.js";

interface NormalizationOptions {
  dtype?: DType | null;
  /** True for the elements that count; broadcast to the input. Default: all of them. */
  mask?: Tensor | null;
}

type Normalization = (
  input: Tensor,
  dim: number,
  ...rest: [options?: NormalizationOptions]
) => Tensor;

const kNormalization = "input:tensor dim:int dtype:dtype?=null mask:tensor?=null";

/** softmax() of the selected elements along `dim`: others get 0, and a row without any NaN. */
export const softmax = /* @__PURE__ */ composite<Normalization>(
  "masked.softmax",
  kNormalization,
  (input, dim, dtype, mask) =>
    softmaxOf(filled("masked.softmax", input, mask, kLowest), dim, { dtype }),
);

/** logSoftmax() of the selected elements along `dim`: others get -Infinity, and a row without any NaN. */
export const logSoftmax = /* @__PURE__ */ composite<Normalization>(
  "masked.logSoftmax",
  kNormalization,
  (input, dim, dtype, mask) =>
    logSoftmaxOf(filled("masked.logSoftmax", input, mask, kLowest), dim, { dtype }),
);

/** softmin() of the selected elements along `dim`: others get 0, and a row without any NaN. */
export const softmin = /* @__PURE__ */ composite<Normalization>(
  "masked.softmin",
  kNormalization,
  (input, dim, dtype, mask) =>
    softminOf(filled("masked.softmin", input, mask, kHighest), dim, { dtype }),
);

type Normalize = (
  input: Tensor,
  ord: number,
  dim: number,
  ...rest: [options?: NormalizationOptions & { eps?: number }]
) => Tensor;

/** The selected elements divided by their `ord`-norm along `dim`, which counts as at least `eps`; others are 0. */
export const normalize = /* @__PURE__ */ composite<Normalize>(
  "masked.normalize",
  "input:tensor ord:number dim:int eps:number=1e-12 dtype:dtype?=null mask:tensor?=null",
  (input, ord, dim, eps, dtype, mask) => {
    const value = filled("masked.normalize", input, mask, kZero);
    const ofNorm = ord === -Infinity ? filled("masked.normalize", input, mask, kHighest) : value;
    const norm = vectorNorms(cast(ofNorm, dtype), ord, dim, true);
    return div(value, clamp(norm, eps));
  },
);

type Logaddexp = (
  input: Tensor,
  other: Tensor,
  ...rest: Arguments<
    [],
    { dtype?: DType | null; inputMask?: Tensor | null; otherMask?: Tensor | null }
  >
) => Tensor;

/** log(exp(input) + exp(other)), where an element that its mask leaves out adds nothing. */
export const logaddexp = /* @__PURE__ */ composite<Logaddexp>(
  "masked.logaddexp",
  "input:tensor other:tensor dtype:dtype?=null inputMask:tensor?=null otherMask:tensor?=null",
  (input, other, dtype, inputMask, otherMask) =>
    cast(
      logaddexpOf(
        filled("masked.logaddexp", input, inputMask, kLowest),
        filled("masked.logaddexp", other, otherMask, kLowest),
      ),
      dtype ?? input.dtype,
    ),
);
