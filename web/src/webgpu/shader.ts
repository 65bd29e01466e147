// The part of a shader that all kernels share: how it reads and writes memory, and its uniforms.
//
// A kernel's own WGSL calls load_x(i), store_y(i, value) and, for elements that other invocations also change,
// add_y(i, value) and similar functions, which return the previous value. These functions handle the dtype, the offset
// of the view and the layout of elements. Every buffer is an array of words and is bound once, even if a kernel has
// several views of it, so results may be in the same memory as operands; only distant windows of a buffer that is not
// written are bound apart. Uniforms are members of `u`.

import { type DType, isHalf, itemSize, sharesWords } from "./dtype";
import type { View, Window } from "./stream";
import { wordsOf } from "./words";

/**
 * The type of elements in a shader. "i64" is a pair of words, the low one first. "index" is an int64 that counts elements of
 * memory, as an i32. "word" is raw memory, 32 bits at a time; "fours" are vectors of four floats. "half" and "halves" are float16 as it is,
 * one and four at a time, on devices with the feature `shader-f16`.
 */
export type ElementType =
  | "f32"
  | "i32"
  | "i64"
  | "index"
  | "u32"
  | "bool"
  | "complex"
  | "word"
  | "fours"
  | "half"
  | "halves";

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
export const kTableFours = 224;

/** The WGSL type of "fours". */
export const kFoursType = "vec4<f32>";

/** The WGSL types of element types. */
export const kWgslTypes: Readonly<Record<ElementType, string>> = {
  f32: "f32",
  i32: "i32",
  i64: "vec2<u32>",
  index: "i32",
  u32: "u32",
  bool: "bool",
  complex: "vec2<f32>",
  word: "u32",
  fours: kFoursType,
  half: "f16",
  halves: "vec4<f16>",
};

/** The bytes of one indexed unit, where it differs from an element. */
const kUnitBytes: Readonly<Partial<Record<ElementType, number>>> = {
  word: 4,
  fours: 16,
  halves: 8,
};

/** Returns the size in bytes of the unit that a shader's index of a view counts. */
export function unitBytes({ view, as }: Access): number {
  return kUnitBytes[as ?? "f32"] ?? itemSize(view.dtype);
}

/** Whether the dtype and the alignment of a view permit access as "fours". */
export function isFoursAligned({ dtype, offset }: View): boolean {
  return dtype === "float32" && offset % 16 === 0;
}

/** Whether they permit access as "halves". */
export function isHalvesAligned({ dtype, offset }: View): boolean {
  return dtype === "float16" && offset % 8 === 0;
}

/** The words of a vector of four elements; 1 if elements are accessed one by one. */
function vectorWords({ as }: Access): 1 | 2 | 4 {
  return as === "fours" ? 4 : as === "halves" ? 2 : 1;
}

/**
 * Whether one shader can access all this memory: a buffer that it accesses in vectors can otherwise only be read, as floats, and of a
 * buffer that it writes it accesses one window.
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

// A single float cannot be stored in memory that is accessed in vectors of so many words, because that may store its neighbours again.
function canBeInVectors(access: Access, words: number): boolean {
  const { view, mode, as } = access;
  if (words === 1 || vectorWords(access) === words) return true;
  const isOfFloats = view.dtype === "float32" || view.dtype === "float16";
  return vectorWords(access) === 1 && mode === "read" && isOfFloats && as !== "word";
}

const kElementTypes: Readonly<Partial<Record<DType, ElementType>>> = {
  float32: "f32",
  int32: "i32",
  int64: "i64",
  uint8: "u32",
  bool: "u32",
  complex64: "complex",
  float16: "f32",
  bfloat16: "f32",
};

/** Returns the default type in shaders for elements of a dtype. */
export function elementType(dtype: DType): ElementType {
  const type = kElementTypes[dtype];
  if (type === undefined) throw new Error(`shaders do not support ${dtype}`);
  return type;
}

/** The memory of a dispatch, with each buffer, or window of one, bound once. */
export class Memory {
  readonly accesses: readonly Access[];
  /** The buffers, indexed by binding; twice if two windows of one are bound. */
  readonly blocks: View["block"][] = [];
  /** What is bound of each of them. */
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
        (one, i) => one === block && isSameWindow(this.windows[i], window),
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
    const isRaw = as === "word" || as === "fours" || as === "half" || as === "halves";
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
      const value = stored("value", type, view.dtype);
      const text = part?.store(value, memory) ?? storeText(natural, value, set);
      lines.push(
        `fn store_${name}(i: u32, value: ${kWgslTypes[type]}) { ${positionText} ${text} }`,
      );
    }
    if (mode === "atomic") lines.push(atomicText(name, natural, memory, positionText));
    return lines;
  }
}

function loadText(type: ElementType, word: (at: string) => string): string {
  if (type === "word") return word("at");
  if (type === "fours") return `bitcast<vec4<f32>>(${word("at")})`;
  if (type === "halves") return `bitcast<vec4<f16>>(${word("at")})`;
  if (type === "half") return `bitcast<vec2<f16>>(${word("at / 2u")})[at & 1u]`;
  const pair = () => `vec2(${word("2u * at")}, ${word("2u * at + 1u")})`;
  if (type === "i64") return pair();
  if (type === "complex") return `bitcast<vec2<f32>>(${pair()})`;
  return `bitcast<${type}>(${word("at")})`;
}

function storeText(
  type: ElementType,
  value: string,
  set: (at: string, value: string) => string,
): string {
  if (type === "word") return set("at", value);
  if (type === "fours") return set("at", `bitcast<vec4<u32>>(${value})`);
  if (type === "i64" || type === "complex") {
    const words = type === "i64" ? value : `bitcast<vec2<u32>>(${value})`;
    return `let words = ${words}; ${set("2u * at", "words.x")} ${set("2u * at + 1u", "words.y")}`;
  }
  return set("at", `bitcast<u32>(${value})`);
}

/** How elements that share words are stored: the elements of a word, and their bits as WGSL. */
export interface Packing {
  readonly perWord: number;
  /** The bits of one element, all ones. */
  readonly mask: string;
  readonly shift: (element: string) => string;
  /** The bits of an element of the default type of the dtype; no more than the mask has. */
  readonly bits: (value: string) => string;
}

/** Returns how the elements of a dtype that share words are stored. */
export function packingOf(dtype: DType): Packing {
  const perWord = 4 / itemSize(dtype);
  const width = 32 / perWord;
  const mask = `${2 ** width - 1}u`;
  return {
    perWord,
    mask,
    shift: (element) => `(${width}u * (${element} & ${perWord - 1}u))`,
    bits: (value) => (isHalf(dtype) ? `${dtype}_of_f32(${value})` : `(${value} & ${mask})`),
  };
}

// The texts that load and store an element that shares its word with others.
function partOfWord(dtype: DType) {
  const { perWord, mask, shift, bits } = packingOf(dtype);
  const at = `at / ${perWord}u`;
  return {
    load: (word: (at: string) => string) => {
      const part = `((${word(at)} >> ${shift("at")}) & ${mask})`;
      return isHalf(dtype) ? `f32_of_${dtype}(${part})` : part;
    },
    // Other invocations may write the other parts of this word.
    store: (value: string, memory: string) =>
      `let shift = ${shift("at")}; let word = &${memory}[${at}]; let bits = ${bits(value)}; atomicAnd(word, ~(${mask} << shift)); atomicOr(word, bits << shift);`,
  };
}

// Atomic functions: add_ for all types (complex numbers part by part); for integers also exchange_ and max_, which is valid for
// nonnegative integers only.
function atomicText(name: string, type: ElementType, memory: string, positionText: string): string {
  if (type === "complex")
    return `${atomicText(`${name}_part`, "f32", memory, "let at = i;")}
fn add_${name}(i: u32, value: vec2<f32>) -> vec2<f32> {
  ${positionText}
  return vec2(add_${name}_part(2u * at, value.x), add_${name}_part(2u * at + 1u, value.y));
}`;
  if (type === "i64") return addPairText(name, memory, positionText);
  if (type !== "i32") return addText(name, type, memory, positionText);
  return ["Add", "Max", "Exchange"]
    .map((what) => {
      const call = `atomic${what}(&${memory}[at], bitcast<u32>(value))`;
      return `fn ${what.toLowerCase()}_${name}(i: u32, value: i32) -> i32 { ${positionText} return bitcast<i32>(${call}); }`;
    })
    .join("\n");
}

// WGSL has no atomic addition of floats: compare and exchange until no other invocation has interfered.
function addText(name: string, type: ElementType, memory: string, positionText: string): string {
  return `fn add_${name}(i: u32, value: ${type}) -> ${type} {
  ${positionText}
  loop {
    let bits = atomicLoad(&${memory}[at]);
    let before = bitcast<${type}>(bits);
    let after = bitcast<u32>(before + value);
    if (atomicCompareExchangeWeak(&${memory}[at], bits, after).exchanged) {
      return before;
    }
  }
}`;
}

// The low words carry into the high ones, each addition once, in whatever order they are made. The high word of the previous
// value may be that of another moment.
function addPairText(name: string, memory: string, positionText: string): string {
  return `fn add_${name}(i: u32, value: vec2<u32>) -> vec2<u32> {
  ${positionText}
  let low = atomicAdd(&${memory}[2u * at], value.x);
  let carry = select(0u, 1u, low + value.x < low);
  return vec2(low, atomicAdd(&${memory}[2u * at + 1u], value.y + carry));
}`;
}

// Converts a loaded value to the type that the shader computes with. A u32 is an element of eight bits.
function converted(text: string, from: ElementType, to: ElementType): string {
  if (from === to) return text;
  if (from === "index") return converted(text, "i32", to);
  if (to === "index" && from !== "i64") return converted(text, from, "i32");
  if (from === "i64") return convertedPair(text, to);
  if (to === "i64") return pairOf(text, from);
  if (from === "complex" && to === "bool")
    return `any(vec2(differ_f32(${text}.x, 0f), differ_f32(${text}.y, 0f)))`;
  if (from === "complex") return converted(`(${text}).x`, "f32", to);
  if (to === "complex") return `vec2(${converted(text, from, "f32")}, 0f)`;
  if (to === "bool") return from === "f32" ? `differ_f32(${text}, 0f)` : `(${text} != 0)`;
  if (to === "f32") return `f32(${text})`;
  if (from === "f32") return converted(`int_of_f32(${text})`, "i32", to);
  return to === "i32" ? `i32(${text})` : `(u32(${text}) & 255u)`;
}

function convertedPair(text: string, to: ElementType): string {
  if (to === "bool") return `any(${text} != vec2<u32>())`;
  if (to === "index") return `index_of_i64(${text})`;
  if (to === "f32") return `f32_of_i64(${text})`;
  if (to === "complex") return `vec2(f32_of_i64(${text}), 0f)`;
  return to === "i32" ? `bitcast<i32>((${text}).x)` : `((${text}).x & 255u)`;
}

function pairOf(text: string, from: ElementType): string {
  if (from === "complex") return `i64_of_f32((${text}).x)`;
  if (from === "f32" || from === "i32") return `i64_of_${from}(${text})`;
  return `vec2(u32(${text}), 0u)`;
}

/** Returns the WGSL that converts a computed value to the type that is stored in memory. */
export function stored(text: string, from: ElementType, dtype: DType): string {
  if (from === "word" || from === "fours") return text;
  if (dtype === "bool" && from !== "bool")
    return `u32(${converted(text, from === "complex" ? "f32" : from, "bool")})`;
  return converted(text, from, elementType(dtype));
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
    ...(uniforms.table ? [`table: array<vec4<u32>, ${kTableFours}>`] : []),
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
    const some = uniforms[type];
    for (const name in some) {
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
