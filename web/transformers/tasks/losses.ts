// The losses of heads.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { Labels } from "../config/labels.js";

// The number of tokens whose scores are computed together, where all scores at once would take too much memory.
const kTokensAtOnce = 32;

/** Adds a loss to an output, and how many labels it is the mean of; `count` computes that number when it is read. */
export function withLoss<Output extends object>(
  output: Output,
  loss: eg.Tensor,
  count: () => eg.Tensor,
): Output & { readonly loss: eg.Tensor; readonly lossCount: eg.Tensor } {
  const made = Object.assign(output, { loss });
  return Object.defineProperty(made, "lossCount", { get: count }) as typeof made & {
    readonly lossCount: eg.Tensor;
  };
}

/** Adds the loss of next tokens to the output of a language model. */
export function withNextTokenLoss<Output extends object>(
  output: Output,
  labels: eg.Tensor,
  loss: eg.Tensor,
) {
  return withLoss(output, loss, () =>
    countOf(labels.narrow(1, 1, (labels.shape[1] as number) - 1)),
  );
}

/** Returns the number of labels that are not -100. */
export const countOf = (labels: eg.Tensor): eg.Tensor => labels.ne(-100).sum();

/** The mean cross entropy of next tokens whose label is not -100. */
export function nextTokenLoss(logits: eg.Tensor, labels: eg.Tensor): eg.Tensor {
  return tokenLoss(logits, nextTokens(logits, labels));
}

/**
 * Returns nextTokenLoss() for hidden states [batch, tokens, size]. Scores are computed for a few tokens at a time, and again in backward: with a large
 * vocabulary, scores and their gradients take more memory than the rest of training a small model.
 */
export function checkpointedNextTokenLoss(
  hidden: eg.Tensor,
  labels: eg.Tensor,
  scores: (hidden: eg.Tensor) => eg.Tensor,
): eg.Tensor {
  const next = nextTokens(hidden, labels).reshape([-1]);
  const states = hidden.reshape([-1, hidden.shape[2] as number]);
  const wanted = next.split(kTokensAtOnce);
  const sums = states.split(kTokensAtOnce).map((some, i) => {
    const sum = (read: eg.Tensor) =>
      eg.scope(() => {
        const logits = scores(read).float();
        return eg.crossEntropy(logits, wanted[i] as eg.Tensor, null, { reduction: "sum" });
      });
    return eg.autograd.checkpoint(sum, some);
  });
  return eg.stack(sums).sum().div(next.ne(-100).sum());
}

// Shifts the labels instead of the scores, which are larger.
function nextTokens(scored: eg.Tensor, labels: eg.Tensor): eg.Tensor {
  const [batch, tokens] = checkTokenLabels(scored, labels);
  const none = eg.full([batch, 1], -100, { dtype: "int64", device: labels.device });
  return eg.cat([labels.narrow(1, 1, tokens - 1).to("int64"), none], 1);
}

/** The mean cross entropy of tokens whose label is not -100. */
export function hiddenTokenLoss(logits: eg.Tensor, labels: eg.Tensor): eg.Tensor {
  checkTokenLabels(logits, labels);
  return tokenLoss(logits, labels.to("int64"));
}

function checkTokenLabels(
  scored: eg.Tensor,
  labels: eg.Tensor,
): readonly [batch: number, tokens: number] {
  const [batch, tokens] = scored.shape as [number, number, number];
  if (String(labels.shape) !== String([batch, tokens])) {
    const got = labels.shape.join(", ");
    fail("ShapeMismatch", "labels", `expected the shape [${batch}, ${tokens}], got [${got}].`);
  }
  return [batch, tokens];
}

function tokenLoss(logits: eg.Tensor, labels: eg.Tensor): eg.Tensor {
  const words = logits.shape[2] as number;
  return eg.crossEntropy(logits.reshape([-1, words]).float(), labels.reshape([-1]));
}

/** Adds the loss of a classifier to its scores: of the configured kind, or else of the kind that fits the labels. */
export function withClassifierLoss(
  logits: eg.Tensor,
  labels: eg.Tensor,
  { count, problem }: Labels,
) {
  const output = { logits };
  const isWhole = /int/.test(labels.dtype);
  const scores = logits.float();
  const kind =
    problem ??
    (count === 1
      ? "regression"
      : isWhole
        ? "single_label_classification"
        : "multi_label_classification");
  if (kind === "single_label_classification") {
    const classes = labels.reshape([-1]).to("int64");
    const loss = eg.crossEntropy(scores.reshape([-1, count]), classes);
    return withLoss(output, loss, () => countOf(classes));
  }
  const wanted = labels.to("float32").reshape(scores.shape);
  const loss =
    kind === "regression"
      ? eg.mseLoss(scores, wanted)
      : eg.binaryCrossEntropyWithLogits(scores, wanted);
  return withLoss(output, loss, () => eg.tensor(scores.numel / count));
}
