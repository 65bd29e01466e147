// Reads a module that the linker wrote with --emit-relocs: the functions and data to which each function and each piece of data refers. The
// format is described in "WebAssembly Object File Linking" of the tool conventions.

import { Cursor, kSection, ModuleReader } from "../building/wasm_module.mjs";

const kSymbol = { function: 0, data: 1, global: 2, section: 3, tag: 4, table: 5 };
const kSymbolTable = 8;
const kSegmentNames = 5;
const kUndefined = 0x10;
const kExplicitName = 0x40;

/** The relocation types of each kind of reference. */
const kCall = [0];
const kFunctionPointer = [1, 2, 12, 18, 19, 24, 26];
const kDataAddress = [3, 4, 5, 11, 14, 15, 16, 17, 21, 22, 23, 25];
const kAddressInCode = 4;
const kHasAddend = [...kDataAddress, 8, 9];

/** A module with all references. */
export class LinkedModule {
  /**
   * Symbols of data: segment, offset there and size; of functions: index.
   */
  #symbols = [];
  #segmentNames = [];

  constructor(bytes) {
    this.module = new ModuleReader(bytes);
    this.#readLinking();
    const { importedFunctions, functions } = this.module;
    /** For each of the module's own functions: the functions it calls and points to (own indices), and data symbols. */
    this.references = functions.map(() => ({ calls: [], pointers: [], data: [] }));
    /** References from data: where they are in the module, and a data symbol or the index of a function. */
    this.dataReferences = [];
    const own = (symbol) => symbol.index - importedFunctions;

    let holder = 0;
    for (const { kind, offset, symbol } of this.#relocations("reloc.CODE")) {
      while (offset >= functions[holder].from + functions[holder].code.length) ++holder;
      const references = this.references[holder];
      if (kCall.includes(kind)) references.calls.push(own(symbol));
      if (kFunctionPointer.includes(kind)) references.pointers.push(own(symbol));
      if (kDataAddress.includes(kind)) references.data.push(symbol);
    }
    const start = this.module.startOf(kSection.data);
    for (const { kind, offset, symbol } of this.#relocations("reloc.DATA")) {
      const isPointer = kFunctionPointer.includes(kind);
      this.dataReferences.push({ at: start + offset, symbol, isPointer });
    }
  }

  /** Returns the data segment of that name, with its index and the symbols of the objects in it. */
  segment(name) {
    const index = this.#segmentNames.indexOf(name);
    if (index < 0) throw new Error(`the linked module has no data segment ${name}`);
    const segment = this.module.segments()[index];
    // The linker's own symbols, such as the end of the data, are not objects in a segment.
    const isInside = ({ offset, size }) => offset + size <= segment.content.length;
    const symbols = this.#symbols.filter((symbol) => symbol.segment === index && isInside(symbol));
    return { index, symbols, ...segment };
  }

  /** Returns the address of a data segment, which the module itself states only in code that uses it. */
  addressOf(name) {
    const { index } = this.segment(name);
    const start = this.module.startOf(kSection.code);
    for (const { kind, offset, symbol, addend } of this.#relocations("reloc.CODE")) {
      if (kind !== kAddressInCode || symbol.segment !== index) continue;
      const value = new Cursor(this.module.bytes, start + offset).signed();
      return value - symbol.offset - addend;
    }
    throw new Error(`no function refers to the data segment ${name}`);
  }

  #readLinking() {
    const cursor = new Cursor(this.module.sections.get("linking"));
    cursor.number(); // the version
    while (cursor.at < cursor.bytes.length) {
      const part = cursor.byte();
      const size = cursor.number();
      const next = cursor.at + size;
      if (part === kSymbolTable) this.#symbols = cursor.vector(() => readSymbol(cursor));
      if (part === kSegmentNames) {
        this.#segmentNames = cursor.vector(() => {
          const name = cursor.text();
          cursor.number(); // the alignment
          cursor.number(); // the flags
          return name;
        });
      }
      cursor.at = next;
    }
  }

  #relocations(name) {
    const content = this.module.sections.get(name);
    if (content === undefined) throw new Error(`the linked module has no section ${name}`);
    const cursor = new Cursor(content);
    cursor.number(); // the section
    return cursor.vector(() => {
      const kind = cursor.byte();
      const offset = cursor.number();
      const symbol = this.#symbols[cursor.number()];
      const addend = kHasAddend.includes(kind) ? cursor.signed() : 0;
      return { kind, offset, symbol, addend };
    });
  }
}

function readSymbol(cursor) {
  const kind = cursor.byte();
  const flags = cursor.number();
  if (kind === kSymbol.data) {
    cursor.text();
    if (flags & kUndefined) return {};
    return { segment: cursor.number(), offset: cursor.number(), size: cursor.number() };
  }
  const index = cursor.number();
  if (kind !== kSymbol.section && (!(flags & kUndefined) || flags & kExplicitName)) cursor.text();
  return { index };
}
