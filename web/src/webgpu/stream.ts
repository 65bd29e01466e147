// Decodes and checks the words of a stream (README.md), command by command, as described by generated/stream.ts.

import { type Commands, kCommandFields } from "../generated/stream";
import { keysOf } from "../runtime/host/keys.js";
import type { Block } from "./blocks";
import { type DType, dtypes } from "./dtype";

/** Elements in a block: memory that a kernel accesses. */
export interface View {
  readonly block: Block;
  /** In bytes. */
  readonly offset: number;
  readonly dtype: DType;
  /** The part of the block that is bound, if not all of it (kernels/windows.ts). */
  readonly window?: Window;
}

/** Bytes of a block; the offset is a multiple of `kWindowUnit`. */
export interface Window {
  readonly offset: number;
  readonly bytes: number;
}

/** Every device can bind memory from a multiple of so many bytes. */
export const kWindowUnit = 256;

/** Memory indexed by a shape; strides count elements. */
export interface Operand {
  readonly view: View;
  readonly strides: readonly number[];
}

/** An elementwise formula: the value of an op, or the gradient of one of its inputs. */
export interface Formula {
  readonly op: string;
  /** The form of the formula (src/formulas/forms.h). */
  readonly form: number;
  /** The input whose gradient it is; -1 for the value. */
  readonly gradientOf: number;
  /** The constants in the formula, from left to right: of the value, or of all gradients. */
  readonly constants: readonly number[];
}

/** The fields of a struct by name, in the order of the stream. */
export interface Fields {
  readonly [name: string]: FieldType;
}

/** The type of a field: a leaf, a nested struct, or an array of fields. */
export type FieldType = keyof Leaves | Fields | readonly FieldType[];

type Leaves = { readonly [K in keyof typeof kLeaves]: unknown };

/** Resolves the numbers of blocks and strings in a stream. */
export interface Symbols {
  /** `isWritten` tells whether the kernel writes this memory. */
  block(number: number, isWritten: boolean): Block;
  name(number: number): string;
}

// The names of commands, in the order of their numbers.
const kCommands = Object.keys(kCommandFields) as CommandName[];

/** The name of a command. */
export type CommandName = keyof Commands;

// The decoder of each leaf type.
const kLeaves = {
  bool: (reader: Reader) => reader.word() !== 0,
  byte: (reader: Reader) => reader.word(),
  word: (reader: Reader) => reader.word(),
  int64: (reader: Reader) => reader.int64(),
  double: (reader: Reader) => reader.double(),
  scalar: (reader: Reader) => reader.scalar(),
  dtype: (reader: Reader) => dtypeOf(reader.word()),
  list: (reader: Reader) => reader.list(),
  memory: (reader: Reader) => required(reader.view(false)),
  "optional memory": (reader: Reader) => reader.view(false),
  result: (reader: Reader) => required(reader.view(true)),
  "optional result": (reader: Reader) => reader.view(true),
  operands: (reader: Reader) => reader.operands(),
  formula: (reader: Reader) => reader.formula(),
  name: (reader: Reader) => reader.name(),
  text: (reader: Reader) => reader.text(),
  bytes: (reader: Reader) => reader.bytes(),
} as const;

/** Reads a stream word by word. */
export class Reader {
  #words: Uint32Array;
  readonly #symbols: Symbols;
  readonly #double = new Float64Array(1);
  readonly #doubleWords = new Uint32Array(this.#double.buffer);
  #begin = 0;
  #at = 0;
  #end = 0;

  constructor(words: Uint32Array, symbols: Symbols) {
    this.#words = words;
    this.#symbols = symbols;
  }

  /** Moves to the next command, skipping the rest of the current one. Returns its name, or undefined at the end. */
  next(): CommandName | undefined {
    this.#begin = this.#end;
    this.#at = this.#begin;
    if (this.#at >= this.#words.length) return undefined;
    const head = this.#words[this.#at] as number;
    const length = head >>> 8;
    if (length === 0 || this.#at + length > this.#words.length) {
      this.#end = this.#words.length;
      throw new Error(`a command has ${length} words, but only ${this.#end - this.#at} are left`);
    }
    this.#end = this.#at + length;
    this.#at += 1;
    const name = kCommands[(head & 255) - 1];
    if (name === undefined) throw new Error(`there is no command ${head & 255}`);
    return name;
  }

  /** Begins the current command again. */
  rewind(): void {
    this.#at = this.#begin + 1;
  }

  /** Copies the words, whose memory the caller may reuse from now on. */
  keepWords(): void {
    this.#words = this.#words.slice();
  }

  /** Reads the fields of the command; for a Kernel command, those before the kernel's own fields. */
  command<Name extends CommandName>(name: Name): Commands[Name] {
    return this.read(kCommandFields[name]);
  }

  /** Returns all words of the command, including the first one. */
  words(): Uint32Array {
    return this.#words.subarray(this.#begin, this.#end);
  }

  /** Returns the words of the commands after this one. */
  following(): Uint32Array {
    return this.#words.subarray(this.#end);
  }

  /** Returns the words of the command that have not been read yet. */
  rest(): Uint32Array {
    return this.#words.subarray(this.#at, this.#end);
  }

  skip(words: number): void {
    this.#at += words;
  }

  /** Reads a struct as an object with a property for each field. */
  read<Struct>(fields: Fields): Struct {
    const struct: Record<string, unknown> = {};
    for (const name of keysOf(fields)) struct[name] = this.#field(fields[name] as FieldType);
    return struct as Struct;
  }

  #field(type: FieldType): unknown {
    if (typeof type === "string") return kLeaves[type](this);
    return Array.isArray(type) ? type.map((item) => this.#field(item)) : this.read(type as Fields);
  }

  /** Throws unless the command has been read to its end. */
  finish(): void {
    if (this.#at !== this.#end)
      throw new Error(`a command has ${this.#end - this.#at} words more than its fields`);
  }

  word(): number {
    if (this.#at >= this.#end) throw new Error("a command is shorter than its fields");
    return this.#words[this.#at++] as number;
  }

  int64(): number {
    const low = this.word();
    return (this.word() | 0) * 2 ** 32 + low;
  }

  double(): number {
    this.#doubleWords[0] = this.word();
    this.#doubleWords[1] = this.word();
    return this.#double[0] as number;
  }

  /** Reads a number; an integer that is not exact as a double is a bigint. */
  scalar(): number | bigint {
    if (this.word() === 0) return this.double();
    const low = this.word();
    const high = this.word() | 0;
    const value = high * 2 ** 32 + low;
    return Number.isSafeInteger(value) ? value : (BigInt(high) << 32n) + BigInt(low);
  }

  list(): number[] {
    return Array.from({ length: this.word() }, () => this.int64());
  }

  /** Reads bytes, including the padding of the last word. */
  bytes(): Uint8Array {
    return this.#padded(this.word());
  }

  text(): string {
    const count = this.word();
    // TextDecoder does not accept shared memory.
    return new TextDecoder().decode(this.#padded(count).slice(0, count));
  }

  /** Reads the number of a string and returns the string. */
  name(): string {
    return this.#symbols.name(this.word());
  }

  view(isWritten: boolean): View | undefined {
    const block = this.word();
    const offset = this.word();
    const dtype = this.word();
    if (block === 0) return undefined;
    return { block: this.#symbols.block(block, isWritten), offset, dtype: dtypeOf(dtype) };
  }

  /** Reads operands, of which the first is the result. */
  operands(): Operand[] {
    return Array.from({ length: this.word() }, (_, i) => ({
      view: required(this.view(i === 0)),
      strides: this.list(),
    }));
  }

  formula(): Formula {
    return {
      op: this.name(),
      form: this.word(),
      gradientOf: this.word() | 0,
      constants: Array.from({ length: this.word() }, () => this.double()),
    };
  }

  #padded(count: number): Uint8Array {
    const length = Math.ceil(count / 4);
    if (this.#at + length > this.#end)
      throw new Error(`a command is shorter than its ${count} bytes`);
    const start = this.#words.byteOffset + 4 * this.#at;
    this.#at += length;
    return new Uint8Array(this.#words.buffer, start, 4 * length);
  }
}

function dtypeOf(number: number): DType {
  const dtype = dtypes[number];
  if (dtype === undefined) throw new Error(`${number} is not a dtype`);
  return dtype;
}

function required(view: View | undefined): View {
  if (view === undefined) throw new Error("memory that a kernel needs is missing");
  return view;
}
