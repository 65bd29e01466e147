// The inputs of a chapter: a slider for each number, a field for each element of a vector or matrix.

import { element } from "../shared/elements.js";
import type { GraphChapter, NumberInput, TensorInput } from "./chapters/chapter.js";
import { numberText } from "./numbers.js";

const kSteps = 0.05;

/** Numbers by the names of inputs; those of tensors row by row. */
export type Numbers = Record<string, number[]>;

/** Returns the numbers with which a chapter begins. */
export function firstNumbers({ numbers, tensors = [] }: GraphChapter): Numbers {
  return Object.fromEntries([
    ...numbers.map(({ name, value }) => [name, [value]]),
    ...tensors.map(({ name, rows }) => [name, rows.flat()]),
  ]);
}

export class InputsView {
  readonly #element: HTMLElement;
  readonly #changed: () => void;
  #sliders = new Map<string, { slider: HTMLInputElement; output: HTMLOutputElement }>();
  #numbers: Numbers = {};

  /** `changed` is called after a number has changed. */
  constructor(element: HTMLElement, changed: () => void) {
    this.#element = element;
    this.#changed = changed;
  }

  get numbers(): Readonly<Numbers> {
    return this.#numbers;
  }

  /** Shows the inputs of a chapter with these numbers. */
  show(chapter: GraphChapter, numbers: Numbers): void {
    this.#numbers = numbers;
    this.#sliders.clear();
    this.#element.replaceChildren(
      ...chapter.numbers.map((input) => this.#slider(input)),
      ...(chapter.tensors ?? []).map((input) => this.#grid(input)),
    );
  }

  /** Changes a number by dragging, within its limits. */
  drag(name: string, change: number): void {
    const known = this.#sliders.get(name);
    if (known === undefined) return;
    const { slider } = known;
    const value = Number(this.#numbers[name]?.[0] ?? 0) + change;
    this.#set(name, Math.min(Number(slider.max), Math.max(Number(slider.min), value)));
  }

  #set(name: string, value: number): void {
    const { slider, output } = this.#sliders.get(name) as {
      slider: HTMLInputElement;
      output: HTMLOutputElement;
    };
    this.#numbers[name] = [value];
    slider.value = String(value);
    output.textContent = numberText(value);
    this.#changed();
  }

  #slider({ name, min, max, isData }: NumberInput): HTMLElement {
    const label = document.createElement("label");
    const slider = document.createElement("input");
    const value = this.#numbers[name]?.[0] ?? 0;
    Object.assign(slider, { type: "range", min, max, step: kSteps });
    slider.value = String(value);
    const output = document.createElement("output");
    output.textContent = numberText(value);
    slider.addEventListener("input", () => this.#set(name, Number(slider.value)));
    this.#sliders.set(name, { slider, output });
    const kind = isData ? [element("span", "data", "kind")] : [];
    label.append(element("span", name, "name"), slider, output, ...kind);
    return label;
  }

  #grid({ name, rows, isData }: TensorInput): HTMLElement {
    const group = document.createElement("fieldset");
    const legend = document.createElement("legend");
    legend.textContent = isData ? `${name} (data)` : name;
    const width = rows[0]?.length ?? 1;
    group.style.setProperty("--columns", String(width));
    group.append(
      legend,
      ...rows.flat().map((_, i) => this.#field(name, i, Math.floor(i / width), i % width)),
    );
    return group;
  }

  #field(name: string, at: number, row: number, column: number): HTMLInputElement {
    const field = document.createElement("input");
    const values = this.#numbers[name] as number[];
    Object.assign(field, { type: "number", step: 0.1, className: "field" });
    field.value = String(values[at]);
    field.setAttribute("aria-label", `${name}, row ${row}, column ${column}`);
    field.addEventListener("input", () => {
      // While a number is being typed there may be none.
      if (!Number.isFinite(field.valueAsNumber)) return;
      values[at] = field.valueAsNumber;
      this.#changed();
    });
    return field;
  }
}
