// Calls that cover the options of functions, and sizes for which kernels use other code than for samples: rows longer than a
// workgroup, sizes that are not multiples of four or of a tile. They have the format of samples (op_samples.mjs).

const kConv2d = [
  // Depthwise, dilated and strided; with a bias; more channels than a tile has.
  "T([2, 8, 9, 7]), T([8, 1, 3, 3]), T([8]), 1, 1, 1, 8",
  "T([2, 4, 11, 10]), T([8, 1, 3, 2]), null, 2, 1, [2, 3], 4",
  "T([1, 6, 8, 8]), T([9, 2, 3, 3]), T([9]), [2, 1], [0, 2], 1, 3",
  "T([2, 17, 13, 19]), T([35, 17, 3, 3]), T([35]), 1, 1",
  "T([3, 5, 1, 33]), T([7, 5, 1, 5]), null, 1, 'same'",
  "T([1, 33, 6, 6]), T([66, 33, 1, 1])",
];

const kPools = ["[2, 3, 13, 11]", "[3, 9, 8]"];

const windowed = (rest) => kPools.flatMap((shape) => rest.map((text) => `T(${shape}), ${text}`));

/** By the name of the function. */
export const kOptionCases = {
  conv1d: [
    "T([2, 4, 37]), T([4, 1, 5]), T([4]), 3, 2, 2, 4",
    "T([3, 6, 70]), T([8, 3, 7]), null, 1, 'same', 3, 2",
    "T([1, 1, 300]), T([2, 1, 65]), T([2])",
  ],
  conv2d: kConv2d,
  convTranspose1d: [
    "T([2, 4, 9]), T([4, 3, 5]), T([6]), 3, 2, 1, 2, 2",
    "T([1, 8, 40]), T([8, 1, 4]), null, 2, 1, 0, 8",
  ],
  convTranspose2d: [
    "T([2, 6, 5, 4]), T([6, 2, 3, 3]), T([6]), [2, 3], 1, [1, 2], 3, [1, 2]",
    "T([1, 19, 7, 9]), T([19, 33, 2, 2]), T([33]), 2",
    "T([2, 4, 6, 6]), T([4, 1, 3, 3]), null, 1, 1, 0, 4",
  ],
  maxPool1d: ["T([3, 4, 41]), 5, 3, 2, 1, true", "T([2, 600]), 300, 150"],
  maxPool2d: windowed(["2", "3, 2, 1", "[3, 2], [2, 3], [1, 0], [2, 1], true", "3, 1, 1, 2"]),
  avgPool1d: ["T([3, 4, 41]), 5, 3, 2, true, false", "T([2, 600]), 300, 150"],
  avgPool2d: windowed([
    "2",
    "3, 2, 1",
    "[3, 2], [2, 3], [1, 0], true, false",
    "3, 1, 1, true, true, 5",
  ]),
  adaptiveAvgPool2d: windowed(["1", "[5, 7]", "[20, 3]"]),
  adaptiveMaxPool2d: windowed(["1", "[5, 7]", "[20, 3]"]),
  batchNorm: [
    "T([5, 7]), T([7]), T([7], 0.5, 2), T([7]), T([7]), true, 0.3",
    "T([3, 5, 11, 13]), null, null, T([5]), T([5]), true",
    "T([2, 3, 700]), T([3]), T([3], 0.5, 2), null, null, false",
  ],
  groupNorm: ["T([3, 12, 7, 5]), 4, T([12]), T([12])", "T([2, 6, 301]), 2, null, null, 0.01"],
  instanceNorm: [
    "T([2, 5, 9, 8]), null, null, T([5]), T([5])",
    "T([2, 3, 517]), T([3]), T([3], 0.5, 2), null, null, true, 0.2",
  ],
  layerNorm: ["T([7, 1030]), [1030], T([1030]), T([1030])", "T([600, 5]), [5], T([5]), T([5])"],
  rmsNorm: ["T([7, 1030]), [1030], T([1030])", "T([600, 5]), [5]"],
  scaledDotProductAttention: [
    "T([2, 3, 37, 16]), T([2, 3, 53, 16]), T([2, 3, 53, 24])",
    "T([2, 3, 70, 8]), T([2, 3, 70, 8]), T([2, 3, 70, 8]), null, 0, true",
    "T([1, 2, 9, 5]), T([1, 2, 21, 5]), T([1, 2, 21, 7]), null, 0, true, 0.3",
    "T([1, 2, 33, 4]), T([1, 2, 33, 4]), T([1, 2, 33, 4]), B([33, 33])",
    "T([2, 4, 17, 6]), T([2, 2, 17, 6]), T([2, 2, 17, 6]), T([2, 1, 17, 17]), 0, false, null, true",
    "T([1, 6, 20, 4]), T([1, 2, 20, 4]), T([1, 2, 20, 4]), null, 0, true, null, true",
  ],
  interpolate: [
    "T([2, 3, 5]), 9",
    "T([2, 3, 5]), 12, null, 'nearest-exact'",
    "T([2, 3, 7, 5]), [3, 11], null, 'nearest-exact'",
    "T([2, 3, 7]), 15, null, 'linear', true",
    "T([2, 3, 7, 5]), [13, 4], null, 'bilinear'",
    "T([2, 3, 7, 5]), null, [0.5, 2], 'bilinear', false, true",
    "T([2, 3, 7, 5]), [13, 9], null, 'bicubic', true",
    "T([1, 2, 3, 4, 3]), [5, 3, 6], null, 'trilinear'",
    "T([1, 2, 3, 4, 3]), [5, 3, 6], null, 'trilinear', true",
    "T([1, 2, 3, 4, 3]), null, 2",
    "T([2, 3, 7, 5]), [4, 9], null, 'area'",
  ],
  pad: [
    "T([3, 5]), [2, 3, 1, 4], 'constant', -2",
    "T([2, 3, 4, 5]), [-1, 2, 3, -2]",
    "T([2, 3, 7]), [6, 5], 'reflect'",
    "T([2, 3, 7]), [9, 8], 'replicate'",
    "T([2, 3, 7]), [7, 3], 'circular'",
    "T([2, 3, 4, 5]), [3, 2, 1, 3], 'reflect'",
    "T([2, 3, 4, 5]), [7, 2, 1, 9], 'replicate'",
    "T([2, 3, 4, 5]), [5, 2, 1, 4], 'circular'",
    "T([1, 2, 3, 4, 3]), [1, 2, 2, 1, 1, 2], 'replicate'",
  ],
  cumsum: ["T([3, 1030]), 1", "T([1030, 3]), 0", "T([300, 5, 2]), 1"],
  cumprod: ["T([3, 520], 0.98, 1.02), 1", "T([5, 4, 3]), 1"],
  logcumsumexp: ["T([3, 1030]), 1", "T([600, 3]), 0"],
  cummax: ["T([3, 1030]), 1", "T([600, 3]), 0"],
  cummin: ["T([3, 1030]), 1", "T([600, 3]), 0"],
  sort: ["T([3, 1000]), 1, true", "T([700, 3]), 0", "T([65]), 0, false, true"],
  argsort: ["T([3, 1000])", "T([700, 3]), 0, true"],
  topk: ["T([3, 1000]), 17", "T([700, 3]), 5, 0, false", "T([2, 300]), 300, 1, true, false"],
  kthvalue: ["T([3, 700]), 350", "T([700, 3]), 7, 0, true"],
  median: ["T([3, 701]), 1", "T([1001])"],
  mode: ["T([3, 300]), 1"],
  gather: ["T([70, 33]), 0, I([200, 33], 70)", "T([2, 5, 300]), 2, I([2, 5, 77], 300)"],
  scatter: [
    "T([70, 33]), 0, I([5, 33], 70), T([5, 33])",
    "T([3, 400]), 1, I([3, 300], 400), T([3, 300]), 'add'",
    "T([3, 4]).detach(), 1, I([2, 4], 4), T([3, 4], 0.5, 2).detach(), 'multiply'",
  ],
  scatterAdd: ["T([70, 33]), 0, I([500, 33], 70), T([500, 33])"],
  indexSelect: ["T([70, 33]), 0, I([300], 70)", "T([3, 300]), 1, I([1000], 300)"],
  indexAdd: ["T([70, 33]), 0, I([300], 70), T([300, 33]), -0.5"],
  indexCopy: ["T([70, 33]), 0, I([1], 70), T([1, 33])"],
  indexFill: ["T([70, 33]), 1, I([5], 33), 2"],
  indexPut: ["T([70, 33]), [I([300], 70), I([300], 33)], T([300]), true"],
  takeAlongDim: ["T([70, 33]), I([9, 33], 70), 0"],
  embedding: ["I([40, 9], 50), T([50, 33])", "I([300], 5), T([5, 3]), 2"],
  maskedSelect: ["T([70, 33]), B([70, 33])", "T([70, 33]), B([33])"],
  maskedScatter: ["T([70, 33]), B([70, 33]), T([2310])"],
  nonzero: ["B([70, 33])", "B([2, 3, 500])"],
  tril: ["T([3, 70, 33]), -20", "T([33, 70]), 15"],
  triu: ["T([3, 70, 33]), -20", "T([33, 70]), 15"],
  cat: ["[T([70, 33]), T([70, 1]), T([70, 300])], 1", "[T([3, 5]), T([700, 5])]"],
  repeatInterleave: ["T([70, 3]), I([70], 5), 0"],
  // Without a gradient of the scale, a shader decodes.
  quantizedLinear: [
    "T([5, 100]), Q([33, 50]), T([33, 4], 0.1, 0.2).detach(), T([33]), 4, 32",
    "T([2, 3, 70]), Q([9, 70]), T([9, 1], 0.01, 0.02).detach()",
    "T([1, 300]), Q([70, 300]), T([70, 3], 0.01, 0.02).detach(), null, 8, 128",
  ],
  cdist: [
    "T([37, 5]), T([23, 5])",
    "T([2, 9, 3]), T([2, 4, 3]), 3",
    "T([5, 3]), T([4, 3]), Infinity",
    "T([5, 3]), T([4, 3]), 0",
  ],
  einsum: [
    "'ij,jk->ki', T([33, 17]), T([17, 65])",
    "'bij,bjk->bik', T([3, 9, 5]), T([3, 5, 7])",
    "'bhqd,bhkd->bhqk', T([2, 3, 5, 4]), T([2, 3, 6, 4])",
    "'ii->i', T([7, 7])",
    "'...ij->...ji', T([2, 3, 5, 4])",
    "'i,j,k->ijk', T([3]), T([4]), T([5])",
    "'ij->', T([33, 17])",
  ],
  matmul: [
    "T([65, 33]), T([33, 130])",
    "T([3, 1, 17, 9]), T([5, 9, 21])",
    "T([1, 700]), T([700, 1])",
    "T([300, 2]), T([2, 300])",
  ],
  addmm: ["T([67]), T([35, 70]), T([70, 67]), 0.5, -2"],
  softmax: ["T([5, 1030]), 1", "T([1030, 5]), 0", "T([3, 70, 5]), 1"],
  logSoftmax: ["T([5, 1030]), 1", "T([1030, 5]), 0"],
  sum: ["T([1000003])", "T([700, 33]), 0", "T([5, 1030]), 1", "T([7, 5, 300]), [0, 2]"],
  mean: ["T([70, 3, 50]), [0, 2], true"],
  prod: ["T([3, 300], 0.98, 1.02), 1"],
  amax: ["T([1000003])", "T([700, 33]), 0", "T([5, 1030]), 1"],
  argmax: ["T([70001])", "T([700, 33]), 0", "T([5, 1030]), 1"],
  logsumexp: ["T([5, 1030]), 1", "T([1030, 5]), 0"],
  var: ["T([5, 1030]), 1", "T([1030, 5]), 0, 0"],
  norm: ["T([5, 1030]), 2, 1", "T([1030, 5]), 1, 0", "T([300]), 3", "T([5, 7]), -Infinity, 1"],
  crossEntropy: [
    "T([70, 33]), I([70], 33), T([33], 0.5, 2), 3, 'mean'",
    "T([70, 33]), I([70], 33), T([33], 0.5, 2), 3, 'sum', 0.2",
    "T([5, 1030]), I([5], 1030), null, -100, 'none', 0.1",
    "T([3, 7, 5, 4]), I([3, 5, 4], 7), T([7], 0.5, 2), 2, 'mean', 0.3",
    "T([9, 5]), T([9, 5], 0, 1), T([5], 0.5, 2), -100, 'mean', 0.1",
  ],
  nllLoss: [
    "T([70, 33]), I([70], 33), T([33], 0.5, 2), 3, 'mean'",
    "T([3, 7, 5, 4]), I([3, 5, 4], 7), T([7], 0.5, 2), 2, 'none'",
  ],
  ctcLoss: [
    "T([9, 2, 5], -3, -1), I([2, 3], 4).add(1), [9, 7], [3, 2]",
    "T([9, 2, 5], -3, -1), I([2, 3], 4).add(1), [9, 7], [3, 0], 0, 'sum', true",
    "T([12, 3, 4], -3, -1), I([7], 3), [12, 12, 8], [3, 2, 2], 3, 'none'",
  ],
};

/** Returns every loss with every reduction, instead of the one in its samples. */
export function reductionCases(op) {
  const choices = op.args.find(({ name }) => name === "reduction").choices;
  return op.samples.flatMap((text) => {
    const chosen = choices.find((one) => text.includes(`'${one}'`));
    return choices.map((one) =>
      chosen ? text.replace(`'${chosen}'`, `'${one}'`) : `${text}, { reduction: '${one}' }`,
    );
  });
}
