// The words of a stream (README.md), read one by one and checked.

import type { Block } from "./blocks";
import { type DType, dtypes } from "./dtype";

/** The commands of a stream. */
export const Opcode = {
  Allocate: 1,
  Free: 2,
  Write: 3,
  Read: 4,
  Kernel: 5,
  Name: 6,
  Copy: 7,
  Stamp: 8,
  Stamps: 9,
  BeginRecording: 10,
  EndRecording: 11,
  Play: 12,
  Forget: 13,
} as const;

const Tag = {
  Number: 1,
  Long: 2,
  Double: 3,
  Longs: 4,
  In: 5,
  Out: 6,
  Operands: 7,
  Text: 8,
  Doubles: 9,
} as const;

const kTagNames = Object.fromEntries(Object.entries(Tag).map(([name, tag]) => [tag, name]));

/** Elements in a block. */
export interface View {
  readonly block: Block;
  /** In bytes. */
  readonly offset: number;
  readonly dtype: DType;
}

/** Memory seen through a shape; strides count elements. */
export interface Operand {
  readonly view: View;
  readonly strides: readonly number[];
}

/** A packed array seen as [outer, size, inner] (src/kernels/rows.h). */
export interface Rows {
  readonly outer: number;
  readonly size: number;
  readonly inner: number;
}

/** What the numbers in a stream stand for. */
export interface Meanings {
  block(number: number): Block;
  name(number: number): string;
}

/** Reads a stream from word to word. */
export class Reader {
  readonly #words: Uint32Array;
  readonly #meanings: Meanings;
  readonly #double = new Float64Array(1);
  readonly #doubleWords = new Uint32Array(this.#double.buffer);
  #begin = 0;
  #at = 0;
  #end = 0;

  constructor(words: Uint32Array, meanings: Meanings) {
    this.#words = words;
    this.#meanings = meanings;
  }

  /** Goes to the next command, whatever was left of the last one; its opcode, or undefined at the end. */
  next(): number | undefined {
    this.#begin = this.#end;
    this.#at = this.#begin;
    if (this.#at >= this.#words.length) return undefined;
    const head = this.#words[this.#at] as number;
    const length = head >>> 8;
    if (length === 0 || this.#at + length > this.#words.length) {
      this.#end = this.#words.length;
      throw new Error(`a command of ${length} words where ${this.#end - this.#at} are left`);
    }
    this.#end = this.#at + length;
    this.#at += 1;
    return head & 255;
  }

  /** All words of the command, its first one too. */
  command(): Uint32Array {
    return this.#words.subarray(this.#begin, this.#end);
  }

  /** The words of the command that have not been read. */
  rest(): Uint32Array {
    return this.#words.subarray(this.#at, this.#end);
  }

  skip(words: number): void {
    this.#at += words;
  }

  word(): number {
    if (this.#at >= this.#end) throw new Error("a command is shorter than what it holds");
    return this.#words[this.#at++] as number;
  }

  /** So many bytes, and what fills up their last word. */
  bytes(count: number): Uint8Array {
    const length = Math.ceil(count / 4);
    if (this.#at + length > this.#end) throw new Error(`${count} bytes are not in the command`);
    const start = this.#words.byteOffset + 4 * this.#at;
    this.#at += length;
    return new Uint8Array(this.#words.buffer, start, 4 * length);
  }

  text(): string {
    const count = this.word();
    // A decoder takes no shared memory.
    return new TextDecoder().decode(this.bytes(count).slice(0, count));
  }

  /** A text by its number, without a tag. */
  name(): string {
    return this.#meanings.name(this.word());
  }

  /** Throws unless the command has been read to its end. */
  finish(): void {
    if (this.#at !== this.#end) throw new Error(`${this.#end - this.#at} words were not read`);
  }

  number(): number {
    this.#expect(Tag.Number);
    return this.word() | 0;
  }

  bool(): boolean {
    return this.number() !== 0;
  }

  dtype(): DType {
    this.#expect(Tag.Number);
    return dtypeOf(this.word());
  }

  long(): number {
    this.#expect(Tag.Long);
    return this.#long();
  }

  double(): number {
    this.#expect(Tag.Double);
    return this.#readDouble();
  }

  longs(): number[] {
    this.#expect(Tag.Longs);
    return Array.from({ length: this.word() }, () => this.#long());
  }

  doubles(): number[] {
    this.#expect(Tag.Doubles);
    return Array.from({ length: this.word() }, () => this.#readDouble());
  }

  namedText(): string {
    this.#expect(Tag.Text);
    return this.name();
  }

  /** Memory that must be there. */
  in(): View {
    return there(this.optionalIn());
  }

  out(): View {
    return there(this.optionalOut());
  }

  optionalIn(): View | undefined {
    this.#expect(Tag.In);
    return this.#view();
  }

  optionalOut(): View | undefined {
    this.#expect(Tag.Out);
    return this.#view();
  }

  operands(): Operand[] {
    this.#expect(Tag.Operands);
    return Array.from({ length: this.word() }, () => ({
      view: there(this.#view()),
      strides: Array.from({ length: this.word() }, () => this.#long()),
    }));
  }

  rows(): Rows {
    return { outer: this.long(), size: this.long(), inner: this.long() };
  }

  #view(): View | undefined {
    const block = this.word();
    const offset = this.word();
    const dtype = this.word();
    if (block === 0) return undefined;
    return { block: this.#meanings.block(block), offset, dtype: dtypeOf(dtype) };
  }

  #long(): number {
    const low = this.word();
    return (this.word() | 0) * 2 ** 32 + low;
  }

  #readDouble(): number {
    this.#doubleWords[0] = this.word();
    this.#doubleWords[1] = this.word();
    return this.#double[0] as number;
  }

  #expect(tag: number): void {
    const found = this.word();
    if (found !== tag)
      throw new Error(`expected a field of tag ${tag} (${kTagNames[tag]}), found ${found}`);
  }
}

function dtypeOf(number: number): DType {
  const dtype = dtypes[number];
  if (dtype === undefined) throw new Error(`${number} is no dtype`);
  return dtype;
}

function there(view: View | undefined): View {
  if (view === undefined) throw new Error("memory that a kernel needs is not there");
  return view;
}
