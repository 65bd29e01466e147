// The list of samples: the newest is at the top and grows character by character.

import type { Written } from "./messages.js";

const kMostSamples = 20;

export class SampleList {
  readonly #list: HTMLElement;
  #current: Text | null = null;

  constructor(list: HTMLElement) {
    this.#list = list;
    // It scrolls, also by keys.
    list.tabIndex = 0;
  }

  add({ step, begins, text }: Written): void {
    if (begins || this.#current === null) this.#current = this.#begin(step);
    this.#current.appendData(text);
  }

  clear(): void {
    this.#list.replaceChildren();
    this.#current = null;
  }

  #begin(step: number): Text {
    const item = document.createElement("li");
    const title = document.createElement("small");
    title.textContent = `from step ${step.toLocaleString("en")}`;
    const paragraph = document.createElement("p");
    const text = new Text();
    paragraph.append(text);
    item.append(title, paragraph);
    this.#list.prepend(item);
    while (this.#list.children.length > kMostSamples) this.#list.lastChild?.remove();
    return text;
  }
}
