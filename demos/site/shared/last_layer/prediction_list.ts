// How likely each thing is, as bars.

interface Row {
  readonly bar: HTMLProgressElement;
  readonly text: HTMLOutputElement;
}

export class PredictionList {
  readonly #list: HTMLElement;
  #names: readonly string[] = [];
  #rows: Row[] = [];

  constructor(list: HTMLElement) {
    this.#list = list;
  }

  /** Shows bars for things; those that are there stay. */
  begin(names: readonly string[]): void {
    if (names.join("\n") === this.#names.join("\n")) return;
    this.#names = names;
    this.#rows = [];
    const items = names.map((name) => {
      const item = document.createElement("li");
      const title = document.createElement("span");
      title.textContent = name;
      const bar = document.createElement("progress");
      bar.max = 1;
      bar.value = 0;
      bar.setAttribute("aria-label", name);
      const text = document.createElement("output");
      // What a camera or a microphone delivers comes too quickly to be read out.
      text.setAttribute("aria-live", "off");
      item.append(title, bar, text);
      this.#rows.push({ bar, text });
      return item;
    });
    this.#list.replaceChildren(...items);
  }

  /** Shows shares; returns the name of the largest with its share. */
  show(shares: readonly number[]): { name: string; share: number } {
    this.#rows.forEach(({ bar, text }, i) => {
      const share = shares[i] ?? 0;
      bar.value = share;
      text.textContent = `${(100 * share).toFixed(0)} %`;
    });
    const share = Math.max(...shares);
    return { name: this.#names[shares.indexOf(share)] ?? "", share };
  }
}
