// Writes messages in protobuf's wire format, field by field.

import type { Bytes } from "edgegrad";
import { joinBytes } from "./bytes.js";

const kVarint = 0;
const kFixed64 = 1;
const kLengthDelimited = 2;
const kFixed32 = 5;

const encoder = new TextEncoder();

/** A message in protobuf's wire format; fields are written in the order in which they are added. */
export class Message {
  readonly #parts: Uint8Array[] = [];

  /** Adds a nonnegative integer; 0 is the default and is not written. */
  integer(field: number, value: number): this {
    if (value !== 0) this.#parts.push(varint(field * 8 + kVarint), varint(value));
    return this;
  }

  double(field: number, value: number): this {
    return this.#fixed(field, kFixed64, doublesOf([value]));
  }

  float(field: number, value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    return this.#fixed(field, kFixed32, bytes);
  }

  /** Adds many numbers in one field. */
  doubles(field: number, values: ArrayLike<number>): this {
    return this.bytes(field, doublesOf(values));
  }

  text(field: number, value: string): this {
    return this.bytes(field, encoder.encode(value));
  }

  message(field: number, value: Message): this {
    return this.bytes(field, value.encoded());
  }

  bytes(field: number, value: Uint8Array): this {
    this.#parts.push(varint(field * 8 + kLengthDelimited), varint(value.length), value);
    return this;
  }

  encoded(): Bytes {
    return joinBytes(this.#parts);
  }

  #fixed(field: number, wire: number, bytes: Uint8Array): this {
    this.#parts.push(varint(field * 8 + wire), bytes);
    return this;
  }
}

function doublesOf(values: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(8 * values.length);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < values.length; i++) view.setFloat64(8 * i, values[i] as number, true);
  return bytes;
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
