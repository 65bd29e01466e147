// Reading Python's pickles of the protocols 1 to 5 as data. A pickle is a program for a stack machine, in which Python calls whatever
// the pickle names. Here, names are looked up in a list (names.ts), and nothing else is called.

import { reject } from "../broken_file.js";
import { PythonDict } from "./python_values.js";

/** What the pickle refers to outside of itself. */
export interface PickleContext {
  /** Returns what stands for a name of Python; rejects those that are not allowed. */
  find(module: string, name: string): unknown;
  /** Returns the result of a call. */
  call(callee: unknown, args: readonly unknown[]): unknown;
  /** Restores attributes of an object. */
  build(object: unknown, state: unknown): void;
  /** Returns what a persistent id stands for. */
  persistent(id: unknown): unknown;
}

/** The value of a pickle, and the position after it. */
export interface Pickled {
  readonly value: unknown;
  readonly end: number;
}

/** Reads the pickle at a position; must be called inside reading(). */
export function readPickle(bytes: Uint8Array, start: number, context: PickleContext): Pickled {
  return new PickleReader(bytes, start, context).read();
}

// More than any protocol that Python has.
const kMaxProtocol = 5;

/** The longest whole number, in bytes and as text. Reading it takes a moment at most. */
const kMaxNumberBytes = 1 << 16;
const kMaxNumberDigits = 4300;

/** Stands for no value where any value of Python can occur. */
const kNoValue = /* @__PURE__ */ Symbol("no value");

class PickleReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #context: PickleContext;
  #at: number;
  #stack: unknown[] = [];
  // The stacks below each open mark.
  readonly #marked: unknown[][] = [];
  readonly #memo = new Map<number, unknown>();

  constructor(bytes: Uint8Array, start: number, context: PickleContext) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#context = context;
    this.#at = start;
  }

  read(): Pickled {
    for (;;) {
      const opcode = this.#uint8();
      if (opcode === 0x2e) return { value: this.#pop(), end: this.#at };
      this.#step(opcode);
    }
  }

  #step(opcode: number): void {
    const value = this.#valueOf(opcode);
    if (value === kNoValue) this.#act(opcode);
    else this.#stack.push(value);
  }

  // The codes are those of Python's pickletools, whose names stand beside them. These put a value on the stack.
  #valueOf(opcode: number): unknown {
    switch (opcode) {
      case 0x4e: // NONE
        return null;
      case 0x88: // NEWTRUE
        return true;
      case 0x89: // NEWFALSE
        return false;
      case 0x49: // INT
        return this.#intText();
      case 0x4c: // LONG
        return numberOfText(this.#line().replace(/L$/, ""));
      case 0x4a: // BININT
        return this.#view.getInt32(this.#take(4), true);
      case 0x4b: // BININT1
        return this.#uint8();
      case 0x4d: // BININT2
        return this.#view.getUint16(this.#take(2), true);
      case 0x8a: // LONG1
        return numberOfBytes(this.#slice(this.#uint8()));
      case 0x8b: // LONG4
        return numberOfBytes(this.#slice(this.#uint32()));
      case 0x47: // BINFLOAT
        return this.#view.getFloat64(this.#take(8));
      case 0x54: // BINSTRING
      case 0x58: // BINUNICODE
        return this.#text(this.#uint32());
      case 0x55: // SHORT_BINSTRING
      case 0x8c: // SHORT_BINUNICODE
        return this.#text(this.#uint8());
      case 0x8d: // BINUNICODE8
        return this.#text(this.#length64());
      case 0x42: // BINBYTES
        return this.#slice(this.#uint32()).slice();
      case 0x43: // SHORT_BINBYTES
        return this.#slice(this.#uint8()).slice();
      case 0x8e: // BINBYTES8
      case 0x96: // BYTEARRAY8
        return this.#slice(this.#length64()).slice();
      case 0x5d: // EMPTY_LIST
      case 0x29: // EMPTY_TUPLE
        return [];
      case 0x7d: // EMPTY_DICT
        return new PythonDict();
      case 0x8f: // EMPTY_SET
        return new Set();
      case 0x6c: // LIST
      case 0x74: // TUPLE
        return this.#popMark();
      case 0x85: // TUPLE1
      case 0x86: // TUPLE2
      case 0x87: // TUPLE3
        return this.#popCount(opcode - 0x84);
      case 0x64: // DICT
        return withEntries(new PythonDict(), this.#popMark());
      case 0x91: // FROZENSET
        return new Set(this.#popMark());
      case 0x32: // DUP
        return this.#below(0);
      case 0x68: // BINGET
        return this.#remembered(this.#uint8());
      case 0x6a: // LONG_BINGET
        return this.#remembered(this.#uint32());
      case 0x63: // GLOBAL
        return this.#context.find(this.#line(), this.#line());
      case 0x93: // STACK_GLOBAL
        return this.#find(this.#popCount(2));
      case 0x52: // REDUCE
      case 0x81: // NEWOBJ
        return this.#call(this.#popCount(2));
      case 0x51: // BINPERSID
        return this.#context.persistent(this.#pop());
      default:
        return kNoValue;
    }
  }

  // These change what is on the stack, or remember it.
  #act(opcode: number): void {
    switch (opcode) {
      case 0x80: // PROTO
        this.#checkProtocol(this.#uint8());
        break;
      case 0x95: // FRAME
        this.#length64();
        break;
      case 0x28: // MARK
        this.#marked.push(this.#stack);
        this.#stack = [];
        break;
      case 0x30: // POP
        this.#pop();
        break;
      case 0x31: // POP_MARK
        this.#popMark();
        break;
      case 0x61: // APPEND
        appendTo(this.#below(1), this.#popCount(1));
        break;
      case 0x65: // APPENDS
        this.#extend(appendTo);
        break;
      case 0x73: // SETITEM
        withEntries(this.#below(2), this.#popCount(2));
        break;
      case 0x75: // SETITEMS
        this.#extend(withEntries);
        break;
      case 0x90: // ADDITEMS
        this.#extend(addTo);
        break;
      case 0x71: // BINPUT
        this.#memo.set(this.#uint8(), this.#below(0));
        break;
      case 0x72: // LONG_BINPUT
        this.#memo.set(this.#uint32(), this.#below(0));
        break;
      case 0x94: // MEMOIZE
        this.#memo.set(this.#memo.size, this.#below(0));
        break;
      case 0x62: // BUILD
        this.#context.build(this.#below(1), this.#pop());
        break;
      default:
        reject(
          `its pickle has the opcode ${hex(opcode)} at byte ${this.#at - 1}, which is not read here.`,
        );
    }
  }

  #find([module, name]: readonly unknown[]): unknown {
    if (typeof module !== "string" || typeof name !== "string")
      reject("its pickle names something without a name.");
    return this.#context.find(module, name);
  }

  #call([callee, args]: readonly unknown[]): unknown {
    if (!Array.isArray(args)) reject("its pickle calls something without a tuple of arguments.");
    return this.#context.call(callee, args);
  }

  #checkProtocol(version: number): void {
    if (version > kMaxProtocol)
      reject(`its pickle has the protocol ${version}; known are those up to ${kMaxProtocol}.`);
  }

  // Adds what lies above the mark to the container below it.
  #extend(add: (container: unknown, items: readonly unknown[]) => void): void {
    const items = this.#popMark();
    add(this.#below(0), items);
  }

  #pop(): unknown {
    if (this.#stack.length === 0) rejectEmpty();
    return this.#stack.pop();
  }

  #popCount(count: number): unknown[] {
    if (this.#stack.length < count) rejectEmpty();
    return this.#stack.splice(-count);
  }

  #popMark(): unknown[] {
    const items = this.#stack;
    this.#stack = this.#marked.pop() ?? rejectEmpty();
    return items;
  }

  #below(count: number): unknown {
    if (this.#stack.length <= count) rejectEmpty();
    return this.#stack[this.#stack.length - 1 - count];
  }

  #remembered(index: number): unknown {
    if (!this.#memo.has(index)) reject(`its pickle refers to the unknown object ${index}.`);
    return this.#memo.get(index);
  }

  // Returns the position of the next bytes and moves past them.
  #take(count: number): number {
    const start = this.#at;
    if (count > this.#bytes.length - start)
      reject("its pickle is truncated: it ends in the middle.");
    this.#at += count;
    return start;
  }

  #slice(length: number): Uint8Array {
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  #uint8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  #uint32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  #length64(): number {
    return Number(this.#view.getBigUint64(this.#take(8), true));
  }

  // A copy, because TextDecoder does not accept shared memory.
  #text(length: number): string {
    try {
      return strictUtf8().decode(this.#slice(length).slice());
    } catch (error) {
      if (error instanceof TypeError) reject("its pickle has a string that is not UTF-8.");
      throw error;
    }
  }

  #line(): string {
    const end = this.#bytes.indexOf(0x0a, this.#at);
    const text = this.#text((end < 0 ? this.#bytes.length : end) - this.#at);
    this.#take(1);
    return text;
  }

  // Protocol 1 writes booleans as the numbers "00" and "01".
  #intText(): number | bigint | boolean {
    const text = this.#line();
    return text === "00" || text === "01" ? text === "01" : numberOfText(text);
  }
}

function hex(byte: number): string {
  return `0x${byte.toString(16).padStart(2, "0")}`;
}

let utf8: TextDecoder | undefined;

// ignoreBOM keeps a byte order mark at the beginning of a string.
function strictUtf8(): TextDecoder {
  utf8 ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return utf8;
}

function rejectEmpty(): never {
  reject("its pickle takes more values than it has put on the stack.");
}

function appendTo(list: unknown, items: readonly unknown[]): void {
  if (!Array.isArray(list)) reject("its pickle appends to something that is not a list.");
  for (const item of items) list.push(item);
}

function withEntries(dict: unknown, items: readonly unknown[]): PythonDict {
  if (!(dict instanceof PythonDict))
    reject("its pickle sets an item of something that is not a dict.");
  if (items.length % 2 !== 0) reject("its pickle has a key without a value.");
  for (let i = 0; i < items.length; i += 2) dict.entries.push([items[i], items[i + 1]]);
  return dict;
}

function addTo(set: unknown, items: readonly unknown[]): void {
  if (!(set instanceof Set)) reject("its pickle adds to something that is not a set.");
  for (const item of items) set.add(item);
}

function numberOfText(text: string): number | bigint {
  if (!/^-?\d+$/.test(text) || text.length > kMaxNumberDigits) {
    reject(
      `its pickle has the number ${JSON.stringify(text.slice(0, 20))}, which is not whole or too long.`,
    );
  }
  return safe(BigInt(text));
}

// Two's complement, the lowest byte first.
function numberOfBytes(bytes: Uint8Array): number | bigint {
  if (bytes.length === 0) return 0;
  if (bytes.length > kMaxNumberBytes)
    reject(`its pickle has a whole number of ${bytes.length} bytes.`);
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).reverse();
  return safe(BigInt.asIntN(8 * bytes.length, BigInt(`0x${digits.join("")}`)));
}

function safe(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
