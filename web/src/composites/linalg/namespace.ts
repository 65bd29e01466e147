// eg.linalg: the functions of torch.linalg. Most are the functions of the same name in the package itself; those that torch and
// torch.linalg define differently are in of_torch_linalg.ts.

export {
  cholesky,
  cross,
  det,
  eig,
  eigh,
  eigvals,
  eigvalsh,
  inverse as inv,
  lstsq,
  lu,
  luFactor,
  matmul,
  pinv,
  qr,
  slogdet,
  solve,
  solveTriangular,
  svd,
  svdvals,
} from "../../generated/ops.js";
export { matrixExp, matrixPower, matrixRank } from "./matrix_functions.js";
export { cond, matrixNorm, vectorNorm } from "./norms.js";
export { diagonal, norm, vander } from "./of_torch_linalg.js";
export { householderProduct, multiDot, vecdot } from "./products.js";
export { luSolve, tensorinv, tensorsolve } from "./solves.js";
export { choleskyEx, invEx, luFactorEx, solveEx } from "./unchecked.js";
