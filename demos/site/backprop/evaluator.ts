// The worker with the engine, which evaluates chapters: in the page, its start would block a phone for a third of a second.

import { expose } from "comlink";
import * as eg from "edgegrad";
import { keepCodesOfErrors } from "../shared/thrown_code.js";
import type { GraphChapter, ProgramChapter } from "./chapters/chapter.js";
import { kChapters } from "./chapters/index.js";
import type { Expression } from "./expression.js";
import type { Numbers } from "./inputs_view.js";
import { type Outcome, runProgram } from "./program.js";
import { type Trace, trace } from "./trace.js";

keepCodesOfErrors();
// One thread, because the numbers are few.
const started = eg.init({ threads: 1 });

const evaluator = {
  /** Evaluates the graph of a chapter with these numbers. */
  async trace(id: string, numbers: Numbers): Promise<Trace> {
    await started;
    const chapter = chapterWith(id) as GraphChapter;
    return trace((expression) => build(expression, chapter, numbers));
  },

  /** Runs the program of a chapter: no line, the first line, the first two and so on. */
  async run(id: string): Promise<Outcome[]> {
    await started;
    return runProgram(chapterWith(id) as ProgramChapter);
  },
};

function chapterWith(id: string) {
  return kChapters.find((chapter) => chapter.id === id);
}

function build(expression: Expression, chapter: GraphChapter, given: Numbers): void {
  const { numbers, tensors = [] } = chapter;
  const ofNumbers = numbers.map(({ name, isData = false }) =>
    expression.input(name, given[name]?.[0] ?? 0, { isData }),
  );
  const ofTensors = tensors.map(({ name, rows, isVector = false, isData = false }) => {
    const all = given[name] ?? [];
    const width = rows[0]?.length ?? 1;
    const data = isVector ? all : rows.map((_, i) => all.slice(i * width, (i + 1) * width));
    return expression.input(name, data, { isData });
  });
  chapter.build(expression, ...ofNumbers, ...ofTensors);
}

export type Evaluator = typeof evaluator;

expose(evaluator);
