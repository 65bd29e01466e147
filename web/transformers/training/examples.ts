// Training examples for language models: tokens, and labels that select what is learned.

import { fail } from "../../errors/errors.js";

/** The tokens of a text, with labels. */
export interface Example {
  /** The tokens. */
  readonly inputIds: readonly number[];
  /** The tokens to predict, -100 where there is nothing to predict; default: all of them. */
  readonly labels?: readonly number[] | undefined;
}

/** Returns an example of which only the answer is learned. */
export function answerExample(prompt: readonly number[], answer: readonly number[]): Example {
  return { inputIds: [...prompt, ...answer], labels: [...prompt.map(() => -100), ...answer] };
}

/**
 * Concatenates examples and cuts them into blocks of `length` tokens, so that no computation is spent on padding. Tokens attend to those of earlier
 * examples in their block. The rest at the end becomes a shorter block.
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
