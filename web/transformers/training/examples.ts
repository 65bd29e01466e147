// Training examples for language models: tokens, and labels that select what is learned.

import { fail } from "../../errors/errors.js";
import { checkOptions, kFlag } from "../options.js";

/** The tokens of a text, with labels. */
export interface Example {
  /** The tokens. */
  readonly inputIds: readonly number[];
  /** The tokens to predict, -100 where there is nothing to predict; default: all of them. */
  readonly labels?: readonly number[] | undefined;
  /** The position of each token, if several texts are in one example. */
  readonly positionIds?: readonly number[] | undefined;
  /** The text that each token belongs to, from 1, if several texts are in one example. */
  readonly sequenceIds?: readonly number[] | undefined;
}

/** Options of `packExamples`. */
export interface PackOptions {
  /**
   * Keep examples apart: each has positions from 0, attends to itself only, and its first token is not predicted. Examples are not divided unless they are longer
   * than a block. Default false.
   */
  readonly separate?: boolean | undefined;
}

/** Returns an example whose answer alone is learned. */
export function answerExample(prompt: readonly number[], answer: readonly number[]): Example {
  return { inputIds: [...prompt, ...answer], labels: [...prompt.map(() => -100), ...answer] };
}

/**
 * Concatenates examples and cuts them into blocks of `length` tokens, so that no computation is spent on padding. Tokens attend to those of earlier
 * examples in their block, unless `separate` is true. The rest at the end becomes a shorter block.
 */
export function packExamples(
  examples: readonly Example[],
  length: number,
  options: PackOptions = {},
): Example[] {
  if (!Number.isSafeInteger(length) || length < 1) {
    fail("InvalidArgument", "packExamples", "length: expected a whole number from 1.");
  }
  checkOptions("packExamples", options, { separate: kFlag });
  if (options.separate === true) return separateBlocks(examples, length);
  const inputIds = examples.flatMap((example) => [...example.inputIds]);
  const labels = examples.flatMap((example) => [...(example.labels ?? example.inputIds)]);
  const blocks: Example[] = [];
  for (let start = 0; start < inputIds.length; start += length) {
    const end = start + length;
    blocks.push({ inputIds: inputIds.slice(start, end), labels: labels.slice(start, end) });
  }
  return blocks;
}

// Each example goes into the first block that has room for it.
function separateBlocks(examples: readonly Example[], length: number): Example[] {
  const blocks: { left: number; parts: Example[] }[] = [];
  for (const example of examples) {
    for (const part of packExamples([example], length)) {
      const size = part.inputIds.length;
      let block = blocks.find(({ left }) => left >= size);
      if (block === undefined) {
        block = { left: length, parts: [] };
        blocks.push(block);
      }
      block.parts.push(part);
      block.left -= size;
    }
  }
  return blocks.map(({ parts }) => ({
    inputIds: parts.flatMap(({ inputIds }) => inputIds),
    labels: parts.flatMap(({ labels = [] }) => [-100, ...labels.slice(1)]),
    positionIds: parts.flatMap(({ inputIds }) => inputIds.map((_, i) => i)),
    sequenceIds: parts.flatMap(({ inputIds }, i) => inputIds.map(() => i + 1)),
  }));
}
