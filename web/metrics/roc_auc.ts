import { noGrad, searchsorted, type Tensor } from "edgegrad";
import { checkRows, checkTensor } from "./checks.js";

/**
 * The area under the ROC curve: how often a positive example has a higher score than a negative one, where ties count half. `scores` and
 * `target` have N elements; a target that is not 0 is positive. A float32 scalar, NaN if one of the two kinds is missing. Errors: ShapeMismatch.
 */
export function rocAuc(scores: Tensor, target: Tensor): Tensor {
  const where = "metrics.rocAuc";
  checkTensor(scores, "scores", where, [1]);
  checkRows(scores, target, where);
  return noGrad(() => {
    const count = target.numel;
    const positive = target.ne(0).to("float32");
    const share = positive.mean();
    // The rank of a score is how many are less, plus half of those that are equal. Divided by their number, ranks do not grow with it.
    const [sorted] = scores.sort();
    const less = searchsorted(sorted, scores);
    const notMore = searchsorted(sorted, scores, { right: true });
    const ranks = less
      .add(notMore)
      .to("float32")
      .div(2 * count);
    const meanOfPositive = ranks.mul(positive).mean().div(share);
    return meanOfPositive.sub(share.div(2)).div(share.neg().add(1));
  });
}
