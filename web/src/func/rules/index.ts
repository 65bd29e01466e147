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
import { lstmStepsOf } from "./recurrent.js";
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
  to_dtype: alone,
  detach: alone,
  zeros_like: alone,
  ones_like: alone,
  full_like: alone,
  empty_like: alone,
  dropout: alone,
  threshold: alone,
  view_as_real: alone,
  view_as_complex: alone,
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
  count_nonzero: reduction,
  aminmax: alongOne,
  var_mean: reduction,
  std_mean: reduction,
  softmax: shifted,
  log_softmax: shifted,
  softmin: shifted,
  glu: shifted,
  normalize: shifted,
  cosine_similarity: similarity,
  pairwise_distance: vectorPairs,
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
  one_hot: oneHot,
  pad: padded,
  interpolate: folded(0),
  max_pool1d: folded(2),
  max_pool2d: folded(3),
  avg_pool1d: folded(2),
  avg_pool2d: folded(3),
  adaptive_avg_pool2d: folded(3),
  adaptive_max_pool2d: folded(3),
  conv1d: convolution(1),
  conv2d: convolution(2),
  conv_transpose1d: convolution(1),
  conv_transpose2d: convolution(2),
  layer_norm: trailingNorm({ weight: null, bias: null }),
  rms_norm: trailingNorm({ weight: null }),
  batch_norm: batchNormOf,
  group_norm: groupNorm,
  instance_norm: instanceNorm,
  lstm_steps: lstmStepsOf,
  cross_entropy: classLoss,
  nll_loss: classLoss,
  mse_loss: elementwiseLoss,
  l1_loss: elementwiseLoss,
  smooth_l1_loss: elementwiseLoss,
  huber_loss: elementwiseLoss,
  binary_cross_entropy: elementwiseLoss,
  binary_cross_entropy_with_logits: elementwiseLoss,
  kl_div: elementwiseLoss,
  margin_ranking_loss: elementwiseLoss,
  hinge_embedding_loss: elementwiseLoss,
  soft_margin_loss: elementwiseLoss,
  poisson_nll_loss: elementwiseLoss,
  gaussian_nll_loss: gaussianLoss,
  cosine_embedding_loss: rowLoss(["input1", "input2", "target"], 1),
  triplet_margin_loss: rowLoss(["anchor", "positive", "negative"], 1),
  multi_margin_loss: rowLoss(["input", "target"], 1),
  multilabel_margin_loss: rowLoss(["input", "target"], 1),
  multilabel_soft_margin_loss: rowLoss(["input", "target"], 1),
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
