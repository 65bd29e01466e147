import { noGrad, type Tensor } from "edgegrad";
import { refuse } from "../errors/errors.js";
import { checkPredictions } from "./checks.js";

/** Options of `accuracy`. */
export interface AccuracyOptions {
  /** A row counts if its target is among this many largest scores; default 1. */
  readonly topK?: number | undefined;
}

/**
 * The share of rows whose target has the largest score: a float32 scalar. `output` has scores of shape [N, C], or classes of shape [N];
 * `target` has N integers. Errors: ShapeMismatch, DtypeMismatch, InvalidArgument for no rows or a `topK` that is not from 1 to C.
 */
export function accuracy(
  output: Tensor,
  target: Tensor,
  { topK = 1 }: AccuracyOptions = {},
): Tensor {
  const where = "metrics.accuracy";
  checkPredictions(output, target, where);
  const most = output.shape[1] ?? 1;
  if (!Number.isInteger(topK) || topK < 1 || topK > most)
    refuse(where, "topK", `an integer from 1 to ${most}`, topK);
  return noGrad(() => isAmongLargest(output, target, topK).to("float32").mean());
}

// Of classes, and of one score per row, the largest is the class itself.
function isAmongLargest(output: Tensor, target: Tensor, topK: number): Tensor {
  if (output.ndim === 1) return output.eq(target);
  if (topK === 1) return output.argmax(1).eq(target);
  const [, classes] = output.topk(topK, 1);
  return classes.eq(target.unsqueeze(1)).any(1);
}
