// Writes GGUF files of float32 tensors.

import { kAlignment, kMagic, kValueTypes } from "./types.js";

/** A value of the metadata with the name of its type. */
export type TypedValue =
  | readonly ["string", string]
  | readonly ["float32", number]
  | readonly ["uint32", number];

/** A tensor to write. */
export interface WrittenTensor {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

const kVersion = 3;

/** Returns the bytes of a file. */
export function writeGguf(
  metadata: Readonly<Record<string, TypedValue>>,
  tensors: Readonly<Record<string, WrittenTensor>>,
): Uint8Array<ArrayBuffer> {
  const header = new Writer();
  header.text(kMagic);
  header.uint32(kVersion);
  header.uint64(Object.keys(tensors).length);
  header.uint64(Object.keys(metadata).length);
  for (const [key, [type, value]] of Object.entries(metadata)) {
    header.string(key);
    header.uint32(kValueTypes.indexOf(type));
    if (type === "string") header.string(value);
    else if (type === "float32") header.float32(value);
    else header.uint32(value);
  }
  let end = 0;
  const starts = Object.entries(tensors).map(([name, { shape, values }]) => {
    header.string(name);
    header.uint32(shape.length);
    for (const size of [...shape].reverse()) header.uint64(size);
    // The type F32.
    header.uint32(0);
    header.uint64(end);
    const start = end;
    end = aligned(end + values.byteLength);
    return start;
  });
  const head = header.bytes();
  const base = aligned(head.length);
  const file = new Uint8Array(base + end);
  file.set(head);
  Object.values(tensors).forEach(({ values }, i) => {
    const { buffer, byteOffset, byteLength } = values;
    file.set(new Uint8Array(buffer, byteOffset, byteLength), base + (starts[i] as number));
  });
  return file;
}

const aligned = (at: number) => Math.ceil(at / kAlignment) * kAlignment;

class Writer {
  readonly #parts: Uint8Array[] = [];

  text(text: string): void {
    this.#parts.push(new TextEncoder().encode(text));
  }

  string(text: string): void {
    this.uint64(new TextEncoder().encode(text).length);
    this.text(text);
  }

  uint32(value: number): void {
    this.#put(4, (view) => view.setUint32(0, value, true));
  }

  uint64(value: number): void {
    this.#put(8, (view) => view.setBigUint64(0, BigInt(value), true));
  }

  float32(value: number): void {
    this.#put(4, (view) => view.setFloat32(0, value, true));
  }

  #put(count: number, set: (view: DataView) => void): void {
    const bytes = new Uint8Array(count);
    set(new DataView(bytes.buffer));
    this.#parts.push(bytes);
  }

  bytes(): Uint8Array {
    const whole = new Uint8Array(this.#parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}
