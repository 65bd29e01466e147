// Files of any format, whose bytes programs read in ranges.

import { readOptions } from "../arguments/read.js";
import type { Options } from "../arguments/rule.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { failClosed, readingLater } from "./broken_file.js";
import { bytesOf } from "./bytes.js";
import { kFetch } from "./open_safetensors.js";
import { Requests } from "./sources/http.js";
import { type FileSource, type Place, placeOf } from "./sources/place.js";
import { readBytes, type Source } from "./sources/source.js";

const kWhere = "openFile";

const kOptions = {
  /** Makes the requests for an address, for example with headers of its own; default: the global `fetch`. */
  fetch: kFetch,
};

/** Options of `openFile`. */
export type OpenFileOptions = Options<typeof kOptions>;

/** An open file, whose bytes are read in ranges. Made by `openFile` and `Folder.open`. */
export class ByteReader {
  /** What messages call the file, such as its path. */
  readonly name: string;
  /** The number of bytes. */
  readonly size: number;
  readonly #source: Source;
  #isClosed = false;

  /** @internal */
  constructor(source: Source) {
    this.name = source.name;
    this.size = source.size;
    this.#source = source;
  }

  /** Returns the bytes from `start` up to `end`; without either, those from the beginning and up to the end. Throws IndexOutOfRange beyond the file. */
  async bytes(start = 0, end = this.size): Promise<Uint8Array> {
    if (this.#isClosed) failClosed("bytes");
    const isPlace = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
    if (!isPlace(start) || !isPlace(end) || start > end || end > this.size) {
      const given = `${describe(start)} and ${describe(end)}`;
      const message = `expected a range of the ${this.size} bytes of the file, got ${given}.`;
      fail("IndexOutOfRange", "bytes", message);
    }
    return readingLater("bytes", async () => {
      return bytesOf("bytes", await readBytes(this.#source, start, end));
    });
  }

  /** Closes the file. Reading from it afterwards is an error of the code Disposed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#source.close();
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/** Opens the file at a place. */
export function bytesAt(where: string, place: Place): Promise<ByteReader> {
  return readingLater(where, async () => new ByteReader(await place.open()));
}

/**
 * Opens a file of any format without reading it: a Blob or File, an address (only the ranges that are read are requested), a path in Node, or bytes.
 * Rejects with InvalidArgument for what cannot be read.
 */
export async function openFile(
  source: FileSource,
  ...rest: [options?: OpenFileOptions]
): Promise<ByteReader> {
  const { fetch: given } = readOptions(kWhere, kOptions, rest);
  const requests = new Requests(kWhere, given ?? ((url, options) => fetch(url, options)));
  return bytesAt(kWhere, placeOf(source, requests));
}
