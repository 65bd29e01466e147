// Connectionist temporal classification: the probability that frames, each of which is a class or blank, spell a sequence
// of classes, summed over all alignments of the two.
//
// Blanks are inserted between and around the classes. A state is a position in that extended sequence; alpha[state] is the
// log probability of being there after a frame. The next frame may stay, advance, or skip a blank between two classes that
// differ. The recursion is made of ops, for all sequences of a batch at once.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, integer, oneOrMore, Rule } from "../../arguments/rule.js";
import { cat, full, logsumexp, stack, where, zeros } from "../../generated/ops.js";
import { tensor } from "../../ops/create.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import { Tensor } from "../../tensor/tensor.js";
import { kLossArguments, type LossOptionsOf, lossFields, type Reduction } from "./loss_layer.js";

const kCTC = {
  /** The class that stands for blank; default 0. */
  blank: integer.or(0),
  /** Replace the infinite loss of a sequence without an alignment by 0; default false. */
  zeroInfinity: boolean.or(false),
};

/** Options of `ctcLoss`. */
export type CTCLossOptions = LossOptionsOf<typeof kCTC>;

/** Lengths, one per sequence. */
export type Lengths = Tensor | readonly number[] | number;

const kLengths = new Rule<Lengths>("a tensor, a list of whole numbers or one", (value) => {
  return value instanceof Tensor || oneOrMore(integer).accepts(value);
});

const kArguments = {
  logProbs: tensorRule,
  targets: tensorRule,
  inputLengths: kLengths,
  targetLengths: kLengths,
  blank: kCTC.blank,
  ...kLossArguments,
  zeroInfinity: kCTC.zeroInfinity,
};

// Below every log probability but finite, because differences of infinities are NaN.
const kNever = -1e30;

/**
 * The negative log likelihood of `targets` under frames of log probabilities: [T, N, C] or [T, C].
 * `targets` is [N, S], or all sequences concatenated; the mean divides by the lengths of the targets. Targets and lengths are
 * read immediately: they may be on the CPU wherever the probabilities are.
 */
export function ctcLoss(
  ...given: [
    logProbs: Tensor,
    targets: Tensor,
    inputLengths: Lengths,
    targetLengths: Lengths,
    ...options: Arguments<
      [blank: number, reduction: Reduction, zeroInfinity: boolean],
      CTCLossOptions
    >,
  ]
): Tensor {
  const call = readArguments("ctcLoss", kArguments, given);
  const { logProbs, targets, inputLengths, targetLengths } = call;
  const { blank, zeroInfinity, reduction } = call;
  const frames = logProbs.ndim === 2 ? logProbs.unsqueeze(1) : logProbs;
  const [frameCount = 0, batch = 0, classes = 0] = frames.shape;
  const lengths = lengthsOf(targetLengths, batch, "targetLengths");
  const frameLengths = lengthsOf(inputLengths, batch, "inputLengths");
  const longest = Math.max(0, ...frameLengths);
  if (frames.ndim !== 3 || frameCount === 0) {
    const message = `logProbs: expected [T, N, C] or [T, C] with at least one frame, got the shape [${logProbs.shape}].`;
    reject("ShapeMismatch", message);
  }
  if (longest > frameCount) {
    const message = `inputLengths: expected at most the ${frameCount} frames of logProbs [${logProbs.shape}], got ${longest}.`;
    reject("InvalidArgument", message);
  }
  if (!(blank >= 0 && blank < classes))
    reject("InvalidArgument", `blank: expected one of ${classes} classes, got ${blank}.`);

  const states = extendedSequences(sequencesOf(targets, lengths, logProbs.ndim === 2), blank);
  const losses = lossOf(frames, states, frameLengths, lengths, blank);
  const isInfinite = losses.gt(-kNever / 10);
  const each = where(isInfinite, zeroInfinity ? 0 : Number.POSITIVE_INFINITY, losses);
  const result = reduce(each, lengths, reduction);
  return logProbs.ndim === 2 && reduction === "none" ? result.squeeze(0) : result;
}

function lossOf(
  frames: Tensor,
  states: readonly (readonly number[])[],
  frameLengths: readonly number[],
  lengths: readonly number[],
  blank: number,
): Tensor {
  const [frameCount = 0, batch = 0] = frames.shape;
  const width = states[0]?.length ?? 1;
  const { dtype, device } = frames;
  const labels = tensor(states.flat(), { dtype: "int64", shape: [1, batch, width], device });
  const scores = frames.gather(2, labels.expand(frameCount, -1, -1)).clamp(kNever);
  const maySkip = tensor(
    states.flatMap((row) => row.map((label, s) => label !== blank && label !== row[s - 2])),
    { shape: [batch, width], device },
  );
  const never = (columns: number) => full([batch, columns], kNever, { dtype, device });

  // Before the first frame, as after a frame with the blank in front of all classes: a sequence without frames ends here.
  let alpha = cat([zeros([batch, 1], { dtype, device }), never(width - 1)], 1);
  for (let t = 0; t < frameCount; t++) {
    const after = (steps: number) =>
      width > steps ? cat([never(steps), alpha.narrow(1, 0, width - steps)], 1) : never(width);
    const skipped = where(maySkip, after(2), never(width));
    const next = logsumexp(stack([alpha, after(1), skipped]), 0).add(scores.select(0, t));
    const goesOn = frameLengths.map((length) => t < length);
    alpha = goesOn.every(Boolean)
      ? next
      : where(tensor(goesOn, { shape: [batch, 1], device }), next, alpha);
  }
  const ends = lengths.flatMap((length) => [2 * length, Math.max(0, 2 * length - 1)]);
  const last = alpha.gather(1, tensor(ends, { dtype: "int64", shape: [batch, 2], device }));
  const isEnd = lengths.flatMap((length) => [true, length > 0]);
  const both = where(tensor(isEnd, { shape: [batch, 2], device }), last, never(2));
  return logsumexp(both, 1).neg().add(normalization(frames, frameLengths));
}

// Zero, with the gradient exp(logProbs): PyTorch's gradient is that with respect to normalized probabilities. After
// logSoftmax, as the loss is meant to be used, it makes no difference.
function normalization(frames: Tensor, frameLengths: readonly number[]): Tensor {
  const [frameCount = 0, batch = 0] = frames.shape;
  const counts = Array.from({ length: frameCount }, (_, t) => frameLengths.map((n) => t < n));
  const { device } = frames;
  const mask = tensor(counts.flat(), { shape: [frameCount, batch, 1], device });
  const total = where(mask, frames.exp(), 0).sum([0, 2]);
  return total.sub(total.detach());
}

// Blanks between and around the classes of each sequence, all as long as the longest.
function extendedSequences(sequences: readonly (readonly number[])[], blank: number): number[][] {
  const longest = Math.max(0, ...sequences.map((sequence) => sequence.length));
  return sequences.map((sequence) => {
    const row = new Array<number>(2 * longest + 1).fill(blank);
    sequence.forEach((label, i) => {
      row[2 * i + 1] = label;
    });
    return row;
  });
}

function sequencesOf(targets: Tensor, lengths: readonly number[], isSingle: boolean): number[][] {
  const values = Array.from(targets.dataSync(), Number);
  const longest = Math.max(0, ...lengths);
  if (targets.ndim === 2 || isSingle) {
    const width = targets.shape[targets.ndim - 1] ?? 0;
    if (width < longest) {
      reject(
        "ShapeMismatch",
        `targets: expected at least ${longest} columns, got the shape [${targets.shape}].`,
      );
    }
    return lengths.map((length, n) => values.slice(n * width, n * width + length));
  }
  const total = lengths.reduce((sum, length) => sum + length, 0);
  if (values.length !== total) {
    reject(
      "ShapeMismatch",
      `targets: expected ${total} classes, the sum of targetLengths, got the shape [${targets.shape}].`,
    );
  }
  let start = 0;
  return lengths.map((length) => {
    start += length;
    return values.slice(start - length, start);
  });
}

function lengthsOf(given: Lengths, batch: number, name: string): number[] {
  const lengths =
    typeof given === "number"
      ? [given]
      : Array.from("dataSync" in given ? given.dataSync() : given, Number);
  if (lengths.length !== batch) {
    reject(
      "ShapeMismatch",
      `${name}: expected ${batch}, one for each sequence, got ${lengths.length}.`,
    );
  }
  const wrong = lengths.find((length) => !(Number.isInteger(length) && length >= 0));
  if (wrong !== undefined)
    reject("InvalidArgument", `${name}: expected whole numbers of at least 0, got ${wrong}.`);
  return lengths;
}

function reduce(each: Tensor, lengths: readonly number[], reduction: Reduction): Tensor {
  if (reduction === "none") return each;
  if (reduction === "sum") return each.sum();
  const divisors = lengths.map((length) => Math.max(1, length));
  const { dtype, device } = each;
  return each.div(tensor(divisors, { dtype, device })).mean();
}

function reject(code: "ShapeMismatch" | "InvalidArgument", message: string): never {
  fail(code, "ctcLoss", message);
}

/** `ctcLoss` as a module. */
export class CTCLoss extends lossFields(kCTC, ["blank", "reduction", "zeroInfinity"] as [
  blank: "blank",
  reduction: "reduction",
  zeroInfinity: "zeroInfinity",
]) {
  override forward(
    logProbs: Tensor,
    targets: Tensor,
    inputLengths: Lengths,
    targetLengths: Lengths,
  ): Tensor {
    const { blank, zeroInfinity, reduction } = this;
    const options = { blank, zeroInfinity, reduction };
    return ctcLoss(logProbs, targets, inputLengths, targetLengths, options);
  }
}
