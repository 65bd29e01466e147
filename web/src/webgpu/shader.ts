// The part of a shader that all kernels share: how it reads and writes memory, and its uniforms.
//
// A kernel's own WGSL calls load_x(i), store_y(i, value) and, for elements that other invocations also change,
// add_y(i, value) and similar functions, which return the previous value. These functions handle the dtype, the offset
// of the view and the layout of elements. Every buffer is an array of words and is bound once, even if a kernel has
// several views of it, so results may be in the same memory as operands; only distant windows of a buffer that is not
// written are bound apart. Uniforms are members of `u`.

import { keysOf } from "../runtime/host/keys.js";
import { itemSize, sharesWords } from "./dtype";
import {
  atomicText,
  converted,
  type ElementType,
  elementType,
  kWgslTypes,
  loadText,
  partOfWord,
  storedText,
  storeText,
} from "./element_types";
import type { View, Window } from "./stream";
import { wordsOf } from "./words";

/** A view that a kernel accesses. */
export interface Access {
  readonly name: string;
  readonly view: View;
  /** Memory with mode "write" or "atomic" can also be read. */
  readonly mode: "read" | "write" | "atomic";
  /** The type of elements in the shader, if it differs from the default for the dtype. */
  readonly as?: ElementType;
}

/** The uniforms of a dispatch, by their WGSL type. */
export interface Uniforms {
  readonly u32?: Readonly<Record<string, number>>;
  readonly i32?: Readonly<Record<string, number>>;
  readonly f32?: Readonly<Record<string, number>>;
  readonly i64?: Readonly<Record<string, bigint>>;
  /** An array of u32, stored as vectors of four: element i is `u.table[i / 4][i % 4]`. */
  readonly table?: readonly number[];
}

/** The maximum size of a table, in vectors of four. */
export const kTableVec4s = 224;

/** The bytes of one indexed unit, where it differs from an element. */
const kUnitBytes: Readonly<Partial<Record<ElementType, number>>> = {
  word: 4,
  vec4s: 16,
  halves: 8,
};

/** Returns the size in bytes of the unit that a shader's index of a view counts. */
export function unitBytes({ view, as }: Access): number {
  return kUnitBytes[as ?? "f32"] ?? itemSize(view.dtype);
}

/** Whether the dtype and the alignment of a view permit access as "vec4s". */
export function isVec4Aligned({ dtype, offset }: View): boolean {
  return dtype === "float32" && offset % 16 === 0;
}

/** Whether they permit access as "halves". */
export function isHalvesAligned({ dtype, offset }: View): boolean {
  return dtype === "float16" && offset % 8 === 0;
}

/** The words of a vector of four elements; 1 if elements are accessed one by one. */
function vectorWords({ as }: Access): 1 | 2 | 4 {
  return as === "vec4s" ? 4 : as === "halves" ? 2 : 1;
}

/**
 * Whether one shader can access all this memory. If it accesses a buffer in vectors, all other accesses of that buffer must read floats,
 * and if it writes a buffer, all its accesses must be in one window.
 */
export function canBeAccessedTogether(memory: readonly Access[]): boolean {
  const written = memory.filter(({ mode }) => mode !== "read");
  const windows = new Map(written.map(({ view }) => [view.block, view.window]));
  const hasOther = ({ view }: Access) =>
    windows.has(view.block) && !isSameWindow(view.window, windows.get(view.block));
  if (memory.some(hasOther)) return false;
  const words = new Map<View["block"], number>();
  for (const access of memory)
    if (vectorWords(access) > 1) words.set(access.view.block, vectorWords(access));
  return memory.every((access) => canBeInVectors(access, words.get(access.view.block) ?? 1));
}

function isSameWindow(a: Window | undefined, b: Window | undefined): boolean {
  return a?.offset === b?.offset && a?.bytes === b?.bytes;
}

// A single float cannot be stored in memory that is accessed in vectors of so many words, because that may store its neighbors again.
function canBeInVectors(access: Access, words: number): boolean {
  const { view, mode, as } = access;
  if (words === 1 || vectorWords(access) === words) return true;
  const isOfFloats = view.dtype === "float32" || view.dtype === "float16";
  return vectorWords(access) === 1 && mode === "read" && isOfFloats && as !== "word";
}

/** The memory of a dispatch, with each buffer, or window of one, bound once. */
export class Memory {
  readonly accesses: readonly Access[];
  /** The buffers, indexed by binding; twice if two windows of one are bound. */
  readonly blocks: View["block"][] = [];
  /** The window of each block that is bound. */
  readonly windows: Window[] = [];
  /** Identifies everything that the declarations depend on. */
  readonly key: string;
  readonly #bindings: number[];
  readonly #isWritten: boolean[] = [];
  readonly #isAtomic: boolean[] = [];
  // The words of the vectors that buffers consist of, by binding.
  readonly #vectorWords: number[] = [];

  constructor(accesses: readonly Access[]) {
    this.accesses = accesses;
    this.#bindings = accesses.map((access) => {
      const { view, mode, as } = access;
      const { block, window = { offset: 0, bytes: block.size } } = view;
      let binding = this.blocks.findIndex(
        (other, i) => other === block && isSameWindow(this.windows[i], window),
      );
      if (binding < 0) {
        binding = this.blocks.push(block) - 1;
        this.windows.push(window);
      }
      const writesParts = mode === "write" && as !== "word" && sharesWords(view.dtype);
      this.#isWritten[binding] = this.#isWritten[binding] || mode !== "read";
      this.#isAtomic[binding] = this.#isAtomic[binding] || mode === "atomic" || writesParts;
      this.#vectorWords[binding] = Math.max(this.#vectorWords[binding] ?? 1, vectorWords(access));
      return binding;
    });
    if (!canBeAccessedTogether(accesses))
      throw new Error("a shader cannot access this memory together");
    // WebGPU does not permit one buffer to be bound both for writing and read-only.
    for (const [i, { buffer }] of this.blocks.entries()) {
      const shares = (other: View["block"], j: number) =>
        this.#isWritten[j] && other.buffer === buffer;
      this.#isWritten[i] ||= this.blocks.some(shares);
    }
    let key = "";
    for (const [i, { view, mode, as = "" }] of accesses.entries())
      key += `${view.dtype}${this.#bindings[i]}${mode[0]}${as},`;
    this.key = key + this.layout;
  }

  /** One character per binding: w if it is written, else r. */
  get layout(): string {
    return this.#isWritten.map((isWritten) => (isWritten ? "w" : "r")).join("");
  }

  /** The offsets of the views, in units: uniforms of every shader, in the order of the accesses. */
  *offsets(): Generator<number> {
    for (const access of this.accesses) {
      const { name, view } = access;
      const size = unitBytes(access);
      if (view.offset % size !== 0)
        throw new Error(`the offset ${view.offset} of ${name} is not a multiple of ${size} bytes`);
      yield (view.offset - (view.window?.offset ?? 0)) / size;
    }
  }

  declarations(): string {
    const buffers = this.blocks.map((_, binding) => {
      const access = this.#isWritten[binding] ? "read_write" : "read";
      const words = this.#vectorWords[binding];
      const unit = words === 1 ? "u32" : `vec${words}<u32>`;
      const word = this.#isAtomic[binding] ? "atomic<u32>" : unit;
      return `@group(0) @binding(${binding}) var<storage, ${access}> memory_${binding}: array<${word}>;`;
    });
    const functions = this.accesses.flatMap((access, i) => this.#functions(access, i));
    return [...buffers, ...functions].join("\n");
  }

  #functions(access: Access, i: number): string[] {
    const { name, view, mode, as } = access;
    const binding = this.#bindings[i] as number;
    const memory = `memory_${binding}`;
    const isAtomic = this.#isAtomic[binding] === true;
    const isRaw = as === "word" || as === "vec4s" || as === "half" || as === "halves";
    const natural = isRaw ? as : elementType(view.dtype);
    const type = as ?? natural;
    const words = this.#vectorWords[binding] as number;
    const word = (at: string) => {
      if (vectorWords(access) < words) return `${memory}[(${at}) / ${words}u][(${at}) % ${words}u]`;
      return isAtomic ? `atomicLoad(&${memory}[${at}])` : `${memory}[${at}]`;
    };
    const set = (at: string, value: string) =>
      isAtomic ? `atomicStore(&${memory}[${at}], ${value});` : `${memory}[${at}] = ${value};`;
    const positionText = `let at = u.offset_${name} + i;`;
    const part = isRaw || !sharesWords(view.dtype) ? null : partOfWord(view.dtype);
    const loaded = converted(part?.load(word) ?? loadText(natural, word), natural, type);
    const lines = [
      `fn load_${name}(i: u32) -> ${kWgslTypes[type]} { ${positionText} return ${loaded}; }`,
    ];
    if (mode !== "read") {
      const value = storedText("value", type, view.dtype);
      const text = part?.store(value, memory) ?? storeText(natural, value, set);
      lines.push(
        `fn store_${name}(i: u32, value: ${kWgslTypes[type]}) { ${positionText} ${text} }`,
      );
    }
    if (mode === "atomic") lines.push(atomicText(name, natural, memory, positionText));
    return lines;
  }
}

/** The parts of a shader that a kernel provides. */
export interface ShaderParts {
  readonly memory: Memory;
  readonly uniforms: Uniforms;
  readonly body: string;
}

/** Returns the complete WGSL of a shader. */
export function shaderText({ memory, uniforms, body }: ShaderParts): string {
  const text = [
    `struct Numbers { ${membersText(memory.accesses, uniforms)} }`,
    "@group(1) @binding(0) var<uniform> u: Numbers;",
    memory.declarations(),
    body,
  ].join("\n");
  return completeText(text);
}

/** Returns a shader's text with the words that it calls, and with the extension that it needs. */
export function completeText(text: string): string {
  const enabled = /\bf16\b/.test(text) ? "enable f16;\n" : "";
  return `${enabled}${wordsOf(text)}\n${text}`;
}

// Pairs come last, because they are aligned to 8 bytes.
const kUniformTypes = ["u32", "i32", "f32", "i64"] as const;

/** Returns the members of the struct of uniforms. */
export function membersText(accesses: readonly Access[], uniforms: Uniforms): string {
  return [
    ...accesses.map(({ name }) => `offset_${name}: u32`),
    ...kUniformTypes.flatMap((type) =>
      Object.keys(uniforms[type] ?? {}).map((name) => `${name}: ${kWgslTypes[type]}`),
    ),
    ...(uniforms.table ? [`table: array<vec4<u32>, ${kTableVec4s}>`] : []),
  ].join(", ");
}

// Returns the byte after the last one.
function writePairs(pairs: Uniforms["i64"], to: DataView, byte: number): number {
  const numbers = Object.values(pairs ?? {});
  if (numbers.length === 0) return byte;
  const first = Math.ceil(byte / 8) * 8;
  for (const [i, number] of numbers.entries()) to.setBigInt64(first + 8 * i, number, true);
  return first + 8 * numbers.length;
}

/** Writes the uniforms of a shader in the order of its declaration; returns the number of words. */
export function writeUniforms(
  { memory, uniforms }: Pick<ShaderParts, "memory" | "uniforms">,
  to: DataView,
): number {
  let byte = 0;
  for (const offset of memory.offsets()) {
    to.setUint32(byte, offset, true);
    byte += 4;
  }
  for (const type of kUniformTypes) {
    if (type === "i64") {
      byte = writePairs(uniforms.i64, to, byte);
      continue;
    }
    const some = uniforms[type] ?? {};
    for (const name of keysOf(some)) {
      if (type === "f32") to.setFloat32(byte, some[name] as number, true);
      else to.setUint32(byte, some[name] as number, true);
      byte += 4;
    }
  }
  if (uniforms.table === undefined) return byte / 4;
  byte = Math.ceil(byte / 16) * 16;
  for (const number of uniforms.table) {
    to.setUint32(byte, number, true);
    byte += 4;
  }
  return byte / 4;
}
