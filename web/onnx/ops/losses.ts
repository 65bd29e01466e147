// Losses.

import * as eg from "edgegrad";
import { tensor, tensorOrNull, type Value } from "../values/value.js";
import { maybeInt, type Ops, op, string } from "./op.js";

const kLoss = { ignore_index: maybeInt, reduction: string("mean") };

type Given = { readonly ignore_index: number | undefined; readonly reduction: string };

// Classes are along axis 1. nllLoss() takes any number of axes after it.
function negativeLogLikelihood(
  logs: eg.Tensor,
  target: Value,
  weight: Value,
  given: Given,
): eg.Tensor {
  const classes = tensor(target).to("int64");
  const shape = classes.shape;
  // Without ignore_index, no class is ignored.
  const options = {
    weight: tensorOrNull(weight),
    ignoreIndex: given.ignore_index ?? -(2 ** 31),
    reduction: given.reduction as "mean",
  };
  const [n = 1, c = 1] = logs.shape;
  const loss = eg.nllLoss(logs.reshape([n, c, -1]), classes.reshape([n, -1]), options);
  return given.reduction === "none" ? loss.reshape(shape) : loss;
}

export const kLosses: Ops = {
  NegativeLogLikelihoodLoss: op({
    since: 12,
    attributes: kLoss,
    run: ([logs, target, weight], given) =>
      negativeLogLikelihood(tensor(logs), target, weight, given),
  }),
  SoftmaxCrossEntropyLoss: op({
    since: 12,
    attributes: kLoss,
    run: ([scores, target, weight], given) => {
      const logs = eg.logSoftmax(tensor(scores), 1);
      return [negativeLogLikelihood(logs, target, weight, given), logs];
    },
  }),
};
