// Sequences of several lengths in one tensor, where the shorter ones are filled up.

import { type Arguments, readArguments } from "../../../arguments/read.js";
import { boolean, element, listOf, type Options, oneOf } from "../../../arguments/rule.js";
import { narrow, pad, stack, transpose } from "../../../generated/ops.js";
import { fail } from "../../../runtime/errors.js";
import { tensorRule } from "../../../tensor/rules.js";
import { scope } from "../../../tensor/scope.js";
import type { Tensor } from "../../../tensor/tensor.js";
import { numbersIn } from "../../recurrent/packed_sequence.js";

const kPadOptions = {
  /** The batch is dimension 0 of the result instead of 1; default false. */
  batchFirst: boolean.or(false),
  /** What the shorter sequences are filled up with; default 0. */
  paddingValue: element.or(0),
  /** Where they are filled up; default "right". */
  paddingSide: oneOf("right", "left").or("right"),
};

const kPadArguments = { sequences: listOf(tensorRule), ...kPadOptions };

/** Options of `padSequence`. */
export type PadSequenceOptions = Options<typeof kPadOptions>;

/** Fills sequences [length, ...] up to the longest: [longest, batch, ...]. */
export function padSequence(
  sequences: readonly Tensor[],
  ...rest: Arguments<
    [batchFirst: boolean, paddingValue: number, paddingSide: "right" | "left"],
    PadSequenceOptions
  >
): Tensor {
  const call = readArguments("padSequence", kPadArguments, [sequences, ...rest]);
  const lengths = call.sequences.map(({ shape: [length] }) => {
    return (
      length ?? fail("ShapeMismatch", "padSequence", "expected sequences of one dimension or more.")
    );
  });
  if (lengths.length === 0) {
    fail("InvalidArgument", "padSequence", "received an empty list of sequences.");
  }
  const longest = Math.max(...lengths);
  return scope(() => {
    const filled = call.sequences.map((sequence, i) => {
      const missing = longest - (lengths[i] as number);
      const ends = call.paddingSide === "right" ? [0, missing] : [missing, 0];
      const inner = new Array<number>(2 * (sequence.ndim - 1)).fill(0);
      return pad(sequence, [...inner, ...ends], "constant", call.paddingValue);
    });
    return stack(filled, call.batchFirst ? 0 : 1);
  });
}

const kUnpadArguments = {
  paddedSequences: tensorRule,
  lengths: tensorRule,
  /** The batch is dimension 0 instead of 1; default false. */
  batchFirst: boolean.or(false),
};

/** Takes sequences of `lengths` out of [longest, batch, ...], what padSequence() made of them. */
export function unpadSequence(
  paddedSequences: Tensor,
  lengths: Tensor,
  ...rest: Arguments<[batchFirst: boolean], { batchFirst?: boolean }>
): Tensor[] {
  const given = [paddedSequences, lengths, ...rest];
  const call = readArguments("unpadSequence", kUnpadArguments, given);
  return scope(() => {
    const sizes = numbersIn(call.lengths);
    const rows = call.batchFirst ? call.paddedSequences : transpose(call.paddedSequences, 0, 1);
    if (rows.shape[0] !== sizes.length) {
      const told = `expected ${rows.shape[0]} lengths, got ${sizes.length}.`;
      fail("ShapeMismatch", "unpadSequence", told);
    }
    return sizes.map((size, i) => narrow(rows.select(0, i), 0, 0, size));
  });
}
