// Correlations of variables, and distances of points.

import { norm } from "../generated/internal.js";
import {
  clamp,
  complex,
  conj,
  diagonal,
  div,
  imag,
  indexSelect,
  matmul,
  mul,
  real,
  reshape,
  select,
  sqrt,
  squeeze,
  sub,
  sum,
  t,
  unsqueeze,
} from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { isComplex, isFloat } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { numbersLike } from "./constants.js";
import { triuIndices } from "./positions.js";
import { sizeOf } from "./shapes.js";

/**
 * The covariance matrix of the variables in the rows of `input`, whose columns are observations. `fweights` is the frequency of each
 * observation, `aweights` its weight; `correction` is subtracted from the number of observations.
 */
export const cov = /* @__PURE__ */ composite(
  "cov",
  "input:tensor correction:int=1 fweights:tensor?=null aweights:tensor?=null",
  (input, correction, fweights, aweights) => {
    checkVariables("cov", input);
    const rows = input.ndim < 2 ? reshape(input, [1, input.numel]) : input;
    const count = sizeOf(rows, 1);
    checkWeights(fweights, aweights, count);
    const weights =
      aweights === null ? fweights : fweights === null ? aweights : mul(fweights, aweights);
    const weighted = (tensor: Tensor) => (weights === null ? tensor : mul(tensor, weights));
    const total = weights === null ? numbersLike(rows, [count]) : sum(weights);
    const centered = sub(rows, div(sum(weighted(rows), 1, true), total));
    const products = matmul(centered, conj(t(weighted(centered))));
    if (weights === null && count <= correction) {
      console.warn(
        "edgegrad: [cov] has too few observations for this correction: the result is not finite.",
      );
    }
    return squeeze(div(products, degreesOfFreedom(total, weights, aweights, correction)));
  },
);

function degreesOfFreedom(
  total: Tensor,
  weights: Tensor | null,
  aweights: Tensor | null,
  correction: number,
): Tensor {
  const taken =
    weights === null || aweights === null
      ? correction
      : mul(div(sum(mul(weights, aweights)), total), correction);
  return clamp(sub(isComplex(total.dtype) ? real(total) : total, taken), 0);
}

function checkVariables(name: string, { ndim, shape, dtype }: Tensor): void {
  const reason = "input: expected at most two dimensions";
  if (ndim > 2) fail("ShapeMismatch", name, `${reason}, got [${shape}].`);
  if (dtype === "bool") fail("DtypeMismatch", name, "input: expected numbers, got bool.");
}

function checkWeights(fweights: Tensor | null, aweights: Tensor | null, count: number): void {
  for (const [name, weights] of Object.entries({ fweights, aweights })) {
    if (weights === null) continue;
    if (weights.ndim > 1 || weights.numel !== count) {
      fail(
        "ShapeMismatch",
        "cov",
        `${name}: expected one per observation, ${count}, got [${weights.shape}].`,
      );
    }
    if (isFloat(weights.dtype) !== (name === "aweights")) {
      const expected = name === "aweights" ? "floats" : "integers";
      fail("DtypeMismatch", "cov", `${name}: expected ${expected}, got ${weights.dtype}.`);
    }
    if (weights.lt(0).any().item<boolean>()) {
      fail("InvalidArgument", "cov", `${name}: expected no negative numbers.`);
    }
  }
}

/** The matrix of correlation coefficients of the variables in the rows of `input`, whose columns are observations. */
export const corrcoef = /* @__PURE__ */ composite("corrcoef", "input:tensor", (input) => {
  checkVariables("corrcoef", input);
  const covariances = cov(input);
  if (covariances.ndim === 0) return div(covariances, covariances);
  const variances = diagonal(covariances);
  const deviations = sqrt(isComplex(variances.dtype) ? real(variances) : variances);
  const found = div(div(covariances, unsqueeze(deviations, 1)), deviations);
  if (!isComplex(found.dtype)) return clamp(found, -1, 1);
  return complex(clamp(real(found), -1, 1), clamp(imag(found), -1, 1));
});

/** The `p`-norm of `input` minus `other`. */
export const dist = /* @__PURE__ */ composite(
  "dist",
  "input:tensor other:tensor p:number=2",
  (input, other, p) => norm(sub(input, other), p),
);

/** The distances, as `p`-norms, between all pairs of rows: from the first row to those after it, then from the second, and so on. */
export const pdist = /* @__PURE__ */ composite("pdist", "input:tensor p:number=2", (input, p) => {
  if (input.ndim !== 2)
    fail("ShapeMismatch", "pdist", `input: expected two dimensions, got [${input.shape}].`);
  if (!isFloat(input.dtype))
    fail("DtypeMismatch", "pdist", `input: expected a floating-point dtype, got ${input.dtype}.`);
  if (p < 0) fail("InvalidArgument", "pdist", `p: expected 0 or more, got ${p}.`);
  const count = sizeOf(input, 0);
  const pairs = triuIndices(count, count, 1, { device: input.device });
  const rowsAt = (side: 0 | 1) => indexSelect(input, 0, select(pairs, 0, side));
  return norm(sub(rowsAt(0), rowsAt(1)), p, 1);
});
