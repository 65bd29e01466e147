// Writes a message in protobuf's wire format. Large bytes are copied once, into the result.

import { type Draft, type Field, fieldsByNumber, type MessageName } from "./schema.js";

/** Returns the bytes of a message. */
export function writeMessage<N extends MessageName>(name: N, message: Draft<N>): Uint8Array {
  const parts = new Parts();
  addMessage(parts, name, message);
  return parts.joined();
}

// Bytes in pieces: what is inside a message comes after its length, which is known last.
class Parts {
  readonly list: Uint8Array[] = [];
  length = 0;

  add(bytes: Uint8Array): void {
    this.list.push(bytes);
    this.length += bytes.length;
  }

  addAll(inner: Parts): void {
    for (const part of inner.list) this.add(part);
  }

  joined(): Uint8Array {
    const bytes = new Uint8Array(this.length);
    let at = 0;
    for (const part of this.list) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }
}

function addMessage(parts: Parts, name: MessageName, message: object): void {
  const values = message as Readonly<Record<string, unknown>>;
  for (const field of fieldsByNumber(name).values()) {
    const value = values[field.name];
    if (value === undefined) continue;
    if (field.isList) addList(parts, field, value as readonly unknown[]);
    else addField(parts, field, value);
  }
}

const kWires: Readonly<Partial<Record<Field["content"], number>>> = {
  int: 0,
  uint: 0,
  float: 5,
  double: 1,
};
const kBytes = 2;

function addField(parts: Parts, { number, content }: Field, value: unknown): void {
  addInteger(parts, (number << 3) | (kWires[content] ?? kBytes));
  addValue(parts, content, value);
}

// Numbers share one field, which needs a tag only once.
function addList(parts: Parts, field: Field, values: readonly unknown[]): void {
  if (kWires[field.content] === undefined) {
    for (const value of values) addField(parts, field, value);
  } else if (values.length > 0) {
    const inner = new Parts();
    for (const value of values) addValue(inner, field.content, value);
    addInteger(parts, (field.number << 3) | kBytes);
    addInteger(parts, inner.length);
    parts.add(inner.joined());
  }
}

function addValue(parts: Parts, content: Field["content"], value: unknown): void {
  if (content === "int" || content === "uint") addInteger(parts, value as number | bigint);
  else if (content === "float")
    addFloat(parts, 4, (view) => view.setFloat32(0, Number(value), true));
  else if (content === "double")
    addFloat(parts, 8, (view) => view.setFloat64(0, Number(value), true));
  else if (content === "string") addBytes(parts, new TextEncoder().encode(value as string));
  else if (content === "bytes") addBytes(parts, value as Uint8Array);
  else {
    const inner = new Parts();
    addMessage(inner, content, value as object);
    addInteger(parts, inner.length);
    parts.addAll(inner);
  }
}

function addBytes(parts: Parts, bytes: Uint8Array): void {
  addInteger(parts, bytes.length);
  parts.add(bytes);
}

function addFloat(parts: Parts, size: number, write: (view: DataView) => void): void {
  const bytes = new Uint8Array(size);
  write(new DataView(bytes.buffer));
  parts.add(bytes);
}

function addInteger(parts: Parts, value: number | bigint): void {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  bytes.push(Number(left));
  parts.add(Uint8Array.from(bytes));
}
