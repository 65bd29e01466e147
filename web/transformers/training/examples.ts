// Examples for language models: tokens, and labels that say what is learned.

import { fail } from "../../errors/errors.js";

/** The tokens of a text, with labels: -100 where nothing is learned; without labels everything is. */
export interface Example {
  /** The tokens. */
  readonly inputIds: readonly number[];
  /** The tokens to predict, -100 where none is; default: all of them. */
  readonly labels?: readonly number[] | undefined;
}

/** Returns an example of which only the answer is learned. */
export function answerExample(prompt: readonly number[], answer: readonly number[]): Example {
  return { inputIds: [...prompt, ...answer], labels: [...prompt.map(() => -100), ...answer] };
}

/**
 * Joins examples and cuts them into blocks of `length` tokens, so that no step is spent on padding; tokens see those of the examples before in their
 * block. The rest at the end becomes a shorter block.
 */
export function packExamples(examples: readonly Example[], length: number): Example[] {
  if (!Number.isSafeInteger(length) || length < 1) {
    fail("InvalidArgument", "packExamples", "length: expected a whole number from 1.");
  }
  const inputIds = examples.flatMap((example) => [...example.inputIds]);
  const labels = examples.flatMap((example) => [...(example.labels ?? example.inputIds)]);
  const blocks: Example[] = [];
  for (let start = 0; start < inputIds.length; start += length) {
    const end = start + length;
    blocks.push({ inputIds: inputIds.slice(start, end), labels: labels.slice(start, end) });
  }
  return blocks;
}
