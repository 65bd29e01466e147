// Reads a message in protobuf's wire format. Bytes are views of the file, not copies; fields that are not in the table are skipped.

import { fail } from "../errors.js";
import { type Field, fieldsByNumber, type Message, type MessageName } from "./schema.js";

/** The most messages inside each other, so that a hostile file does not exhaust the stack. */
const kMaxDepth = 200;

const kVarint = 0;
const kFixed64 = 1;
const kBytes = 2;
const kFixed32 = 5;

/** Returns the message in these bytes; throws InvalidArgument, with the function that was called, if they are damaged. */
export function readMessage<N extends MessageName>(
  name: N,
  bytes: Uint8Array,
  where = "onnx.load",
): Message<N> {
  return new Reader(bytes, where).message(name, bytes.length, 0) as Message<N>;
}

const kNoValues: readonly never[] = Object.freeze([]);

const emptyMessages = new Map<MessageName, Record<string, unknown>>();

// A copy of one is made faster than an object with so many properties.
function emptyMessage(name: MessageName): Record<string, unknown> {
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
  readonly #where: string;
  readonly #view: DataView;
  readonly #decoder = new TextDecoder();
  #at = 0;

  constructor(bytes: Uint8Array, where: string) {
    this.#bytes = bytes;
    this.#where = where;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  message(name: MessageName, end: number, depth: number): Record<string, unknown> {
    if (depth > kMaxDepth) this.#damaged(`messages inside each other, more than ${kMaxDepth} deep`);
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
    { name, content, isList }: Field,
    wire: number,
    end: number,
    depth: number,
  ): void {
    if (!isList) {
      found[name] = this.#value(content, wire, end, depth);
      return;
    }
    if (found[name] === kNoValues) found[name] = [];
    const list = found[name] as unknown[];
    const isPacked = wire === kBytes && Object.hasOwn(kWireOf, content);
    if (!isPacked) {
      list.push(this.#value(content, wire, end, depth));
      return;
    }
    const last = this.#end(end);
    const each = kWireOf[content] as number;
    while (this.#at < last) list.push(this.#value(content, each, last, depth));
  }

  #value(content: Field["content"], wire: number, end: number, depth: number): unknown {
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

  // Most texts are short names, for which a call of the decoder takes longer than their characters.
  #text(bytes: Uint8Array): string {
    if (bytes.length > 64 || bytes.some((one) => one > 127)) {
      // Memory that threads share cannot be decoded.
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

  // The end of a field whose length comes first.
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
      this.#where,
      `expected an ONNX model, got damaged bytes: ${found}, at byte ${this.#at} of ${this.#bytes.length}. Fetch or export the file again.`,
    );
  }
}

const kWireOf: Readonly<Partial<Record<Field["content"], number>>> = {
  int: kVarint,
  uint: kVarint,
  float: kFixed32,
  double: kFixed64,
};

const exact = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value;
