// Runs the first lines of a program, and reads what is watched.

import * as eg from "edgegrad";
import { errorText } from "../shared/printed.js";
import type { ProgramChapter } from "./chapters/chapter.js";
import { numberText } from "./numbers.js";

/** What a program shows after some of its lines. */
export interface Outcome {
  /** For each watched expression its value; null where it has none yet. */
  readonly watched: readonly (string | null)[];
  /** What the last line threw. */
  readonly error: string | null;
}

/** Runs no line, the first line, the first two and so on. */
export function runProgram(chapter: ProgramChapter): Outcome[] {
  return [0, ...chapter.lines.keys()].map((_, count) => outcomeOf(chapter, count));
}

function outcomeOf(chapter: ProgramChapter, count: number): Outcome {
  try {
    return { watched: run(chapter, count), error: null };
  } catch (error) {
    return { watched: run(chapter, count - 1), error: errorText(error) };
  }
}

type Watch = (read: () => unknown) => string | null;

// The lines that are shown are the ones that run.
function run({ lines, watched }: ProgramChapter, count: number): (string | null)[] {
  const code = lines.slice(0, count).map((line) => line.code);
  const reads = watched.map((expression) => `watch(() => (${expression}))`);
  const body = `"use strict";\n${code.join("\n")}\nreturn [${reads.join(", ")}];`;
  const program = new Function("eg", "watch", body) as (
    engine: typeof eg,
    watch: Watch,
  ) => (string | null)[];
  return eg.scope(() => program(eg, watch));
}

function watch(read: () => unknown): string | null {
  try {
    return valueText(read());
  } catch (error) {
    // The line that declares it has not run.
    if (error instanceof ReferenceError) return null;
    return errorText(error);
  }
}

function valueText(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "number") return numberText(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  return String(value);
}
