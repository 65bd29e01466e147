// A lesson as a page shows it: its elements #learn and #learned.

import { byId } from "../frame.js";
import type { Learned } from "./messages.js";

/** How a page speaks of its examples, such as "pictures" of "things". */
export interface Words {
  readonly examples: string;
  readonly things: string;
  /** Said where there are too few examples to test any. */
  readonly tooFew: string;
  /** Of which examples the accuracy is told. */
  readonly tested: string;
}

/** Runs a lesson, meanwhile without another one, and shows the text that it returns; nothing if it fails. */
export async function showLesson(lesson: () => Promise<string>): Promise<void> {
  const button = byId<HTMLButtonElement>("learn");
  const learned = byId("learned");
  button.disabled = true;
  learned.textContent = "Learning …";
  let text = "";
  try {
    text = await lesson();
  } finally {
    learned.textContent = text;
    button.disabled = false;
  }
}

/** Says what was learned of so many examples and things, and how well. */
export function lessonText(
  { milliseconds, accuracy }: Learned,
  examples: number,
  things: number,
  words: Words,
): string {
  const seconds = (milliseconds / 1000).toFixed(1);
  const learned = `Learned ${examples} ${words.examples} of ${things} ${words.things} in ${seconds} s.`;
  if (accuracy === null) return `${learned} ${words.tooFew}`;
  return `${learned} Of ${words.tested} that were left out of the lesson, ${(100 * accuracy).toFixed(0)} % are recognized.`;
}
