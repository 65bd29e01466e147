// Reads a lesson that was typed or pasted.

import type { Pair } from "./messages.js";

/** The pairs of a table, and a sentence for each line that is none. */
export interface Table {
  readonly pairs: readonly Pair[];
  readonly problems: readonly string[];
}

// What a spreadsheet puts between cells, or what is easily typed.
const kBetween = /\t+| *\| */;
const kQuestionKeys = ["question", "prompt", "instruction", "input"];
const kAnswerKeys = ["answer", "completion", "response", "output"];

/** Reads questions and answers, one pair per line: with a tab or | between them, or as an object of JSON. */
export function readTable(text: string): Table {
  const pairs: Pair[] = [];
  const problems: string[] = [];
  text.split("\n").forEach((line, i) => {
    if (line.trim() === "") return;
    const pair = line.trimStart().startsWith("{") ? pairOfJson(line) : pairOfCells(line);
    if (pair === null) problems.push(`Line ${i + 1} is no pair.`);
    else pairs.push(pair);
  });
  return { pairs, problems };
}

function pairOfCells(line: string): Pair | null {
  const at = kBetween.exec(line);
  if (at === null) return null;
  return pairOf(line.slice(0, at.index), line.slice(at.index + at[0].length));
}

function pairOfJson(line: string): Pair | null {
  try {
    const values = new Map(Object.entries(JSON.parse(line) as object));
    const textAt = (keys: readonly string[]) =>
      keys.map((key) => values.get(key)).find((value) => typeof value === "string");
    return pairOf(textAt(kQuestionKeys) ?? "", textAt(kAnswerKeys) ?? "");
  } catch {
    return null;
  }
}

function pairOf(question: string, answer: string): Pair | null {
  const pair = { question: question.trim(), answer: answer.trim() };
  return pair.question === "" || pair.answer === "" ? null : pair;
}
