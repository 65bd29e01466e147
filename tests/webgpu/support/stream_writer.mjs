// Writes the stream of web/src/webgpu/README.md.

export const dtypes = [
  "float32",
  "float64",
  "int32",
  "int64",
  "uint8",
  "bool",
  "complex64",
  "complex128",
];

/** No memory, where a kernel can do without. */
export const none = null;

export class StreamWriter {
  #words = [];
  #names = new Map();

  /** All that has been written since the last time. */
  take() {
    const words = Uint32Array.from(this.#words);
    this.#words = [];
    return words;
  }

  allocate(block, bytes) {
    this.#command(1, [block, bytes]);
  }

  free(block) {
    this.#command(2, [block]);
  }

  write(block, offset, array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    this.#command(3, [block, offset, bytes.length, ...packed(bytes)]);
  }

  read(block, offset, bytes, address, ticket) {
    this.#command(4, [block, offset, bytes, address, 0, ticket]);
  }

  /** Fields are made by the functions of `field`. */
  kernel(name, op, fields) {
    const names = [this.name(name), this.name(op)];
    const resolved = fields
      .flat(Infinity)
      .map((word) => (typeof word === "string" ? this.name(word) : word));
    this.#command(5, [...names, ...resolved]);
  }

  copy(to, toOffset, from, fromOffset, bytes) {
    this.#command(7, [to, toOffset, from, fromOffset, bytes]);
  }

  beginRecording(number) {
    this.#command(10, [number]);
  }

  endRecording() {
    this.#command(11, []);
  }

  playRecording(number) {
    this.#command(12, [number]);
  }

  forget(number) {
    this.#command(13, [number]);
  }

  /** The number of a text. */
  name(text) {
    let number = this.#names.get(text);
    if (number === undefined) {
      number = this.#names.size + 1;
      this.#names.set(text, number);
      const bytes = new TextEncoder().encode(text);
      this.#command(6, [number, bytes.length, ...packed(bytes)]);
    }
    return number;
  }

  /** Any words, right or wrong. */
  raw(...words) {
    this.#words.push(...words);
  }

  #command(opcode, words) {
    this.#words.push((((words.length + 1) << 8) | opcode) >>> 0);
    for (const word of words) this.#words.push(word);
  }
}

function packed(bytes) {
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  return new Uint32Array(padded.buffer);
}

function longWords(value) {
  const words = new Uint32Array(new BigInt64Array([BigInt(value)]).buffer);
  return [...words];
}

const doubleWords = (value) => [...new Uint32Array(new Float64Array([value]).buffer)];
const viewWords = (view) =>
  view ? [view.block, view.offset, dtypes.indexOf(view.dtype)] : [0, 0, 0];

/** Fields of kernels, with their tags. A view is { block, offset, dtype }. */
export const field = {
  number: (value) => [1, value >>> 0],
  dtype: (name) => [1, dtypes.indexOf(name)],
  long: (value) => [2, ...longWords(value)],
  double: (value) => [3, ...doubleWords(value)],
  longs: (values) => [4, values.length, ...values.flatMap(longWords)],
  in: (view) => [5, ...viewWords(view)],
  out: (view) => [6, ...viewWords(view)],
  /** Of [view, strides]; the first is written. */
  operands: (operands) => [
    7,
    operands.length,
    ...operands.flatMap(([view, strides]) => [
      ...viewWords(view),
      strides.length,
      ...strides.flatMap(longWords),
    ]),
  ],
  text: (text) => [8, text],
  doubles: (values) => [9, values.length, ...values.flatMap(doubleWords)],
  rows: (outer, size, inner) => [field.long(outer), field.long(size), field.long(inner)].flat(),
};
