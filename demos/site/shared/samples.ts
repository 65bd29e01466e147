// The list of samples: the newest is at the top and grows as it is written.

/** Generated text, which starts a new sample or continues the current one. */
export interface SampleText {
  /** Said above a new sample. */
  readonly title: string;
  readonly begins: boolean;
  readonly text: string;
}

const kMostSamples = 20;

export class SampleList {
  readonly #list: HTMLElement;
  #current: Text | null = null;

  constructor(list: HTMLElement) {
    this.#list = list;
    // It scrolls, also by keys.
    list.tabIndex = 0;
  }

  add({ title, begins, text }: SampleText): void {
    if (begins || this.#current === null) this.#current = this.#begin(title);
    this.#current.appendData(text);
  }

  clear(): void {
    this.#list.replaceChildren();
    this.#current = null;
  }

  #begin(title: string): Text {
    const item = document.createElement("li");
    const heading = document.createElement("small");
    heading.textContent = title;
    const paragraph = document.createElement("p");
    const text = new Text();
    paragraph.append(text);
    item.append(heading, paragraph);
    this.#list.prepend(item);
    while (this.#list.children.length > kMostSamples) this.#list.lastChild?.remove();
    return text;
  }
}
