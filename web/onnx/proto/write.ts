// Writes a message in protobuf's wire format. It is written from its end, because the length of a nested message precedes it. Large
// bytes are copied once, into the result.

import type { Bytes } from "edgegrad";
import { type Draft, type Field, fieldsByNumber, type MessageName } from "./schema.js";

/** Returns the bytes of a message. */
export function writeMessage<N extends MessageName>(name: N, message: Draft<N>): Bytes {
  const writer = new Writer();
  writer.message(name, message);
  return writer.joined();
}

const kWires: Readonly<Partial<Record<Field["content"], number>>> = {
  int: 0,
  uint: 0,
  float: 5,
  double: 1,
};
const kBytes = 2;

/** The size of the buffer for small bytes, and the length from which bytes bypass it. */
const kStage = 2 ** 14;
const kLarge = 2 ** 12;

class Writer {
  // From the last to the first.
  readonly #chunks: Uint8Array[] = [];
  readonly #encoder = new TextEncoder();
  #stage = new Uint8Array(kStage);
  #at = kStage;
  #length = 0;

  joined(): Bytes {
    this.#flush();
    const result = new Uint8Array(this.#length);
    let end = this.#length;
    for (const chunk of this.#chunks) {
      end -= chunk.length;
      result.set(chunk, end);
    }
    return result;
  }

  message(name: MessageName, message: object): void {
    const values = message as Readonly<Record<string, unknown>>;
    for (const field of [...fieldsByNumber(name).values()].reverse()) {
      const value = values[field.name];
      if (value === undefined) continue;
      if (field.isList) this.#list(field, value as readonly unknown[]);
      else this.#field(field, value);
    }
  }

  #field({ number, content }: Field, value: unknown): void {
    const wire = kWires[content] ?? kBytes;
    if (wire === kBytes) this.#measured(() => this.#value(content, value));
    else this.#value(content, value);
    this.#integer((number << 3) | wire);
  }

  // Numbers are packed: the field has one tag.
  #list(field: Field, values: readonly unknown[]): void {
    const isPacked = kWires[field.content] !== undefined;
    const write = (value: unknown) =>
      isPacked ? this.#value(field.content, value) : this.#field(field, value);
    const writeAll = () => {
      for (let i = values.length - 1; i >= 0; i--) write(values[i]);
    };
    if (!isPacked) writeAll();
    else if (values.length > 0) {
      this.#measured(writeAll);
      this.#integer((field.number << 3) | kBytes);
    }
  }

  #measured(write: () => void): void {
    const before = this.#length;
    write();
    this.#integer(this.#length - before);
  }

  #value(content: Field["content"], value: unknown): void {
    if (content === "int" || content === "uint") this.#integer(value as number | bigint);
    else if (content === "int32s" || content === "int64s") {
      const values = value as Int32Array | BigInt64Array;
      for (let i = values.length - 1; i >= 0; i--) this.#integer(values[i] as number | bigint);
    } else if (content === "float") this.#view(Float32Array.of(Number(value)));
    else if (content === "double") this.#view(Float64Array.of(Number(value)));
    else if (content === "string") this.#bytes(this.#encoder.encode(value as string));
    else if (content === "bytes" || content === "floats" || content === "doubles")
      this.#view(value as ArrayBufferView);
    else this.message(content, value as object);
  }

  #view({ buffer, byteOffset, byteLength }: ArrayBufferView): void {
    this.#bytes(new Uint8Array(buffer, byteOffset, byteLength));
  }

  #bytes(bytes: Uint8Array): void {
    if (bytes.length >= kLarge) {
      this.#flush();
      this.#chunks.push(bytes);
    } else {
      this.#makeRoom(bytes.length);
      this.#at -= bytes.length;
      this.#stage.set(bytes, this.#at);
    }
    this.#length += bytes.length;
  }

  #integer(value: number | bigint): void {
    const isSmall = typeof value === "number" && value >= 0 && value < 2 ** 31;
    const bytes = isSmall ? smallInteger(value) : largeInteger(value);
    this.#makeRoom(bytes.length);
    for (let i = bytes.length - 1; i >= 0; i--) this.#stage[--this.#at] = bytes[i] as number;
    this.#length += bytes.length;
  }

  #makeRoom(count: number): void {
    if (count > this.#at) this.#flush();
  }

  #flush(): void {
    if (this.#at === kStage) return;
    this.#chunks.push(this.#stage.subarray(this.#at));
    this.#stage = new Uint8Array(kStage);
    this.#at = kStage;
  }
}

function smallInteger(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left > 127; left >>= 7) bytes.push((left & 127) | 128);
  bytes.push(left);
  return bytes;
}

function largeInteger(value: number | bigint): number[] {
  const bytes: number[] = [];
  let left = BigInt.asUintN(64, BigInt(value));
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  bytes.push(Number(left));
  return bytes;
}
