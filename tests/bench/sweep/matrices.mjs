// Calls of the sweep for products, decompositions and transforms (see tensors.mjs for their form).

import { C, L, N, Q, S, U } from "./operands.mjs";

const square = (z) => N(z.side, z.side);
const one = (z) => [square(z)];
const definite = (z) => [S(z.side, z.side)];
const two = (z) => [square(z), square(z)];
const signal = (z) => [N(z.rows, z.columns)];
const spectrum = (z) => [C(z.rows, z.columns)];

export const kProducts = {
  mm: two,
  bmm: (z) => [N(8, z.side, z.side), N(8, z.side, z.side)],
  mv: (z) => [square(z), N(z.side)],
  dot: (z) => [N(z.count), N(z.count)],
  vdot: (z) => [N(z.count), N(z.count)],
  inner: two,
  matmul: two,
  addmm: (z) => [square(z), square(z), square(z)],
  addmv: (z) => [N(z.side), square(z), N(z.side)],
  addr: (z) => [square(z), N(z.side), N(z.side)],
  addbmm: (z) => [square(z), N(4, z.side, z.side), N(4, z.side, z.side)],
  baddbmm: (z) => [N(4, z.side, z.side), N(4, z.side, z.side), N(4, z.side, z.side)],
  linear: (z) => [N(64, z.side), square(z), N(z.side)],
  quantize: { args: one, theirs: null, isForwardOnly: true },
  dequantize: { args: (z) => [Q(z.side, z.side), N(z.side, 1)], theirs: null, isForwardOnly: true },
  quantizedLinear: {
    args: (z) => [N(64, z.side), Q(z.side, z.side), N(z.side, 1)],
    theirs: null,
    isForwardOnly: true,
  },
  bilinear: (z) => [N(16, z.side), N(16, z.side), N(8, z.side, z.side), N(8)],
  outer: (z) => [N(z.rows), N(z.columns)],
  kron: (z) => [N(8, 8), N(z.side, z.side)],
  cross: (z) => [N(z.count / 4, 3), N(z.count / 4, 3), 1],
  tensordot: (z) => [N(z.side, 4, 8), N(4, 8, z.side)],
  multiDot: { args: (z) => [[square(z), square(z), square(z)]], theirs: "linalg.multi_dot" },
  matrixPower: { args: (z) => [square(z), 3], theirs: "linalg.matrix_power" },
  matrixExp: { args: one, theirs: "linalg.matrix_exp" },
  vecdot: { args: (z) => [N(z.rows, z.columns), N(z.rows, z.columns)], theirs: "linalg.vecdot" },
};

export const kDecompositions = {
  det: { args: definite, theirs: "linalg.det" },
  slogdet: { args: definite, theirs: "linalg.slogdet" },
  logdet: definite,
  inverse: definite,
  cholesky: { args: definite, theirs: "linalg.cholesky" },
  "linalg.choleskyEx": definite,
  "linalg.invEx": definite,
  "linalg.luFactorEx": one,
  "linalg.solveEx": (z) => [S(z.side, z.side), square(z)],
  choleskyInverse: (z) => [L(z.side, z.side)],
  choleskySolve: (z) => [square(z), L(z.side, z.side)],
  solve: { args: (z) => [S(z.side, z.side), square(z)], theirs: "linalg.solve" },
  solveTriangular: {
    args: (z) => [L(z.side, z.side), square(z)],
    options: { upper: false },
    theirs: "linalg.solve_triangular",
  },
  qr: { args: one, theirs: "linalg.qr" },
  svd: { args: (z) => [N(z.side, z.side), false], theirs: "linalg.svd" },
  svdvals: { args: one, theirs: "linalg.svdvals" },
  eigh: { args: definite, theirs: "linalg.eigh" },
  eigvalsh: { args: definite, theirs: "linalg.eigvalsh" },
  eig: { args: one, theirs: "linalg.eig", isForwardOnly: true },
  eigvals: { args: one, theirs: "linalg.eigvals" },
  luFactor: { args: one, theirs: "linalg.lu_factor" },
  lu: { args: one, theirs: "linalg.lu" },
  luUnpack: {
    args: (z) => [square(z), { kind: "pivots", count: z.side }],
    theirs: "lu_unpack",
  },
  svdLowrank: { args: (z) => [N(z.side, z.side), 6], theirs: null },
  pcaLowrank: { args: (z) => [N(z.side, z.side), 6], theirs: null },
  luSolve: {
    args: (z) => [L(z.side, z.side), { kind: "pivots", count: z.side }, square(z)],
    theirs: "linalg.lu_solve",
  },
  pinv: { args: one, theirs: "linalg.pinv" },
  lstsq: { args: two, theirs: "linalg.lstsq", isForwardOnly: true },
  householderProduct: { args: (z) => [square(z), N(z.side)], theirs: "linalg.householder_product" },
  cond: { args: definite, theirs: "linalg.cond" },
  matrixRank: { args: definite, theirs: "linalg.matrix_rank" },
  matrixNorm: { args: one, theirs: "linalg.matrix_norm" },
  vectorNorm: { args: one, theirs: "linalg.vector_norm" },
  "linalg.norm": one,
  "linalg.diagonal": one,
  "linalg.vander": (z) => [U(0.5, 1.5, z.count / 16), { N: 16 }],
  adjoint: one,
  tensorinv: { args: (z) => [N(z.side / 4, 4, z.side), { ind: 2 }], theirs: "linalg.tensorinv" },
  tensorsolve: {
    args: (z) => [N(z.side / 4, 4, z.side), N(z.side / 4, 4)],
    theirs: "linalg.tensorsolve",
  },
  "cholesky of 64 x 8 x 8": {
    call: "cholesky",
    args: () => [S(64, 8, 8)],
    theirs: "linalg.cholesky",
  },
  "solve of 64 x 8 x 8": {
    call: "solve",
    args: () => [S(64, 8, 8), N(64, 8, 8)],
    theirs: "linalg.solve",
  },
};

export const kDistances = {
  renorm: (z) => [N(z.rows, z.columns), 2, 0, 2],
  cdist: (z) => [N(z.side, z.side), N(z.side, z.side)],
  "cdist with p = 1": { call: "cdist", args: (z) => [N(z.side, z.side), N(z.side, z.side), 1] },
  pdist: (z) => [N(z.side, z.side)],
  pairwiseDistance: (z) => [N(z.rows, z.columns), N(z.rows, z.columns)],
  cosineSimilarity: (z) => [N(z.rows, z.columns), N(z.rows, z.columns)],
  normalize: (z) => [N(z.rows, z.columns)],
};

export const kTransforms = {
  fft: { args: spectrum, theirs: "fft.fft" },
  ifft: { args: spectrum, theirs: "fft.ifft" },
  rfft: { args: signal, theirs: "fft.rfft" },
  irfft: { args: spectrum, theirs: "fft.irfft" },
  hfft: { args: spectrum, theirs: "fft.hfft" },
  ihfft: { args: signal, theirs: "fft.ihfft" },
  fft2: { args: spectrum, theirs: "fft.fft2" },
  ifft2: { args: spectrum, theirs: "fft.ifft2" },
  fftn: { args: spectrum, theirs: "fft.fftn" },
  ifftn: { args: spectrum, theirs: "fft.ifftn" },
  rfft2: { args: signal, theirs: "fft.rfft2" },
  irfft2: { args: spectrum, theirs: "fft.irfft2" },
  rfftn: { args: signal, theirs: "fft.rfftn" },
  irfftn: { args: spectrum, theirs: "fft.irfftn" },
  hfft2: { args: spectrum, theirs: "fft.hfft2" },
  hfftn: { args: spectrum, theirs: "fft.hfftn" },
  ihfft2: { args: signal, theirs: "fft.ihfft2" },
  ihfftn: { args: signal, theirs: "fft.ihfftn" },
  fftshift: { args: signal, theirs: "fft.fftshift" },
  ifftshift: { args: signal, theirs: "fft.ifftshift" },
  "rfft of 1000": { call: "rfft", args: (z) => [N(z.rows, 1000)], theirs: "fft.rfft" },
  stft: { args: (z) => [N(z.count), 256], options: { returnComplex: true }, isForwardOnly: true },
  istft: { args: (z) => [C(129, z.count / 64), 256], isForwardOnly: true },
};

export const kAttention = {
  scaledDotProductAttention: (z) => [N(4, 4, z.side, 32), N(4, 4, z.side, 32), N(4, 4, z.side, 32)],
};
