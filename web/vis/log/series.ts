// Series: the records of one tag, in limited number.

import type { LogRecord } from "./record.js";

/** The records of one tag. When it is full, every second one is dropped; from then on only every second new one is kept, and so on. */
export class Series {
  readonly #most: number;
  #records: LogRecord[] = [];
  // The newest record, if it is not among the kept ones.
  #newest: LogRecord | null = null;
  #stride = 1;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get records(): readonly LogRecord[] {
    return this.#newest === null ? this.#records : [...this.#records, this.#newest];
  }

  add(record: LogRecord): void {
    const isKept = this.#count++ % this.#stride === 0;
    this.#newest = isKept ? null : record;
    if (!isKept) return;
    this.#records.push(record);
    if (this.#records.length < this.#most) return;
    this.#records = this.#records.filter((_, i) => i % 2 === 0);
    this.#stride *= 2;
    if (this.#records.at(-1) !== record) this.#newest = record;
  }
}
