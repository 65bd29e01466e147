// Reads the header of GGUF files: the metadata, and which tensors there are. Nothing that a file says is trusted.

import type * as eg from "edgegrad";
import { describe, fail } from "../errors/errors.js";
import { type GgufValue, kAlignment, kMagic, kTensorTypes, kValueTypes } from "./types.js";

/** What a file says about a tensor. */
export interface GgufTensor {
  /** The name of its type, such as "Q4_K"; "type 99" for an unknown one. */
  readonly type: string;
  /** The sizes of its dimensions, the slowest first, as in PyTorch. */
  readonly shape: readonly number[];
  /** The position of its first byte in the file. */
  readonly start: number;
}

/** The header of a file. */
export interface GgufHeader {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
}

/** The bytes that are read first; files with a vocabulary need a few megabytes. */
const kFirstBytes = 2 ** 20;

/** The limits of the format. */
const kMostDims = 4;
const kMostNested = 4;

/** The fewest bytes of a pair of the metadata, and of the description of a tensor. */
const kLeastOfPair = 13;
const kLeastOfTensor = 24;

class NeedsMore extends Error {}

/** Reads the header of a file; throws InvalidArgument if it is not one. */
export async function readHeader(where: string, file: eg.io.ByteReader): Promise<GgufHeader> {
  let known = await file.bytes(0, Math.min(kFirstBytes, file.size));
  for (;;) {
    try {
      return headerIn(new Cursor(where, file, known));
    } catch (error) {
      if (!(error instanceof NeedsMore)) throw error;
    }
    const rest = await file.bytes(known.length, Math.min(4 * known.length, file.size));
    const joined = new Uint8Array(known.length + rest.length);
    joined.set(known);
    joined.set(rest, known.length);
    known = joined;
  }
}

/** Reads numbers and strings one after another. */
class Cursor {
  at = 0;
  readonly #view: DataView;

  constructor(
    readonly where: string,
    private readonly file: eg.io.ByteReader,
    private readonly bytes: Uint8Array,
  ) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  refuse(problem: string): never {
    return fail("InvalidArgument", this.where, `${this.file.name}: ${problem}.`);
  }

  /** The bytes of the file that have not been read. */
  get left(): number {
    return this.file.size - this.at;
  }

  /** Moves on, and returns where the bytes are. */
  take(count: number): number {
    const { at } = this;
    if (count > this.left) this.refuse(`it ends at byte ${this.file.size}, within its header`);
    if (at + count > this.bytes.length) throw new NeedsMore();
    this.at += count;
    return at;
  }

  uint32(): number {
    return this.#view.getUint32(this.take(4), true);
  }

  /** Returns a count of things that take at least `least` bytes each. */
  count(what: string, least: number): number {
    const count = Number(this.#view.getBigUint64(this.take(8), true));
    if (count * least > this.left) this.refuse(`it cannot have ${count} ${what}`);
    return count;
  }

  size(): number {
    return Number(this.#view.getBigUint64(this.take(8), true));
  }

  string(): string {
    const length = this.count("bytes of a string", 1);
    const start = this.take(length);
    return new TextDecoder().decode(this.bytes.subarray(start, start + length));
  }

  value(type: number, nested = 0): GgufValue {
    const name = kValueTypes[type];
    if (name === "string") return this.string();
    if (name === "bool") return this.#view.getUint8(this.take(1)) !== 0;
    if (name === "array") return this.list(nested);
    const read = name && kNumbers[name];
    if (!read) return this.refuse(`its metadata has a value of the unknown type ${type}`);
    return read.one(this.#view, this.take(read.bytes));
  }

  private list(nested: number): GgufValue {
    const type = this.uint32();
    const name = kValueTypes[type];
    const read = name && name in kNumbers ? kNumbers[name as NumberType] : null;
    if (read) {
      const count = this.count("numbers of a list", read.bytes);
      const start = this.take(count * read.bytes);
      const numbers = new read.List(count);
      for (let i = 0; i < count; i++) numbers[i] = read.one(this.#view, start + i * read.bytes);
      return numbers;
    }
    if (nested >= kMostNested) this.refuse("its metadata has lists in lists in lists");
    const least = name === "string" ? 8 : name === "array" ? 12 : 1;
    const count = this.count("values of a list", least);
    return Array.from({ length: count }, () => this.value(type, nested + 1));
  }
}

type NumberType = Exclude<(typeof kValueTypes)[number], "string" | "bool" | "array">;

interface NumberReader {
  readonly bytes: number;
  readonly List: new (count: number) => { [i: number]: number; readonly length: number };
  one(view: DataView, at: number): number;
}

const kNumbers: Readonly<Record<string, NumberReader>> &
  Readonly<Record<NumberType, NumberReader>> = {
  uint8: { bytes: 1, List: Uint8Array, one: (view, at) => view.getUint8(at) },
  int8: { bytes: 1, List: Int8Array, one: (view, at) => view.getInt8(at) },
  uint16: { bytes: 2, List: Uint16Array, one: (view, at) => view.getUint16(at, true) },
  int16: { bytes: 2, List: Int16Array, one: (view, at) => view.getInt16(at, true) },
  uint32: { bytes: 4, List: Uint32Array, one: (view, at) => view.getUint32(at, true) },
  int32: { bytes: 4, List: Int32Array, one: (view, at) => view.getInt32(at, true) },
  float32: { bytes: 4, List: Float32Array, one: (view, at) => view.getFloat32(at, true) },
  uint64: {
    bytes: 8,
    List: Float64Array,
    one: (view, at) => Number(view.getBigUint64(at, true)),
  },
  int64: { bytes: 8, List: Float64Array, one: (view, at) => Number(view.getBigInt64(at, true)) },
  float64: { bytes: 8, List: Float64Array, one: (view, at) => view.getFloat64(at, true) },
};

function headerIn(cursor: Cursor): GgufHeader {
  const magic = Array.from({ length: 4 }, () => String.fromCharCode(cursor.value(0) as number));
  if (magic.join("") !== kMagic)
    cursor.refuse(`it begins with ${describe(magic.join(""))}, not "GGUF"`);
  const version = cursor.uint32();
  if (version >= 2 ** 16) cursor.refuse("its numbers are big-endian, which is not implemented");
  if (version !== 2 && version !== 3) {
    cursor.refuse(`it has version ${version} of the format; versions 2 and 3 are implemented`);
  }
  const tensorCount = cursor.count("tensors", kLeastOfTensor);
  const pairCount = cursor.count("pairs of metadata", kLeastOfPair);
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < pairCount; i++) {
    const key = cursor.string();
    if (metadata.has(key)) cursor.refuse(`it has ${describe(key)} twice`);
    metadata.set(key, cursor.value(cursor.uint32()));
  }
  const alignment = metadata.get("general.alignment") ?? kAlignment;
  if (
    !Number.isSafeInteger(alignment) ||
    (alignment as number) < 1 ||
    (alignment as number) > 2 ** 20
  ) {
    cursor.refuse(`general.alignment is ${describe(alignment)}`);
  }
  const described = new Map<string, GgufTensor>();
  for (let i = 0; i < tensorCount; i++) {
    const name = cursor.string();
    if (described.has(name)) cursor.refuse(`it has the tensor ${describe(name)} twice`);
    described.set(name, tensorIn(cursor, name, alignment as number));
  }
  // Positions are relative to the end of the header.
  const base = Math.ceil(cursor.at / (alignment as number)) * (alignment as number);
  const tensors = [...described].map(([name, description]): [string, GgufTensor] => [
    name,
    { ...description, start: base + description.start },
  ]);
  return { metadata, tensors: new Map(tensors) };
}

function tensorIn(cursor: Cursor, name: string, alignment: number): GgufTensor {
  const dims = cursor.uint32();
  if (dims > kMostDims) cursor.refuse(`${describe(name)} has ${dims} dimensions`);
  const shape = Array.from({ length: dims }, () => cursor.size()).reverse();
  if (!Number.isSafeInteger(shape.reduce((product, size) => product * size, 1))) {
    cursor.refuse(`${describe(name)} has the impossible shape [${shape.join(", ")}]`);
  }
  const number = cursor.uint32();
  const start = cursor.size();
  if (!Number.isSafeInteger(start) || start % alignment !== 0) {
    cursor.refuse(
      `${describe(name)} begins at byte ${start}, which is no multiple of ${alignment}`,
    );
  }
  return { type: kTensorTypes[number] ?? `type ${number}`, shape, start };
}
