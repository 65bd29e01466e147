// The probabilities of the ten digits as bars.

export class PredictionBars {
  readonly #rows: { name: HTMLElement; bar: HTMLElement; share: HTMLElement }[];
  readonly #element: HTMLElement;

  constructor(element: HTMLElement) {
    this.#element = element;
    element.setAttribute("role", "img");
    this.#rows = Array.from({ length: 10 }, (_, digit) => {
      const name = part("span", String(digit));
      const bar = part("i");
      const frame = part("span", "", "bar");
      frame.append(bar);
      const share = part("span", "", "share");
      element.append(name, frame, share);
      return { name, bar, share };
    });
    this.show(null);
  }

  /** Marks the prediction as outdated, because the drawing has changed since. */
  setBusy(isBusy: boolean): void {
    this.#element.setAttribute("aria-busy", String(isBusy));
  }

  /** Shows probabilities; null if nothing is drawn. */
  show(probabilities: readonly number[] | null): void {
    const best = probabilities === null ? -1 : probabilities.indexOf(Math.max(...probabilities));
    this.#rows.forEach(({ name, bar, share }, digit) => {
      const value = probabilities?.[digit] ?? 0;
      bar.style.transform = `scaleX(${value})`;
      share.textContent = probabilities === null ? "" : `${(100 * value).toFixed(0)} %`;
      name.classList.toggle("best", digit === best);
    });
    const text = `${best}, ${(100 * (probabilities?.[best] ?? 0)).toFixed(0)} percent sure`;
    this.#element.setAttribute("aria-label", best < 0 ? "Nothing is drawn" : `Read as ${text}`);
  }
}

function part(tag: string, text = "", className = ""): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}
