// The vmap() rules of all ops: the op table marks the elementwise ones, the others have rules by name. An op without a rule runs
// sample by sample (interpret.ts).

import type { Op } from "../../dispatch/signature.js";
import { kElementwiseCount } from "../../generated/elementwise.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Rule } from "./call.js";
import { convolution } from "./conv.js";
import { alongOne, extremum, middle, reduction, shiftDim, shifted } from "./dims.js";
import { elementwise, elementwiseLoss, repeated } from "./elementwise.js";
import { folded, oneHot, padded, prelu, renorm, vectorPairs } from "./folded.js";
import { indexRules } from "./indexing.js";
import { classLoss, gaussianLoss, rowLoss } from "./losses.js";
import { matrixRules } from "./matrix.js";
import { batchNormOf, groupNorm, instanceNorm, trailingNorm } from "./norms.js";
import { gruStepsOf, lstmStepsOf, rnnStepsOf } from "./recurrent.js";
import { viewRules } from "./views.js";

// The dimension refers to the broadcast shape of both tensors.
const similarity: Rule = (call) => {
  const rank = Math.max(call.rank("x1"), call.rank("x2"));
  return repeated(call, { dim: shiftDim(call.op.name, call.value("dim"), rank) });
};

// Treats the batch as one more dimension of the tensor.
const alone: Rule = (call) => call.run({ input: call.batch("input") });

const sortedRows: Rule = (call) =>
  call.rank("input") === 0 ? call.batch("input") : (call.batch("input").sort(1)[0] as Tensor);

// A function, so that the rules are created at first use and a bundle without vmap() can drop them.
const makeRules = (): Readonly<Record<string, Rule>> => ({
  ...viewRules(),
  ...indexRules(),
  ...matrixRules(),
  clone: alone,
  contiguous: alone,
  toDtype: alone,
  detach: alone,
  zerosLike: alone,
  onesLike: alone,
  fullLike: alone,
  emptyLike: alone,
  dropout: alone,
  threshold: alone,
  viewAsReal: alone,
  viewAsComplex: alone,
  real: alone,
  imag: alone,
  conj: alone,
  angle: alone,
  complex: (call) => repeated(call),
  polar: (call) => repeated(call),
  isclose: (call) => repeated(call),
  sum: reduction,
  mean: reduction,
  prod: alongOne,
  any: reduction,
  all: reduction,
  amax: reduction,
  amin: reduction,
  max: extremum("max"),
  min: extremum("min"),
  argmax: alongOne,
  argmin: alongOne,
  var: reduction,
  std: reduction,
  norm: reduction,
  logsumexp: reduction,
  nansum: reduction,
  nanmean: reduction,
  countNonzero: reduction,
  aminmax: alongOne,
  varMean: reduction,
  stdMean: reduction,
  softmax: shifted,
  logSoftmax: shifted,
  softmin: shifted,
  glu: shifted,
  normalize: shifted,
  cosineSimilarity: similarity,
  pairwiseDistance: vectorPairs,
  sort: shifted,
  argsort: shifted,
  msort: sortedRows,
  topk: shifted,
  kthvalue: shifted,
  median: middle,
  nanmedian: middle,
  mode: shifted,
  cummax: shifted,
  cummin: shifted,
  cumsum: shifted,
  cumprod: shifted,
  logcumsumexp: shifted,
  diff: shifted,
  fft: shifted,
  ifft: shifted,
  rfft: shifted,
  irfft: shifted,
  prelu,
  renorm,
  oneHot: oneHot,
  pad: padded,
  interpolate: folded(0),
  maxPool1d: folded(2),
  maxPool2d: folded(3),
  avgPool1d: folded(2),
  avgPool2d: folded(3),
  adaptiveAvgPool2d: folded(3),
  adaptiveMaxPool2d: folded(3),
  conv1d: convolution(1),
  conv2d: convolution(2),
  convTranspose1d: convolution(1),
  convTranspose2d: convolution(2),
  layerNorm: trailingNorm({ weight: null, bias: null }),
  rmsNorm: trailingNorm({ weight: null }),
  batchNorm: batchNormOf,
  groupNorm: groupNorm,
  instanceNorm: instanceNorm,
  lstmSteps: lstmStepsOf,
  gruSteps: gruStepsOf,
  rnnSteps: rnnStepsOf,
  crossEntropy: classLoss,
  nllLoss: classLoss,
  mseLoss: elementwiseLoss,
  l1Loss: elementwiseLoss,
  smoothL1Loss: elementwiseLoss,
  huberLoss: elementwiseLoss,
  binaryCrossEntropy: elementwiseLoss,
  binaryCrossEntropyWithLogits: elementwiseLoss,
  klDiv: elementwiseLoss,
  marginRankingLoss: elementwiseLoss,
  hingeEmbeddingLoss: elementwiseLoss,
  softMarginLoss: elementwiseLoss,
  poissonNllLoss: elementwiseLoss,
  gaussianNllLoss: gaussianLoss,
  cosineEmbeddingLoss: rowLoss(["input1", "input2", "target"], 1),
  tripletMarginLoss: rowLoss(["anchor", "positive", "negative"], 1),
  multiMarginLoss: rowLoss(["input", "target"], 1),
  multilabelMarginLoss: rowLoss(["input", "target"], 1),
  multilabelSoftMarginLoss: rowLoss(["input", "target"], 1),
});

let rules: Readonly<Record<string, Rule>> | null = null;

/** Returns the rule of an op, or null if it has none. */
export function ruleOf(op: Op): Rule | null {
  if (op.id < kElementwiseCount) return elementwise;
  rules ??= makeRules();
  return (Object.hasOwn(rules, op.name) ? rules[op.name] : null) ?? null;
}

/** True for an elementwise op, whose operands broadcast with each other. */
export function isElementwise(op: Op): boolean {
  return op.id < kElementwiseCount;
}
