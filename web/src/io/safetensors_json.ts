// Reads the JSON of a safetensors header. JSON.parse() would make an object of everything that a file of 100 MB claims before any of it
// is checked, and keeps the last of two equal keys; here each entry is checked when it has been read, in time that only depends on the
// length.

import { kMaxDims } from "../ops/create.js";
import { decodeUtf8 } from "../runtime/host/utf8.js";
import { reject } from "./broken_file.js";

/** The most tensors and texts of metadata: no model has nearly as many. */
const kMaxNames = 2 ** 20;

/** The longest value of a field that no version of the format has. */
const kMaxOther = 1024;

/** An entry of a header before its values are checked. */
export interface RawEntry {
  dtype?: unknown;
  shape?: unknown;
  data_offsets?: unknown;
}

/** Texts that nearly every entry has, so that they are not made for each. */
const kUsual = ["dtype", "shape", "data_offsets", "F32", "F16", "BF16"];

const [kQuote, kBackslash, kComma, kColon] = [0x22, 0x5c, 0x2c, 0x3a];
const [kOpen, kClose, kOpenList, kCloseList] = [0x7b, 0x7d, 0x5b, 0x5d];
const [kZero, kNine] = [0x30, 0x39];

/** Reads the objects of a header; every method must be called inside reading(). */
export class HeaderReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #keyCount = 0;

  constructor(bytes: Uint8Array) {
    // Memory that threads share could change while it is read.
    this.#bytes = bytes.buffer instanceof ArrayBuffer ? bytes : bytes.slice();
    if (bytes[0] !== kOpen) reject(`the header does not start with "{".`);
  }

  /** Calls `read` for every key of the whole header. */
  all(read: (key: string) => void): void {
    this.#object(read);
    this.#skipSpace();
    if (this.#at < this.#bytes.length) this.#broken("something follows its end");
  }

  /** Returns the value of a tensor: an entry if it is an object, otherwise anything. */
  entry(): RawEntry | unknown {
    if (this.#peek() !== kOpen) return this.#other();
    const entry: RawEntry = {};
    this.#object((key) => {
      if (key === "dtype") entry.dtype = this.#peek() === kQuote ? this.#string() : this.#other();
      else if (key === "shape" || key === "data_offsets") entry[key] = this.#sizes();
      else this.#other();
    });
    return entry;
  }

  /** Returns an object of texts; undefined if it is anything else. */
  texts(): Record<string, string> | undefined {
    if (this.#peek() !== kOpen) return undefined;
    const found: [string, string][] = [];
    let isText = true;
    this.#object((key) => {
      isText &&= this.#peek() === kQuote;
      if (isText) found.push([key, this.#string()]);
      else this.#other();
    });
    // fromEntries() and not assignment, because a key may be "__proto__".
    return isText ? Object.fromEntries(found) : undefined;
  }

  #object(read: (key: string) => void): void {
    // A set for each of a million entries would take longer than looking through their three keys.
    let keys: string[] | Set<string> = [];
    this.#expect(kOpen);
    if (this.#take(kClose)) return;
    do {
      const key = this.#string();
      const isThere = Array.isArray(keys) ? keys.includes(key) : keys.has(key);
      if (isThere) reject(`the header has two entries ${shortName(key)}.`);
      if (++this.#keyCount > 4 * kMaxNames)
        reject(`the header has more than ${kMaxNames} entries.`);
      if (Array.isArray(keys) && keys.length === 8) keys = new Set(keys);
      if (Array.isArray(keys)) keys.push(key);
      else keys.add(key);
      this.#expect(kColon);
      read(key);
    } while (this.#take(kComma));
    this.#expect(kClose);
  }

  // A list of whole numbers, or anything else, which the caller refuses.
  #sizes(): unknown {
    const start = this.#at;
    if (!this.#take(kOpenList)) return this.#other();
    const sizes: number[] = [];
    if (this.#take(kCloseList)) return sizes;
    do {
      const size = this.#digits();
      if (size === undefined) {
        this.#at = start;
        return this.#other();
      }
      sizes.push(size);
      if (sizes.length > kMaxDims + 1) reject(`a list has more than ${kMaxDims} sizes.`);
    } while (this.#take(kComma));
    if (this.#take(kCloseList)) return sizes;
    this.#at = start;
    return this.#other();
  }

  #digits(): number | undefined {
    this.#skipSpace();
    const start = this.#at;
    let value = 0;
    for (; this.#at < this.#bytes.length; this.#at++) {
      const digit = this.#bytes[this.#at] as number;
      if (digit < kZero || digit > kNine) break;
      value = 10 * value + digit - kZero;
    }
    const length = this.#at - start;
    const isNumber = length > 0 && (length === 1 || this.#bytes[start] !== kZero);
    return isNumber ? value : undefined;
  }

  #string(): string {
    this.#skipSpace();
    const start = this.#at;
    this.#expect(kQuote);
    let isPlain = true;
    let all = 0;
    for (; ; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) this.#broken("a text has no end");
      if (byte === kQuote) break;
      all |= byte;
      if (byte === kBackslash) {
        isPlain = false;
        this.#at++;
      } else if (byte < 0x20) this.#broken("a text has control characters");
    }
    const end = this.#at++;
    if (isPlain && all < 0x80) {
      const usual = kUsual.find((text) => this.#isAt(start + 1, end, text));
      if (usual !== undefined) return usual;
    }
    const content = this.#bytes.subarray(start + 1, end);
    // A call of the decoder takes longer than the characters of a short name.
    if (isPlain && all < 0x80 && content.length <= 100) {
      return String.fromCharCode.apply(null, content as unknown as number[]);
    }
    if (isPlain) return this.#decoded(content);
    return parsed(this.#decoded(this.#bytes.subarray(start, this.#at))) as string;
  }

  #isAt(start: number, end: number, text: string): boolean {
    if (end - start !== text.length) return false;
    for (let i = 0; i < text.length; i++) {
      if (this.#bytes[start + i] !== text.charCodeAt(i)) return false;
    }
    return true;
  }

  // Any value that is short.
  #other(): unknown {
    this.#skipSpace();
    const start = this.#at;
    let depth = 0;
    while (true) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined || this.#at - start > kMaxOther) {
        this.#broken("a value has no end or is too long");
      }
      const isEnd = byte === kComma || byte === kClose || byte === kCloseList;
      if (depth === 0 && isEnd) break;
      if (byte === kQuote) {
        this.#string();
        continue;
      }
      if (byte === kOpen || byte === kOpenList) depth++;
      if (byte === kClose || byte === kCloseList) depth--;
      this.#at++;
    }
    return parsed(this.#decoded(this.#bytes.subarray(start, this.#at)));
  }

  #decoded(bytes: Uint8Array): string {
    try {
      return decodeUtf8(bytes);
    } catch {
      return reject("the header is not UTF-8 text.");
    }
  }

  #peek(): number | undefined {
    this.#skipSpace();
    return this.#bytes[this.#at];
  }

  #take(byte: number): boolean {
    if (this.#peek() !== byte) return false;
    this.#at++;
    return true;
  }

  #expect(byte: number): void {
    if (!this.#take(byte)) this.#broken(`expected ${String.fromCharCode(byte)}`);
  }

  #skipSpace(): void {
    for (; this.#at < this.#bytes.length; this.#at++) {
      const byte = this.#bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
    }
  }

  #broken(why: string): never {
    reject(`the header is not JSON: ${why}, at byte ${this.#at}.`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return reject(`the header is not JSON: ${(error as Error).message}.`);
  }
}

/** Returns a name for a message: those in files have any length. */
export function shortName(name: string): string {
  return JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}...` : name);
}
