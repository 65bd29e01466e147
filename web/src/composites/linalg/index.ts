// Ops on matrices. norm() and the functions of of_complex.ts replace the engine's ops (web/src/index.ts).

export { logdet } from "./determinants.js";
export { matrixExp, matrixPower, matrixRank } from "./matrix_functions.js";
export { cond, matrixNorm, vectorNorm } from "./norms.js";
export { adjoint, householderProduct, multiDot, vecdot } from "./products.js";
export {
  choleskyInverse,
  choleskySolve,
  luSolve,
  tensorinv,
  tensorsolve,
} from "./solves.js";
