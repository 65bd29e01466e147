import { type Device, EdgeGradError, eye, noGrad, onesLike, type Tensor, zeros } from "edgegrad";
import { fail, refuse } from "../errors/errors.js";
import { checkClasses, checkPredictions } from "./checks.js";

/** Options of the metrics of a confusion matrix. */
export interface MetricOptions {
  /** The mean over classes ("macro", the default), all elements together ("micro"), or a number per class ("none"). */
  readonly average?: "macro" | "micro" | "none" | undefined;
}

const kAverages = ["macro", "micro", "none"];

/**
 * Counts how often each class was predicted as each other, batch by batch. Element [i, j] is how often class i was predicted as class j.
 *
 * ```js
 * const confusion = new ConfusionMatrix(10);
 * for (const [x, y] of loader) confusion.update(model.call(x), y);
 * console.log(confusion.accuracy().item(), confusion.f1().item());
 * ```
 */
export class ConfusionMatrix {
  /** How many classes there are. */
  readonly classes: number;
  readonly #counts: Tensor;

  /** Counts on `device`, default "cpu", where outputs and targets have to be, too. Errors: InvalidArgument. */
  constructor(classes: number, { device = "cpu" }: { readonly device?: Device | undefined } = {}) {
    if (!Number.isInteger(classes) || classes < 1)
      refuse("metrics.ConfusionMatrix", "classes", "an integer from 1", classes);
    this.classes = classes;
    this.#counts = zeros([classes, classes], { dtype: "int32", device });
  }

  /** The counts: an int32 tensor of shape [classes, classes], rows by target and columns by prediction. A copy. */
  get counts(): Tensor {
    return this.#counts.clone();
  }

  /**
   * Adds a batch. `output` has scores of shape [N, classes], or classes of shape [N]; `target` has N integers. Errors: ShapeMismatch,
   * DtypeMismatch, IndexOutOfRange for a class that is not from 0 to classes - 1.
   */
  update(output: Tensor, target: Tensor): this {
    const where = "metrics.ConfusionMatrix.update";
    checkPredictions(output, target, where);
    if (output.ndim === 1) checkClasses(output, "output", where);
    else if (output.shape[1] !== this.classes)
      fail(
        "ShapeMismatch",
        where,
        `output: expected scores of ${this.classes} classes, got the shape [${output.shape.join(", ")}].`,
      );
    noGrad(() => {
      const predicted = output.ndim === 2 ? output.argmax(1) : output;
      const places = [target, predicted].map((classes) => this.#places(classes));
      try {
        this.#counts.indexPut_(places, onesLike(target).to("int32"), { accumulate: true });
      } catch (error) {
        if (!(error instanceof EdgeGradError) || error.code !== "IndexOutOfRange") throw error;
        fail("IndexOutOfRange", where, `expected classes from 0 to ${this.classes - 1}.`);
      }
    });
    return this;
  }

  /** Forgets all batches. */
  reset(): this {
    this.#counts.zero_();
    return this;
  }

  /** The share of right predictions; NaN before the first batch. */
  accuracy(): Tensor {
    const counts = this.#numbers();
    return counts.trace().div(counts.sum());
  }

  /** Of the examples that were predicted as a class, the share that belong to it. A class that was never predicted counts as 0. */
  precision(options: MetricOptions = {}): Tensor {
    return this.#averaged("precision", options, ({ right, predicted }) => share(right, predicted));
  }

  /** Of the examples of a class, the share that were predicted as it. A class without targets counts as 0. */
  recall(options: MetricOptions = {}): Tensor {
    return this.#averaged("recall", options, ({ right, actual }) => share(right, actual));
  }

  /** The harmonic mean of precision and recall. */
  f1(options: MetricOptions = {}): Tensor {
    return this.#averaged("f1", options, ({ right, predicted, actual }) =>
      share(right.mul(2), predicted.add(actual)),
    );
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }

  /** Frees the counts. */
  dispose(): void {
    this.#counts.dispose();
  }

  /** The same, at the end of the block of a `using` declaration. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  // A negative index would count from the end.
  #places(classes: Tensor): Tensor {
    const wide = classes.to("int64");
    return wide.maskedFill(wide.lt(0), this.classes);
  }

  #numbers(): Tensor {
    return this.#counts.to("float32");
  }

  #averaged(name: string, { average = "macro" }: MetricOptions, of: (sums: Sums) => Tensor) {
    if (!kAverages.includes(average))
      refuse(`metrics.ConfusionMatrix.${name}`, "average", '"macro", "micro" or "none"', average);
    const counts = this.#numbers();
    const right = counts.mul(eye(this.classes, { device: counts.device })).sum(1);
    const sums = { right, predicted: counts.sum(0), actual: counts.sum(1) };
    if (average === "none") return of(sums);
    if (average === "macro") return of(sums).mean();
    const total = counts.sum();
    return of({ right: right.sum(), predicted: total, actual: total });
  }
}

/** For each class, or of all: how often it was right, how often predicted, how often there. */
interface Sums {
  readonly right: Tensor;
  readonly predicted: Tensor;
  readonly actual: Tensor;
}

// 0 where there is nothing to share.
function share(part: Tensor, whole: Tensor): Tensor {
  return part.div(whole.clamp(1));
}
