// eg.linalg: torch.linalg's functions. Where a plain function means the same it is that one; the others, which torch and
// torch.linalg define differently, are in of_torch_linalg.ts.

export {
  cross,
  eig,
  eigh,
  eigvals,
  eigvalsh,
  lstsq,
  matmul,
  qr,
  svd,
  svdvals,
} from "../../generated/ops.js";
export { matrixExp, matrixPower, matrixRank } from "./matrix_functions.js";
export { cond, matrixNorm, vectorNorm } from "./norms.js";
export {
  cholesky,
  det,
  inverse as inv,
  lu,
  luFactor,
  pinv,
  slogdet,
  solve,
  solveTriangular,
} from "./of_complex.js";
export { diagonal, norm, vander } from "./of_torch_linalg.js";
export { householderProduct, multiDot, vecdot } from "./products.js";
export { luSolve, tensorinv, tensorsolve } from "./solves.js";
