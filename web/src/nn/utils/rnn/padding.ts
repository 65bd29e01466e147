// Sequences of several lengths in one tensor, where the shorter ones are padded.

import { type Arguments, readArguments } from "../../../arguments/read.js";
import { boolean, element, listOf, type Options, oneOf } from "../../../arguments/rule.js";
import { narrow, pad, stack, transpose, unbind } from "../../../generated/ops.js";
import { fail } from "../../../runtime/errors/errors.js";
import { tensorRule } from "../../../tensor/rules.js";
import { scope } from "../../../tensor/scope.js";
import { Tensor } from "../../../tensor/tensor.js";
import { numbersIn } from "../../recurrent/packed_sequence.js";

const kPadOptions = {
  /** The batch is dimension 0 of the result instead of 1; default false. */
  batchFirst: boolean.or(false),
  /** The value that pads the shorter sequences; default 0. */
  paddingValue: element.or(0),
  /** The side that is padded; default "right". */
  paddingSide: oneOf("right", "left").or("right"),
};

const kPadArguments = { sequences: listOf(tensorRule), ...kPadOptions };

/** Options of `padSequence`. */
export type PadSequenceOptions = Options<typeof kPadOptions>;

/** Pads sequences [length, ...] to the longest: [longest, batch, ...]. A tensor stands for those along its first dimension. */
export function padSequence(
  sequences: Tensor | readonly Tensor[],
  ...rest: Arguments<
    [batchFirst: boolean, paddingValue: number, paddingSide: "right" | "left"],
    PadSequenceOptions
  >
): Tensor {
  const list = sequences instanceof Tensor ? unbind(sequences) : sequences;
  const call = readArguments("padSequence", kPadArguments, [list, ...rest]);
  const lengths = call.sequences.map(({ shape: [length] }) => {
    return (
      length ??
      fail(
        "ShapeMismatch",
        "padSequence",
        "sequences: expected one dimension or more, got a scalar.",
      )
    );
  });
  if (lengths.length === 0) {
    fail("InvalidArgument", "padSequence", "sequences: expected one or more, got none.");
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

/** Returns the sequences of these lengths in a padded tensor [longest, batch, ...], as padSequence() makes it. */
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
      const message = `expected ${rows.shape[0]} lengths, got ${sizes.length}.`;
      fail("ShapeMismatch", "unpadSequence", message);
    }
    return sizes.map((size, i) => narrow(rows.select(0, i), 0, 0, size));
  });
}
