import { noGrad, type Tensor } from "edgegrad";
import { checkAlike, checkTensor } from "./checks.js";

/**
 * The share of the targets' variance that a regression explains: 1 if it is exact, 0 if it is no better than the mean, less if worse.
 * NaN or -Infinity for targets that are all equal. Errors: ShapeMismatch.
 */
export function r2Score(output: Tensor, target: Tensor): Tensor {
  const where = "metrics.r2Score";
  checkTensor(output, "output", where);
  checkTensor(target, "target", where);
  checkAlike(output, target, where);
  return noGrad(() => {
    const residual = target.sub(output).square().sum();
    const total = target.sub(target.mean()).square().sum();
    return residual.div(total).neg().add(1);
  });
}
