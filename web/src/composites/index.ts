// Ops composed of other ops.

export * from "./aliases.js";
export {
  deg2rad,
  floatPower,
  frexp,
  ldexp,
  multigammaln,
  mvlgamma,
  nextafter,
  rad2deg,
  rsub,
  trueDivide,
} from "./arithmetic.js";
export { embeddingBag } from "./embedding_bag.js";
export * from "./fourier/index.js";
export { gradient } from "./gradient.js";
export { histogramdd } from "./histogramdd.js";
export { bincount, histc, histogram } from "./histograms.js";
export { cumulativeTrapezoid, trapezoid, trapezoid as trapz } from "./integration.js";
export {
  blockDiag,
  broadcastShapes,
  broadcastTensors,
  cartesianProd,
  columnStack,
  combinations,
  dstack,
} from "./joins.js";
export * from "./linalg/index.js";
export { argwhere, trilIndices, triuIndices, unravelIndex } from "./positions.js";
export { logspace, vander } from "./powers.js";
export { isneginf, isposinf, isreal } from "./predicates.js";
export { inner, tensordot, vdot } from "./products.js";
export { nanquantile, quantile } from "./quantiles.js";
export {
  atleast1d,
  atleast2d,
  atleast3d,
  fliplr,
  flipud,
  narrowCopy,
  ravel,
  sumToSize,
} from "./reshaping.js";
export {
  asStridedScatter,
  diagEmbed,
  diagflat,
  diagonalScatter,
  fill,
  put,
  selectScatter,
  sliceScatter,
} from "./scatters.js";
export { isin, unique, uniqueConsecutive } from "./sets.js";
export * from "./spatial/index.js";
export { dsplit, hsplit, tensorSplit, vsplit } from "./splits.js";
export { corrcoef, cov, dist, pdist } from "./statistics.js";
