// Writes a stream in the format that web/src/generated/stream.ts describes.

import { bundled } from "./bundled.mjs";

const { dtypes, kCommandFields, kKernelFields } = await bundled(
  `export { kCommandFields, kKernelFields } from "../generated/stream";
  export { dtypes } from "./dtype";`,
);

const kNumbers = new Map(Object.keys(kCommandFields).map((name, i) => [name, i + 1]));

export class StreamWriter {
  #words = [];
  #names = new Map();

  /** Returns all words that were written since the last call. */
  take() {
    const words = Uint32Array.from(this.#words);
    this.#words = [];
    return words;
  }

  /** Appends a command, whose fields are an object. */
  add(command, fields = {}) {
    this.#command(command, this.#struct(kCommandFields[command], fields, command));
  }

  allocate(block, bytes) {
    this.add("Allocate", { block, bytes });
  }

  free(block) {
    this.add("Free", { block });
  }

  use(block, bytes) {
    this.add("Use", { block, bytes });
  }

  idle(block) {
    this.add("Idle", { block });
  }

  write(block, offset, array) {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    this.add("Write", { block, offset, bytes });
  }

  read(block, offset, count, address, ticket) {
    this.add("Read", { block, offset, count, address, ticket });
  }

  /** Appends a call of a kernel, whose fields are an object; optional memory may be left out. */
  kernel(name, op, fields) {
    const names = { kernel: this.name(name), op: this.name(op) };
    // Encoded before the command begins, because strings in it become separate commands.
    const words = this.#struct(kKernelFields[name] ?? {}, fields, name);
    this.#command("Kernel", [...this.#struct(kCommandFields.Kernel, names, "Kernel"), ...words]);
  }

  beginRecording(recording) {
    this.add("BeginRecording", { recording });
  }

  endRecording() {
    this.add("EndRecording");
  }

  playRecording(recording) {
    this.add("Play", { recording });
  }

  forget(recording) {
    this.add("Forget", { recording });
  }

  /** Returns the number of a string. */
  name(text) {
    let number = this.#names.get(text);
    if (number === undefined) {
      number = this.#names.size + 1;
      this.#names.set(text, number);
      this.add("Name", { number, text });
    }
    return number;
  }

  /** Appends arbitrary words, valid or not. */
  raw(...words) {
    this.#words.push(...words);
  }

  #command(name, words) {
    this.#words.push((((words.length + 1) << 8) | kNumbers.get(name)) >>> 0);
    for (const word of words) this.#words.push(word);
  }

  #struct(types, fields, path) {
    const unknown = Object.keys(fields).filter((name) => !Object.hasOwn(types, name));
    if (unknown.length) throw new Error(`${path} has no field ${unknown}: ${Object.keys(types)}`);
    return Object.entries(types).flatMap(([name, type]) =>
      this.#field(type, fields[name], `${path}.${name}`),
    );
  }

  #field(type, value, path) {
    if (value === undefined && !kOptional.includes(type)) throw new Error(`${path} is missing`);
    if (type === "name") return [this.name(value)];
    if (type === "formula") return this.#formula(value);
    if (typeof type === "string") return kLeaves[type](value);
    if (!Array.isArray(type)) return this.#struct(type, value, path);
    return type.flatMap((one, i) => this.#field(one, value[i], `${path}[${i}]`));
  }

  #formula({ op, form = 0, gradientOf = -1, constants = [] }) {
    return [
      this.name(op),
      form,
      gradientOf >>> 0,
      constants.length,
      ...constants.flatMap(doubleWords),
    ];
  }
}

function bytesWords(bytes) {
  const padded = new Uint8Array(Math.ceil(bytes.length / 4) * 4);
  padded.set(bytes);
  return [bytes.length, ...new Uint32Array(padded.buffer)];
}

function int64Words(value) {
  return [...new Uint32Array(new BigInt64Array([BigInt(value)]).buffer)];
}

const doubleWords = (value) => [...new Uint32Array(new Float64Array([value]).buffer)];
const listWords = (values) => [values.length, ...values.flatMap(int64Words)];
const kOptional = ["optional memory", "optional result"];
// A view is { block, offset, dtype }.
const viewWords = (view) =>
  view ? [view.block, view.offset, dtypes.indexOf(view.dtype)] : [0, 0, 0];

// How each type of field is encoded.
const kLeaves = {
  bool: (value) => [value ? 1 : 0],
  byte: (value) => [value],
  word: (value) => [value],
  int64: int64Words,
  double: doubleWords,
  scalar: (value) =>
    typeof value === "bigint" ? [1, ...int64Words(value)] : [0, ...doubleWords(value)],
  dtype: (name) => [dtypes.indexOf(name)],
  list: listWords,
  memory: viewWords,
  "optional memory": viewWords,
  result: viewWords,
  "optional result": viewWords,
  operands: (operands) => [
    operands.length,
    ...operands.flatMap(({ view, strides }) => [...viewWords(view), ...listWords(strides)]),
  ],
  text: (text) => bytesWords(new TextEncoder().encode(text)),
  bytes: bytesWords,
};
