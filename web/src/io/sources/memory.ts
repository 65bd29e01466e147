import type { Source } from "./source.js";

/** A file whose bytes are in memory. */
export class MemorySource implements Source {
  readonly name: string;
  readonly size: number;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, name = "the file") {
    this.name = name;
    this.size = bytes.length;
    this.#bytes = bytes;
  }

  async *pieces(start: number, end: number): AsyncIterable<Uint8Array> {
    yield this.#bytes.subarray(start, end);
  }

  async close(): Promise<void> {}
}
