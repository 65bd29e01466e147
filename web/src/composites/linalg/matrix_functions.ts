// Powers, exponentials and ranks of matrices.

import { balanceRatios } from "../../generated/internal.js";
import {
  abs,
  add,
  amax,
  ceil,
  clamp,
  clone,
  detach,
  div,
  eigvalsh,
  exp2,
  expandAs,
  eye,
  gt,
  inverse,
  log2,
  matmul,
  mul,
  nanToNum,
  onesLike,
  sum,
  svdvals,
  where,
} from "../../generated/ops.js";
import { largestOf } from "../../ops/samples.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { checkSquare } from "./matrices.js";

/** The `n`-th power of square matrices; a negative power is a power of the inverse. */
export const matrixPower = /* @__PURE__ */ composite("matrixPower", "A:tensor n:int", (A, n) => {
  checkSquare("matrixPower", A);
  if (n === 0) return where(onesLike(A, { dtype: "bool" }), identity(A), A);
  if (n === 1) return clone(A);
  let square = n < 0 ? inverse(A) : A;
  let result: Tensor | null = null;
  // Repeated squaring. Without bitwise operators, which only see 32 bits of n.
  for (let rest = Math.abs(n); rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = result === null ? square : matmul(result, square);
    if (rest > 1) square = matmul(square, square);
  }
  return result as Tensor;
});

/** The exponential of square matrices, by scaling and squaring of a Taylor polynomial of the balanced matrices. */
export const matrixExp = /* @__PURE__ */ composite("matrixExp", "A:tensor", (A) => {
  checkSquare("matrixExp", A);
  if (!/^(float|complex)/.test(A.dtype)) {
    fail(
      "DtypeMismatch",
      "matrixExp",
      `A: expected floating-point or complex numbers, got ${A.dtype}.`,
    );
  }
  if (A.numel === 0) return clone(A);
  // exp(A) = D exp(D⁻¹ A D) D⁻¹ for any diagonal D.
  const ratios = balanceRatios(A);
  const balanced = mul(A, ratios);
  const halvings = halvingsOf(balanced);
  const most = largestOf(halvings);
  let power = taylor(mul(balanced, exp2(mul(halvings, -1))));
  for (let k = 0; k < most; k++) {
    const isSquared = expandAs(gt(halvings, k), power);
    power = where(isSquared, matmul(power, power), power);
  }
  return div(power, ratios);
});

const kEpsilons: Readonly<Record<string, number>> = {
  float32: 2 ** -23,
  complex32: 2 ** -10,
  complex64: 2 ** -23,
  float64: 2 ** -52,
  complex128: 2 ** -52,
  float16: 2 ** -10,
  bfloat16: 2 ** -7,
};

/**
 * The number of singular values of matrices above both `atol` and `rtol` times the largest, as int64. `rtol` is by default
 * the larger size times the dtype's epsilon, or 0 if `atol` is given. With `hermitian`, eigenvalues are counted instead.
 */
export const matrixRank = /* @__PURE__ */ composite(
  "matrixRank",
  "A:tensor atol:number?=null rtol:number?=null hermitian:bool=false",
  (A, atol, rtol, hermitian) => {
    const values = hermitian ? abs(eigvalsh(A)) : svdvals(A);
    if (values.shape.at(-1) === 0) return sum(gt(values, 0), -1);
    const largest = amax(values, -1, true);
    const size = Math.max(...A.shape.slice(-2));
    const byDefault = atol === null || atol <= 0 ? size * (kEpsilons[A.dtype] ?? 0) : 0;
    const least = clamp(mul(largest, rtol ?? byDefault), atol ?? 0);
    return sum(gt(values, least), -1);
  },
);

// The number of times a matrix must be halved so that the Taylor polynomial is accurate: [..., 1, 1].
function halvingsOf(A: Tensor): Tensor {
  const isDouble = A.dtype === "float64" || A.dtype === "complex128";
  const reach = isDouble ? 1.09 : 3.01;
  const norms = amax(sum(abs(detach(A)), -2, true), -1, true);
  // The limit is more than any finite matrix needs. An infinite matrix becomes NaN with it, as in PyTorch.
  return nanToNum(clamp(ceil(log2(div(norms, reach))), 0, 1100), 0);
}

// The Taylor polynomial of degree 19 of exp, in blocks of four powers.
function taylor(A: Tensor): Tensor {
  const second = matmul(A, A);
  const third = matmul(second, A);
  const fourth = matmul(second, second);
  const unit = identity(A);
  const factors = [1];
  for (let k = 1; k < 20; k++) factors.push((factors[k - 1] ?? 1) / k);
  const block = (first: number) =>
    [A, second, third].reduce(
      (total, power, i) => add(total, power, { alpha: factors[first + 1 + i] ?? 0 }),
      mul(unit, factors[first] ?? 0),
    );
  return [12, 8, 4, 0].reduce(
    (total, first) => add(matmul(total, fourth), block(first)),
    block(16),
  );
}

function identity(A: Tensor): Tensor {
  const { dtype, device } = A;
  return eye(A.shape.at(-1) ?? 0, { dtype, device });
}
