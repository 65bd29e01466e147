// The numbers of one value and of its gradient, as tables whose colors show sign and size.

import { numberText } from "./numbers.js";
import type { Known } from "./steps.js";
import type { Trace } from "./trace.js";

/** Shows a value as far as it is known. */
export function showDetails(element: HTMLElement, trace: Trace, known: Known, id: number): void {
  const value = trace.values[id];
  if (value === undefined) return;
  const received = known.gradients[id];
  const title = document.createElement("h3");
  title.className = "side-title";
  title.textContent = value.name;
  element.replaceChildren(
    title,
    part("Value", known.values[id] ? table(value.numbers, value.shape) : "not computed yet"),
    part(
      "Gradient",
      received
        ? table(received, value.shape)
        : value.hasGradient
          ? "none has arrived yet"
          : "none: this is data",
    ),
  );
}

function part(name: string, content: HTMLElement | string): HTMLElement {
  const figure = document.createElement("figure");
  const caption = document.createElement("figcaption");
  caption.textContent = name;
  figure.append(caption, content);
  return figure;
}

function table(numbers: readonly number[], shape: readonly number[]): HTMLTableElement {
  const columns = shape.at(-1) ?? 1;
  const most = Math.max(...numbers.map(Math.abs), 1e-12);
  const element = document.createElement("table");
  for (let at = 0; at < numbers.length; at += columns) {
    const row = element.insertRow();
    for (const number of numbers.slice(at, at + columns)) {
      const cell = row.insertCell();
      cell.textContent = numberText(Number(number.toPrecision(3)));
      cell.dataset.sign = number < 0 ? "negative" : "positive";
      cell.style.setProperty("--share", `${Math.round((40 * Math.abs(number)) / most)}%`);
    }
  }
  return element;
}
