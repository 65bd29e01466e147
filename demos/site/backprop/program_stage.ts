// A chapter with a program: its lines up to the present one, and what is watched after it.

import type { ProgramChapter } from "./chapters/chapter.js";
import type { Outcome } from "./program.js";
import type { Explanation, Stage } from "./stage.js";

export class ProgramStage implements Stage {
  readonly numbers = {};
  readonly #chapter: ProgramChapter;
  readonly #outcomes: readonly Outcome[];
  readonly #lines: HTMLLIElement[];
  readonly #watched: HTMLElement[];
  readonly #error = document.createElement("pre");

  /** `outcomes` has what the program shows after each number of lines. */
  constructor(element: HTMLElement, chapter: ProgramChapter, outcomes: readonly Outcome[]) {
    this.#chapter = chapter;
    this.#outcomes = outcomes;
    const list = document.createElement("ol");
    list.className = "program";
    this.#lines = chapter.lines.map(({ code }) => {
      const line = document.createElement("li");
      const text = document.createElement("code");
      text.textContent = code;
      line.append(text);
      return line;
    });
    list.append(...this.#lines);
    this.#error.className = "problem";
    const table = document.createElement("dl");
    table.className = "watched";
    this.#watched = chapter.watched.map((expression) => {
      const row = document.createElement("div");
      const name = document.createElement("dt");
      name.textContent = expression;
      const value = document.createElement("dd");
      row.append(name, value);
      table.append(row);
      return value;
    });
    element.replaceChildren(list, this.#error, table);
  }

  get last(): number {
    return this.#chapter.lines.length;
  }

  show(step: number): Explanation {
    const { watched, error } = this.#outcomes[step] as Outcome;
    this.#lines.forEach((line, i) => {
      line.classList.toggle("done", i < step);
      line.classList.toggle("current", i === step - 1);
    });
    this.#watched.forEach((element, i) => {
      const text = watched[i] ?? "–";
      element.classList.toggle("changed", element.textContent !== text);
      element.textContent = text;
    });
    this.#error.textContent = error ?? "";
    const line = this.#chapter.lines[step - 1];
    return line === undefined
      ? { title: "The program", text: "Nothing has run yet. The arrow keys go forward and back." }
      : { title: `Line ${step}`, text: line.note };
  }
}
