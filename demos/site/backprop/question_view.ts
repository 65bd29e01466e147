// A question: a gradient to predict, or answers to choose from. What is right comes from the engine, or the chapter says why.

import { button, element, paragraph } from "../shared/elements.js";
import type { ChoiceQuestion, EdgeQuestion } from "./chapters/chapter.js";
import { numberText } from "./numbers.js";
import type { Trace } from "./trace.js";

// How far a prediction may be off, relative to the size of the number.
const kTolerance = 0.02;

export class QuestionView {
  readonly #element: HTMLElement;

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  /** Asks for a gradient; `trace` returns the present numbers. */
  askEdge(question: EdgeQuestion, trace: () => Trace): void {
    const form = document.createElement("form");
    const field = document.createElement("input");
    Object.assign(field, { className: "prediction", inputMode: "decimal", autocomplete: "off" });
    field.setAttribute("aria-label", "Your prediction");
    const verdict = verdictLine();
    const check = button("Check");
    check.type = "submit";
    form.append(field, check);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const given = Number.parseFloat(field.value.replace(",", ".").replace("−", "-"));
      const right = gradientOn(question, trace());
      if (right === null || Number.isNaN(given)) {
        verdict.textContent = "Type a number, such as -1.5.";
        return;
      }
      const isRight = Math.abs(given - right) <= kTolerance * Math.max(1, Math.abs(right));
      say(verdict, isRight, `${isRight ? "Yes" : "No"}: ${numberText(right)}. ${question.why}`);
    });
    this.#show(question.text, form, verdict);
  }

  /** Asks for the right one of several answers. */
  askChoice(question: ChoiceQuestion): void {
    this.#element.replaceChildren(...choiceParts(question));
  }

  /** Asks for the right one of several answers, too. */
  alsoAskChoice(question: ChoiceQuestion): void {
    this.#element.append(...choiceParts(question));
  }

  #show(text: string, ...parts: readonly HTMLElement[]): void {
    this.#element.replaceChildren(paragraph(text), ...parts);
  }
}

function choiceParts({ text, answers, right, why }: ChoiceQuestion): HTMLElement[] {
  const choices = element("div", "", "choices");
  const verdict = verdictLine();
  choices.append(
    ...answers.map((answer, i) => {
      const isRight = i === right;
      const press = () => say(verdict, isRight, `${isRight ? "Yes" : "No"}. ${why}`);
      return button(answer, { press });
    }),
  );
  return [paragraph(text), choices, verdict];
}

/** Returns the number on the edge that a question is about. */
export function gradientOn({ from, to, element = 0 }: EdgeQuestion, trace: Trace): number | null {
  const names = trace.values.map(({ name }) => name);
  const edge = trace.edges.find((edge) => names[edge.from] === from && names[edge.to] === to);
  return edge?.gradient?.[element] ?? null;
}

function verdictLine(): HTMLParagraphElement {
  const line = paragraph("", "verdict");
  line.setAttribute("role", "status");
  return line;
}

function say(line: HTMLElement, isRight: boolean, text: string): void {
  line.dataset.right = String(isRight);
  line.textContent = text;
}
