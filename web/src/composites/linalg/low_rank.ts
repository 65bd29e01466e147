// Decompositions of matrices that are nearly of low rank, by random projections (Halko, Martinsson, Tropp: Finding structure with
// randomness, 2009).

import { conj, expand, matmul, mean, qr, randn, sub, svd } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { isComplex, isFloat } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { composite } from "../composite.js";
import { adjointOf } from "./matrices.js";

/** Singular vectors in columns and singular values, the largest first: A is about U diag(S) V^H. */
type LowRank = [U: Tensor, S: Tensor, V: Tensor];

/**
 * The `q` largest singular values of A [..., m, n], with their vectors, about: A is multiplied by random vectors, and `niter` times by itself.
 * Exact for a matrix of rank `q` or less. With `M`, which broadcasts to A, those of A - M.
 */
export const svdLowrank = /* @__PURE__ */ composite(
  "svdLowrank",
  "A:tensor q:int=6 niter:int=2 M:tensor?=null",
  (A, q, niter, M): LowRank => {
    const [m, n] = sizesOf("svdLowrank", A);
    checkCounts("svdLowrank", q, niter, Math.min(m, n));
    return lowRank(M === null ? A : sub(A, expand(M, A.shape)), q, niter);
  },
);

/**
 * The principal components of samples, the rows of A [..., m, n]: svdLowrank() of A less the mean of its rows, unless
 * `center` is false. The columns of V are the directions; by default min(6, m, n) of them.
 */
export const pcaLowrank = /* @__PURE__ */ composite(
  "pcaLowrank",
  "A:tensor q:int?=null center:bool=true niter:int=2",
  (A, q, center, niter): LowRank => {
    const least = Math.min(...sizesOf("pcaLowrank", A));
    const count = q ?? Math.min(6, least);
    checkCounts("pcaLowrank", count, niter, least);
    return lowRank(center ? sub(A, mean(A, -2, true)) : A, count, niter);
  },
);

function sizesOf(where: string, A: Tensor): [number, number] {
  const [m, n] = A.shape.slice(-2);
  if (m === undefined || n === undefined)
    fail("ShapeMismatch", where, `A: expected [..., m, n], got the shape [${A.shape}].`);
  if (!isFloat(A.dtype) && !isComplex(A.dtype))
    fail("DtypeMismatch", where, `A: expected a floating-point dtype, got ${A.dtype}.`);
  return [m, n];
}

function checkCounts(where: string, q: number, niter: number, least: number): void {
  if (q < 0 || q > least)
    fail("InvalidArgument", where, `q: expected 0 to ${least}, the smaller size of A, got ${q}.`);
  if (niter < 0) fail("InvalidArgument", where, `niter: expected 0 or more, got ${niter}.`);
}

function lowRank(A: Tensor, q: number, niter: number): LowRank {
  const [m, n] = A.shape.slice(-2) as [number, number];
  if (m < n) {
    const [U, S, V] = ofTall(adjointOf(A), q, niter);
    return [V, S, U];
  }
  return ofTall(A, q, niter);
}

function ofTall(A: Tensor, q: number, niter: number): LowRank {
  const Q = basisOf(A, q, niter);
  const [U, S, Vh] = svd(matmul(adjointOf(Q), A), false);
  return [matmul(Q, U), S, conj(Vh).transpose(-2, -1)];
}

// Orthonormal columns that span most of what A does.
function basisOf(A: Tensor, q: number, niter: number): Tensor {
  const { dtype, device } = A;
  const columns = A.shape.at(-1) ?? 0;
  let [Q] = qr(matmul(A, randn([columns, q], { dtype, device })));
  for (let i = 0; i < niter; i++) {
    const [P] = qr(matmul(adjointOf(A), Q));
    [Q] = qr(matmul(A, P));
  }
  return Q;
}
