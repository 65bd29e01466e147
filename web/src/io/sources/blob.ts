import { attempt } from "../../tensor/reachable.js";
import { failToRead } from "../broken_file.js";
import type { BlobLike } from "../platform_types.js";
import { ranges, type Source } from "./source.js";

/** True for a Blob or File, also of another realm. */
export function isBlob(value: unknown): value is BlobLike {
  if (typeof value !== "object" || value === null) return false;
  const tag = attempt(() => Object.prototype.toString.call(value));
  return tag === "[object Blob]" || tag === "[object File]";
}

/** A Blob, which the platform keeps on disk or in memory. */
export class BlobSource implements Source {
  readonly name: string;
  readonly size: number;
  readonly #where: string;
  readonly #blob: BlobLike;

  constructor(where: string, blob: BlobLike) {
    this.name = (blob as Partial<File>).name ?? "the blob";
    this.size = blob.size;
    this.#where = where;
    this.#blob = blob;
  }

  async *pieces(start: number, end: number): AsyncIterable<Uint8Array> {
    for (const range of ranges(start, end)) {
      try {
        yield new Uint8Array(await this.#blob.slice(...range).arrayBuffer());
      } catch (error) {
        // A file on disk may have been changed or deleted.
        failToRead(this.#where, this.name, error);
      }
    }
  }

  async close(): Promise<void> {}
}
