// A table of which one page is in the document: a model may have thousands of rows.

import { button } from "../shared/elements.js";

const kRows = 50;

/** The options of a table. */
export interface PagedTableOptions {
  readonly caption: string;
  readonly columns: readonly string[];
}

export class PagedTable {
  readonly #body = document.createElement("tbody");
  readonly #previous = button("Previous");
  readonly #next = button("Next");
  readonly #place = document.createElement("output");
  readonly #pages = document.createElement("div");
  #count = 0;
  #first = 0;
  #rowAt: (i: number) => readonly string[] = () => [];

  constructor(element: HTMLElement, { caption, columns }: PagedTableOptions) {
    const table = document.createElement("table");
    const title = table.createCaption();
    title.textContent = caption;
    const head = table.createTHead().insertRow();
    for (const column of columns) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = column;
      head.append(cell);
    }
    table.append(this.#body);
    const scroll = document.createElement("div");
    scroll.className = "scroll";
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "group");
    scroll.setAttribute("aria-label", caption);
    scroll.append(table);
    this.#pages.className = "controls under";
    this.#pages.append(this.#previous, this.#next, this.#place);
    this.#previous.addEventListener("click", () => this.#turn(-kRows));
    this.#next.addEventListener("click", () => this.#turn(kRows));
    element.replaceChildren(scroll, this.#pages);
  }

  /** The rows on the page that is shown: from the first to before the second number. */
  get range(): readonly [start: number, end: number] {
    return [this.#first, Math.min(this.#first + kRows, this.#count)];
  }

  /** Shows other rows, from the first on. */
  show(count: number, rowAt: (i: number) => readonly string[]): void {
    this.#count = count;
    this.#rowAt = rowAt;
    this.#first = 0;
    this.refresh();
  }

  /** Writes the rows of this page anew. */
  refresh(): void {
    const [start, end] = this.range;
    this.#body.replaceChildren();
    for (let i = start; i < end; i++) {
      const row = this.#body.insertRow();
      for (const text of this.#rowAt(i)) row.insertCell().textContent = text;
    }
    this.#pages.hidden = this.#count <= kRows;
    this.#previous.disabled = start === 0;
    this.#next.disabled = end === this.#count;
    this.#place.textContent = `${start + 1} to ${end} of ${this.#count}`;
  }

  #turn(rows: number): void {
    this.#first += rows;
    this.refresh();
  }
}
