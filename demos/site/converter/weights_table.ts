// The card of the parameters: a table of their names and sizes, with what their elements are on demand.

import { byId } from "../shared/frame.js";
import type { Statistics, TensorRow } from "./messages.js";
import { PagedTable } from "./paged_table.js";

/** Measures tensors by name; null for those that cannot be measured. */
export type Measure = (names: string[]) => Promise<(Statistics | null)[]>;

export class WeightsTable {
  readonly #table = new PagedTable(byId("weights"), {
    caption: "Tensors of the file",
    columns: ["Name", "Shape", "Type", "Bytes", "Min", "Mean", "Max", "NaN"],
  });
  readonly #filter = byId<HTMLInputElement>("filter");
  readonly #button = byId<HTMLButtonElement>("measure");
  readonly #measure: Measure;
  #all: readonly TensorRow[] = [];
  #rows: readonly TensorRow[] = [];
  #found = new Map<string, Statistics | null>();

  constructor(measure: Measure) {
    this.#measure = measure;
    this.#filter.addEventListener("input", () => this.#list());
    this.#button.addEventListener("click", () => void this.#measureShown());
  }

  /** Shows the tensors of a file. */
  show(rows: readonly TensorRow[], canMeasure: boolean): void {
    this.#all = rows;
    this.#filter.value = "";
    this.#button.disabled = !canMeasure;
    this.forget();
  }

  /** Drops what was measured, because elements or shapes may be others now. */
  forget(): void {
    this.#found.clear();
    this.#list();
  }

  #list(): void {
    const wanted = this.#filter.value.trim().toLowerCase();
    this.#rows = this.#all.filter(({ name }) => name.toLowerCase().includes(wanted));
    this.#table.show(this.#rows.length, (i) => this.#cells(this.#rows[i] as TensorRow));
  }

  #cells({ name, shape, dtype, bytes }: TensorRow): string[] {
    const found = this.#found.get(name);
    const numbers = found ? [found.min, found.mean, found.max].map(numberText) : ["", "", ""];
    const nans = found ? String(found.nans) : "";
    return [name, `[${shape.join(", ")}]`, dtype, bytes.toLocaleString("en"), ...numbers, nans];
  }

  async #measureShown(): Promise<void> {
    const names = this.#rows.slice(...this.#table.range).map(({ name }) => name);
    this.#button.disabled = true;
    try {
      const found = await this.#measure(names);
      names.forEach((name, i) => {
        this.#found.set(name, found[i] ?? null);
      });
      this.#table.refresh();
    } finally {
      this.#button.disabled = false;
    }
  }
}

function numberText(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(4);
}
