// The losses of heads.

import * as eg from "edgegrad";
import type { Labels } from "../config/labels.js";
import { fail } from "../errors.js";

/** The mean cross entropy of each next token, where labels are not -100. */
export function nextTokenLoss(logits: eg.Tensor, labels: eg.Tensor): eg.Tensor {
  const [batch, tokens] = checkTokenLabels(logits, labels);
  // Labels are moved instead of logits, which are larger.
  const none = eg.full([batch, 1], -100, { dtype: "int64", device: labels.device });
  const next = eg.cat([labels.narrow(1, 1, tokens - 1).to("int64"), none], 1);
  return tokenLoss(logits, next);
}

/** The mean cross entropy of each token, where labels are not -100. */
export function hiddenTokenLoss(logits: eg.Tensor, labels: eg.Tensor): eg.Tensor {
  checkTokenLabels(logits, labels);
  return tokenLoss(logits, labels.to("int64"));
}

function checkTokenLabels(
  logits: eg.Tensor,
  labels: eg.Tensor,
): readonly [batch: number, tokens: number] {
  const [batch, tokens] = logits.shape as [number, number, number];
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

/** The loss of a classifier: of its kind, or of the kind that fits the labels. */
export function classifierLoss(
  logits: eg.Tensor,
  labels: eg.Tensor,
  { count, problem }: Labels,
): eg.Tensor {
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
    return eg.crossEntropy(scores.reshape([-1, count]), labels.reshape([-1]).to("int64"));
  }
  const wanted = labels.to("float32").reshape(scores.shape);
  return kind === "regression"
    ? eg.mseLoss(scores, wanted)
    : eg.binaryCrossEntropyWithLogits(scores, wanted);
}
