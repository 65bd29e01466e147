// Ops on matrices.

export { logdet } from "./determinants.js";
export { pcaLowrank, svdLowrank } from "./low_rank.js";
export { matrixExp, matrixPower, matrixRank } from "./matrix_functions.js";
export { cond, matrixNorm, norm, vectorNorm } from "./norms.js";
export { adjoint, householderProduct, multiDot, vecdot } from "./products.js";
export {
  choleskyInverse,
  choleskySolve,
  luSolve,
  luUnpack,
  tensorinv,
  tensorsolve,
} from "./solves.js";
