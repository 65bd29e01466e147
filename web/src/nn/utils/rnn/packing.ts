// Packed sequences of several lengths, for recurrent layers.

import { type Arguments, readArguments } from "../../../arguments/read.js";
import {
  boolean,
  count,
  either,
  element,
  listOf,
  type Options,
  Rule,
} from "../../../arguments/rule.js";
import {
  cat,
  indexSelect,
  narrow,
  pad,
  splitWithSizes,
  stack,
  transpose,
} from "../../../generated/ops.js";
import { tensor } from "../../../ops/create.js";
import { fail } from "../../../runtime/errors/errors.js";
import { tensorRule } from "../../../tensor/rules.js";
import { scope } from "../../../tensor/scope.js";
import type { Tensor } from "../../../tensor/tensor.js";
import { numbersIn, PackedSequence } from "../../recurrent/packed_sequence.js";
import { padSequence, unpadSequence } from "./padding.js";

const kPackOptions = {
  /** The batch is dimension 0 of the input instead of 1; default false. */
  batchFirst: boolean.or(false),
  /** Throw if the sequences are not sorted by length, the longest first; default true. */
  enforceSorted: boolean.or(true),
};

const kPackArguments = {
  input: tensorRule,
  lengths: either(listOf(count), tensorRule),
  ...kPackOptions,
};

/** Options of `packPaddedSequence`. */
export type PackPaddedSequenceOptions = Options<typeof kPackOptions>;

/** Packs padded sequences [longest, batch, ...] of these lengths. */
export function packPaddedSequence(
  input: Tensor,
  lengths: readonly number[] | Tensor,
  ...rest: Arguments<[batchFirst: boolean, enforceSorted: boolean], PackPaddedSequenceOptions>
): PackedSequence {
  const where = "packPaddedSequence";
  const call = readArguments(where, kPackArguments, [input, lengths, ...rest]);
  const sizes = Array.isArray(call.lengths) ? call.lengths : numbersIn(call.lengths as Tensor);
  return scope(() => {
    const steps = call.batchFirst ? transpose(call.input, 0, 1) : call.input;
    checkLengths(where, steps, sizes);
    if (call.enforceSorted) return packSorted(where, steps, sizes, null);
    const order = sizes.map((_, i) => i).sort((a, b) => (sizes[b] ?? 0) - (sizes[a] ?? 0));
    const sorted = indexSelect(steps, 1, indices(order, call.input));
    return packSorted(
      where,
      sorted,
      order.map((i) => sizes[i] as number),
      order,
    );
  });
}

function checkLengths(where: string, { shape }: Tensor, sizes: readonly number[]): void {
  const [longest = 0, batch = 0] = shape;
  if (shape.length < 2 || batch !== sizes.length) {
    const message = `lengths: expected one for each of ${batch} sequences, got ${sizes.length}.`;
    fail("ShapeMismatch", where, message);
  }
  if (sizes.length === 0 || sizes.some((size) => size <= 0)) {
    fail("InvalidArgument", where, `lengths: expected numbers above 0, got [${sizes.join(", ")}].`);
  }
  if (Math.max(...sizes) > longest) {
    const message = `lengths: expected at most the ${longest} steps of the input, got ${Math.max(...sizes)}.`;
    fail("ShapeMismatch", where, message);
  }
}

function packSorted(
  where: string,
  steps: Tensor,
  sizes: readonly number[],
  order: readonly number[] | null,
): PackedSequence {
  if (sizes.some((size, i) => size > (sizes[i - 1] ?? size))) {
    const message =
      `lengths: expected the longest first, got [${sizes.join(", ")}]. ` +
      "Pass { enforceSorted: false } to have them sorted.";
    fail("InvalidArgument", where, message);
  }
  const running = Array.from({ length: sizes[0] ?? 0 }, (_, step) => {
    return sizes.filter((size) => size > step).length;
  });
  const data = cat(running.map((rows, step) => narrow(steps.select(0, step), 0, 0, rows)));
  const batchSizes = tensor(running, { dtype: "int64" });
  if (order === null) return new PackedSequence(data, batchSizes);
  const back = indices(inverse(order), steps);
  return new PackedSequence(data, batchSizes, indices(order, steps), back);
}

const kPacked = new Rule<PackedSequence>("a PackedSequence", (value) => {
  return value instanceof PackedSequence;
});

const kUnpackOptions = {
  /** The batch is dimension 0 of the result instead of 1; default false. */
  batchFirst: boolean.or(false),
  /** The value that pads the shorter sequences; default 0. */
  paddingValue: element.or(0),
  /** The number of steps of the result; default that of the longest sequence. */
  totalLength: count.orNull(),
};

/** Options of `padPackedSequence`. */
export type PadPackedSequenceOptions = Options<typeof kUnpackOptions>;

const kUnpackArguments = { sequence: kPacked, ...kUnpackOptions };

/** Returns packed sequences as padded ones, [longest, batch, ...], and an int64 vector of their lengths. */
export function padPackedSequence(
  sequence: PackedSequence,
  ...rest: Arguments<
    [batchFirst: boolean, paddingValue: number, totalLength: number | null],
    PadPackedSequenceOptions
  >
): [padded: Tensor, lengths: Tensor] {
  const where = "padPackedSequence";
  const call = readArguments(where, kUnpackArguments, [sequence, ...rest]);
  return scope(() => {
    const { data, batchSizes, unsortedIndices } = call.sequence;
    const running = numbersIn(batchSizes);
    const longest = running.length;
    const total = call.totalLength ?? longest;
    if (total < longest) {
      const message = `totalLength: expected at least the ${longest} steps of the longest sequence, got ${total}.`;
      fail("InvalidArgument", where, message);
    }
    const [batch = 0] = running;
    const filler = (rows: number) => [...new Array(2 * (data.ndim - 1)).fill(0), 0, rows];
    const steps = splitWithSizes(data, running, 0).map((step, i) => {
      return pad(step, filler(batch - (running[i] as number)), "constant", call.paddingValue);
    });
    const all = stack(steps, 0);
    const missing = [...filler(0), 0, total - longest];
    const grown = total === longest ? all : pad(all, missing, "constant", call.paddingValue);
    const sizes = Array.from({ length: batch }, (_, row) => running.filter((n) => n > row).length);
    const lengths = tensor(sizes, { dtype: "int64" });
    const ordered = unsortedIndices === null ? grown : indexSelect(grown, 1, unsortedIndices);
    return [
      call.batchFirst ? transpose(ordered, 0, 1) : ordered,
      unsortedIndices === null ? lengths : indexSelect(lengths, 0, unsortedIndices.to("cpu")),
    ];
  });
}

const kPackSequenceArguments = {
  sequences: listOf(tensorRule),
  enforceSorted: kPackOptions.enforceSorted,
};

/** Packs sequences [length, ...]. */
export function packSequence(
  sequences: readonly Tensor[],
  ...rest: Arguments<[enforceSorted: boolean], Pick<PackPaddedSequenceOptions, "enforceSorted">>
): PackedSequence {
  const call = readArguments("packSequence", kPackSequenceArguments, [sequences, ...rest]);
  const { enforceSorted } = call;
  return scope(() => {
    const padded = padSequence(call.sequences);
    const lengths = call.sequences.map(({ shape }) => shape[0] as number);
    return packPaddedSequence(padded, lengths, { enforceSorted });
  });
}

/** Returns the sequences [length, ...] of a packed one. */
export function unpackSequence(packedSequences: PackedSequence, ...rest: []): Tensor[] {
  const rules = { packedSequences: kPacked };
  const call = readArguments("unpackSequence", rules, [packedSequences, ...rest]);
  return scope(() => unpadSequence(...padPackedSequence(call.packedSequences)));
}

function inverse(order: readonly number[]): number[] {
  const back = new Array<number>(order.length);
  order.forEach((from, to) => {
    back[from] = to;
  });
  return back;
}

function indices(values: readonly number[], { device }: Tensor): Tensor {
  return tensor([...values], { dtype: "int64", device });
}
