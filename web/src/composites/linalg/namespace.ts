// eg.linalg: the functions of torch.linalg. Most are the functions of the same name in the package itself; those that torch and
// torch.linalg define differently are in of_torch_linalg.ts.

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
