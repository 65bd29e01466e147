import { crossEntropy, noGrad, type Tensor } from "edgegrad";
import { fail } from "../errors/errors.js";
import { checkClasses, checkTensor } from "./checks.js";

/** Options of `perplexity`. */
export interface PerplexityOptions {
  /** Targets that do not count, such as padding; default -100. */
  readonly ignoreIndex?: number | undefined;
}

/**
 * exp of the mean cross entropy of the targets: as if the model chose among so many words alike. `logits` has the shape [..., V], `target`
 * its shape without the last dimension; a scalar of the logits' dtype. Errors: ShapeMismatch, DtypeMismatch.
 */
export function perplexity(
  logits: Tensor,
  target: Tensor,
  { ignoreIndex = -100 }: PerplexityOptions = {},
): Tensor {
  const where = "metrics.perplexity";
  checkTensor(logits, "logits", where);
  checkTensor(target, "target", where);
  checkClasses(target, "target", where);
  const vocabulary = logits.shape.at(-1) ?? 0;
  if (logits.shape.slice(0, -1).join() !== target.shape.join() || logits.ndim < 2)
    fail(
      "ShapeMismatch",
      where,
      `expected logits [..., V] and a target without the last dimension, got [${logits.shape.join(", ")}] and [${target.shape.join(", ")}].`,
    );
  return noGrad(() => {
    const rows = logits.reshape([-1, vocabulary]);
    return crossEntropy(rows, target.reshape([-1]).to("int64"), { ignoreIndex }).exp();
  });
}
