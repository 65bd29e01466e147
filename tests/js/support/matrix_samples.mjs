// Sample calls of the composites of matrices, by the name of the function (composite_calls.mjs).

export const kMatrixSamples = {
  adjoint: ["T([2, 3])", "C([2, 2, 3])"],
  // PyTorch returns derivatives for both triangles of a factor, although only one is read: finite differences cannot show this.
  choleskyInverse: ["T([3, 3], 0.5, 2).tril().detach()"],
  choleskySolve: [
    "T([3, 2]), T([3, 3], 0.5, 2).tril().detach()",
    "T([3, 2]), T([3, 3], 0.5, 2).triu().detach(), true",
  ],
  cond: ["T([3, 3])", 'T([2, 3, 3]), "fro"', "T([3, 3]), {p: -2}"],
  householderProduct: ["T([4, 3]), T([2])", "T([2, 3, 3]), T([2, 3])", "C([3, 2]), C([2])"],
  luSolve: [
    "T([3, 3], 0.5, 2), I([3], 3).add(1), T([3, 2])",
    "T([2, 3, 3], 0.5, 2), I([2, 3], 3).add(1), T([2, 4, 3]), false",
    "T([3, 3], 0.5, 2), I([3], 3).add(1), T([2, 3, 1]), {adjoint: true}",
    "T([3, 3], 0.5, 2), I([3], 3).add(1), T([2, 3]), false, {adjoint: true}",
    "T([2, 3, 3], 0.5, 2), I([2, 3], 3).add(1), T([3, 1]), {adjoint: true}",
  ],
  "linalg.diagonal": [
    "T([2, 3, 3])",
    "C([3, 4]), 1",
    "T([2, 3, 4]), {offset: -1, dim1: 0, dim2: 2}",
  ],
  "linalg.norm": [
    "T([3, 4])",
    "C([2, 3, 2])",
    "T([4]), 3",
    'T([3, 4]), "nuc"',
    "T([3, 4]), {ord: 1, keepdim: true}",
    "T([3, 2, 4]), -2, [0, 2]",
    "T([3, 4]), {dim: 1}",
  ],
  "linalg.vander": ["T([3])", "T([2, 3]), 4", "C([2]), {N: 3}"],
  logdet: ["T([3, 3], 0, 0.2)", "C([3, 3])"],
  matrixExp: ["T([3, 3])", "T([2, 2, 2], -5, 5)", "C([2, 2])"],
  matrixNorm: ["T([3, 4])", 'T([3, 2, 4]), "nuc", [0, 2], true', "T([3, 4]), {ord: -1}"],
  matrixPower: ["T([3, 3]), 3", "T([2, 3, 3]), {n: -2}", "T([3, 3]), 0", "C([2, 2]), 5"],
  matrixRank: ["T([3, 4])", "T([2, 3, 3]), 0.1, {hermitian: true}"],
  pcaLowrank: ["T([4, 2])", "T([2, 3]), 2, false"],
  svdLowrank: ["T([3, 2]), 2", "T([2, 3]), {q: 2, niter: 1, M: T([3])}"],
  luUnpack: [
    "T([3, 3]), I([3], 3).add(1)",
    "T([2, 3, 2]), I([2, 2], 3).add(1)",
    "T([2, 3]), I([2], 2).add(1), {unpackPivots: false}",
  ],
  multiDot: ["[T([2, 3]), T([3, 1]), T([1, 4]), T([4, 2])]", "[T([3]), T([3, 2]), T([2])]"],
  norm: ["T([3, 4])", 'T([3, 4]), "nuc"', 'T([3, 4]), "fro", 1', "T([3, 4]), 3, {dim: 0}"],
  tensorinv: ["T([4, 2, 2]), {ind: 1}", "T([2, 3, 6])"],
  tensorsolve: ["T([2, 3, 6]), T([2, 3])", "T([2, 6, 3]), T([2, 3]), {dims: [1]}"],
  vecdot: ["T([2, 3]), T([3])", "C([2, 3]), C([2, 3]), {dim: 0}"],
  vectorNorm: ["T([3, 4])", "T([3, 4]), 3, 1", "T([3, 4]), Infinity, {dim: [0, 1], keepdim: true}"],
};
