// Reads a message in protobuf's wire format. Bytes are views of the file, not copies; fields that are not in the table are skipped.

import { fail } from "../../errors/errors.js";
import { Budget, kEntry, kText } from "./budget.js";
import { countIntegers, readIntegers } from "./numbers.js";
import { type Field, fieldsByNumber, type Message, type MessageName } from "./schema.js";

/** The largest nesting depth of messages, so that a hostile file does not overflow the stack. */
const kMaxDepth = 200;

const kVarint = 0;
const kFixed64 = 1;
const kBytes = 2;
const kFixed32 = 5;

/** Where bytes come from. */
export interface Origin {
  /** The position of the first byte in its file. */
  readonly start: number;
  /** The size of the file. */
  readonly size: number;
  readonly budget: Budget;
  /** The function that was called, for errors. */
  readonly where: string;
}

/** Returns the origin for the bytes of a whole file. */
export function originOf(size: number, where = "onnx.load"): Origin {
  return { start: 0, size, budget: new Budget(size), where };
}

/** Returns the message in these bytes; throws InvalidArgument if they are damaged. `origin` says which part of a file they are. */
export function readMessage<N extends MessageName>(
  name: N,
  bytes: Uint8Array,
  origin: Origin = originOf(bytes.length),
): Message<N> {
  return new Reader(bytes, origin).message(name, bytes.length, 0) as Message<N>;
}

const kNoValues: readonly never[] = Object.freeze([]);

const emptyMessages = new Map<MessageName, Record<string, unknown>>();

/** Returns a message without values, to be copied: that is faster than creating an object with so many properties. */
export function emptyMessage(name: MessageName): Record<string, unknown> {
  let empty = emptyMessages.get(name);
  if (empty === undefined) {
    const fields = [...fieldsByNumber(name).values()];
    empty = Object.fromEntries(
      fields.map(({ name, isList }) => [name, isList ? kNoValues : undefined]),
    );
    emptyMessages.set(name, empty);
  }
  return empty;
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #decoder: TextDecoder | null = null;
  readonly #origin: Origin;
  #at = 0;

  constructor(bytes: Uint8Array, origin: Origin) {
    this.#bytes = bytes;
    this.#origin = origin;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  message(name: MessageName, end: number, depth: number): Record<string, unknown> {
    if (depth > kMaxDepth) this.#damaged(`messages inside each other, more than ${kMaxDepth} deep`);
    this.#origin.budget.message(name);
    const fields = fieldsByNumber(name);
    const found = { ...emptyMessage(name) };
    while (this.#at < end) {
      const tag = this.#length(end);
      const wire = tag & 7;
      const field = fields.get(tag >>> 3);
      if (field === undefined) this.#skip(wire, end);
      else this.#field(found, field, wire, end, depth);
    }
    return found;
  }

  #field(
    found: Record<string, unknown>,
    { name, number, content, isList }: Field,
    wire: number,
    end: number,
    depth: number,
  ): void {
    if (isElements(content)) {
      if (found[name] !== undefined) this.#damaged("the elements of a tensor in pieces");
      found[name] =
        wire === kBytes
          ? this.#packed(content, this.#end(end))
          : this.#singles(content, (number << 3) | wire, end);
      return;
    }
    if (!isList) {
      found[name] = this.#value(content, wire, end, depth);
      return;
    }
    this.#origin.budget.spend(kEntry);
    if (found[name] === kNoValues) found[name] = [];
    const list = found[name] as unknown[];
    const isPacked = wire === kBytes && Object.hasOwn(kWireOf, content);
    if (!isPacked) {
      list.push(this.#value(content, wire, end, depth));
      return;
    }
    const last = this.#end(end);
    const each = kWireOf[content] as number;
    while (this.#at < last) {
      this.#origin.budget.spend(kEntry);
      list.push(this.#value(content, each, last, depth));
    }
  }

  // Elements that are not packed have a tag each.
  #singles(content: Packed, tag: number, end: number): Elements {
    const { make, as } = kPacked[content];
    const found: (number | bigint)[] = [];
    do {
      this.#origin.budget.spend(kEntry);
      found.push(this.#value(as, tag & 7, end, 0) as number | bigint);
    } while (this.#at < end && this.#bytes[this.#at] === tag && ++this.#at);
    return make(found);
  }

  #packed(content: Packed, last: number): Elements {
    const bytes = this.#bytes.subarray(this.#at, last);
    const { width } = kPacked[content];
    this.#at = last;
    if (content === "floats" || content === "doubles") {
      if (bytes.length % width !== 0) this.#damaged(`${bytes.length} bytes of numbers`);
      this.#origin.budget.spend(bytes.length);
      const { buffer } = new Uint8Array(bytes);
      return content === "floats" ? new Float32Array(buffer) : new Float64Array(buffer);
    }
    const count = countIntegers(bytes);
    this.#origin.budget.spend(count * width);
    const result = content === "int32s" ? new Int32Array(count) : new BigInt64Array(count);
    const words = new Int32Array(result.buffer);
    const upper = content === "int32s" ? null : words.subarray(1);
    if (!readIntegers(bytes, words, upper, width / 4)) this.#damaged("an integer without an end");
    return result;
  }

  #value(
    content: Exclude<Field["content"], Packed>,
    wire: number,
    end: number,
    depth: number,
  ): unknown {
    const expected = kWireOf[content] ?? kBytes;
    if (wire !== expected) {
      this.#damaged(`a field of wire type ${wire} where ${expected} belongs`);
    }
    switch (content) {
      case "int":
        return this.#integer(end, true);
      case "uint":
        return this.#integer(end, false);
      case "float":
        return this.#view.getFloat32(this.#advance(4, end), true);
      case "double":
        return this.#view.getFloat64(this.#advance(8, end), true);
    }
    const last = this.#end(end);
    if (content !== "string" && content !== "bytes") return this.message(content, last, depth + 1);
    const part = this.#bytes.subarray(this.#at, last);
    this.#at = last;
    return content === "bytes" ? part : this.#text(part);
  }

  // Most strings are short names, which decode faster here than by a call of the decoder.
  #text(bytes: Uint8Array): string {
    this.#origin.budget.spend(kText + bytes.length);
    if (bytes.length > 64 || bytes.some((byte) => byte > 127)) {
      // TextDecoder does not accept shared memory.
      this.#decoder ??= new TextDecoder();
      return this.#decoder.decode(new Uint8Array(bytes));
    }
    return String.fromCharCode(...bytes);
  }

  #skip(wire: number, end: number): void {
    if (wire === kVarint) this.#integer(end, false);
    else if (wire === kFixed64) this.#advance(8, end);
    else if (wire === kBytes) this.#at = this.#end(end);
    else if (wire === kFixed32) this.#advance(4, end);
    else this.#damaged(`wire type ${wire}, which protobuf no longer has`);
  }

  // The end of a length-delimited field.
  #end(end: number): number {
    const length = this.#length(end);
    if (length > end - this.#at) this.#tooShort(length, end);
    return this.#at + length;
  }

  #advance(length: number, end: number): number {
    const start = this.#at;
    if (length > end - start) this.#tooShort(length, end);
    this.#at = start + length;
    return start;
  }

  #tooShort(length: number, end: number): never {
    this.#damaged(`a field of ${length} bytes where ${end - this.#at} are left`);
  }

  // A varint that is a length or a tag.
  #length(end: number): number {
    const value = this.#integer(end, false);
    if (typeof value === "bigint" || value >= 2 ** 32) this.#damaged(`a length of ${value}`);
    return value;
  }

  #integer(end: number, isSigned: boolean): number | bigint {
    let low = 0;
    let scale = 1;
    for (let i = 0; i < 7; i++) {
      const byte = this.#byte(end);
      low += (byte & 127) * scale;
      if (byte < 128) return low;
      scale *= 128;
    }
    let value = BigInt(low);
    for (let i = 7n; i < 10n; i++) {
      const byte = this.#byte(end);
      value += BigInt(byte & 127) << (7n * i);
      if (byte < 128) return exact(isSigned ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value));
    }
    this.#damaged("an integer of more than ten bytes");
  }

  #byte(end: number): number {
    if (this.#at >= end) this.#damaged("the end of a field in the middle of an integer");
    return this.#bytes[this.#at++] as number;
  }

  #damaged(found: string): never {
    fail(
      "InvalidArgument",
      this.#origin.where,
      `expected an ONNX model, got damaged bytes: ${found}, at byte ${this.#origin.start + this.#at} of ${this.#origin.size}. Fetch or export the file again.`,
    );
  }
}

type Elements = Float32Array | Float64Array | Int32Array | BigInt64Array;
type Packed = "floats" | "doubles" | "int32s" | "int64s";

/** Lists of elements: their bytes in memory, and the content of one that is not packed. */
const kPacked = {
  floats: {
    width: 4,
    as: "float",
    make: (all: (number | bigint)[]) => Float32Array.from(all, Number),
  },
  doubles: {
    width: 8,
    as: "double",
    make: (all: (number | bigint)[]) => Float64Array.from(all, Number),
  },
  int32s: { width: 4, as: "int", make: (all: (number | bigint)[]) => Int32Array.from(all, Number) },
  int64s: {
    width: 8,
    as: "int",
    make: (all: (number | bigint)[]) => BigInt64Array.from(all, BigInt),
  },
} as const;

const isElements = (content: Field["content"]): content is Packed =>
  Object.hasOwn(kPacked, content);

const kWireOf: Readonly<Partial<Record<Field["content"], number>>> = {
  int: kVarint,
  uint: kVarint,
  float: kFixed32,
  double: kFixed64,
};

const exact = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;
