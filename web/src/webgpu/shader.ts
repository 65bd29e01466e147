// The part of a shader that is the same for all kernels: how it reads and writes memory, and its numbers.
//
// A kernel's own text calls load_x(i), store_y(i, value) and, of numbers that other invocations change as
// well, add_y(i, value) and the like, which give what was there. These functions know the dtype, where the view
// begins and how elements lie. Every buffer is an array of words and bound once, however many views of it
// a kernel has: so results may lie in the memory of operands. Numbers are members of `u`.

import { type DType, itemSize } from "./dtype";
import type { View } from "./stream";
import { wordsOf } from "./words";

/** What a shader's text computes with; "word" is memory as it lies, 32 bits at a time; "fours" are four floats. */
export type ElementType = "f32" | "i32" | "u32" | "bool" | "complex" | "word" | "fours";

/** One view that a kernel accesses. */
export interface Access {
  readonly name: string;
  readonly view: View;
  /** What is written can be read, too. */
  readonly mode: "read" | "write" | "atomic";
  /** What elements are on the shader's side, if not what they are by their dtype. */
  readonly as?: ElementType;
}

/** The numbers of a dispatch, by their WGSL type. */
export interface Uniforms {
  readonly u32?: Readonly<Record<string, number>>;
  readonly i32?: Readonly<Record<string, number>>;
  readonly f32?: Readonly<Record<string, number>>;
  /** Many u32, in fours: number i is `u.table[i / 4][i % 4]`. */
  readonly table?: readonly number[];
}

/** The most that a table can have. */
export const kTableFours = 224;

/** The WGSL type of four floats. */
export const kFoursType = "vec4<f32>";

/** The types in WGSL. */
export const kWgslTypes: Readonly<Record<ElementType, string>> = {
  f32: "f32",
  i32: "i32",
  u32: "u32",
  bool: "bool",
  complex: "vec2<f32>",
  word: "u32",
  fours: kFoursType,
};

/** Bytes of what counts as one, where that is not an element. */
const kUnitBytes: Readonly<Partial<Record<ElementType, number>>> = { word: 4, fours: 16 };

/** Bytes of what a shader counts in a view. */
export function unitBytes({ view, as }: Access): number {
  return kUnitBytes[as ?? "f32"] ?? itemSize(view.dtype);
}

/** Whether shaders may see the floats of a view as "fours", as far as the view is concerned. */
export function isFoursAligned({ dtype, offset }: View): boolean {
  return dtype === "float32" && offset % 16 === 0;
}

const kElementTypes: Readonly<Partial<Record<DType, ElementType>>> = {
  float32: "f32",
  int32: "i32",
  int64: "i32",
  uint8: "u32",
  bool: "u32",
  complex64: "complex",
};

/** What shaders see elements of a dtype as. */
export function elementType(dtype: DType): ElementType {
  const type = kElementTypes[dtype];
  if (type === undefined) throw new Error(`there is no ${dtype} in shaders`);
  return type;
}

/** The memory of a dispatch, each buffer once. */
export class Memory {
  readonly accesses: readonly Access[];
  /** The buffers by their bindings. */
  readonly blocks: View["block"][] = [];
  /** What the declarations depend on. */
  readonly key: string;
  readonly #bindings: number[];
  readonly #isWritten: boolean[] = [];
  readonly #isAtomic: boolean[] = [];
  readonly #isInFours: boolean[] = [];

  constructor(accesses: readonly Access[]) {
    this.accesses = accesses;
    this.#bindings = accesses.map(({ view, mode, as }) => {
      let binding = this.blocks.indexOf(view.block);
      if (binding < 0) binding = this.blocks.push(view.block) - 1;
      const sharesWords = mode === "write" && as !== "word" && itemSize(view.dtype) === 1;
      this.#isWritten[binding] = this.#isWritten[binding] || mode !== "read";
      this.#isAtomic[binding] = this.#isAtomic[binding] || mode === "atomic" || sharesWords;
      const isInFours = as === "fours";
      this.#isInFours[binding] ??= isInFours;
      if (this.#isInFours[binding] !== isInFours)
        throw new Error("a buffer is seen in fours by some of a shader alone");
      return binding;
    });
    // Of one buffer WebGPU has all bindings written or none.
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

  /** A letter for every binding: w where it is written, else r. */
  get layout(): string {
    return this.#isWritten.map((isWritten) => (isWritten ? "w" : "r")).join("");
  }

  /** Where the views begin, in their elements: numbers of every shader, in the order of the accesses. */
  *offsets(): Generator<number> {
    for (const access of this.accesses) {
      const { name, view } = access;
      const size = unitBytes(access);
      if (view.offset % size !== 0) throw new Error(`${name} lies at an odd offset`);
      yield view.offset / size;
    }
  }

  declarations(): string {
    const buffers = this.blocks.map((_, binding) => {
      const access = this.#isWritten[binding] ? "read_write" : "read";
      const unit = this.#isInFours[binding] ? "vec4<u32>" : "u32";
      const word = this.#isAtomic[binding] ? "atomic<u32>" : unit;
      return `@group(0) @binding(${binding}) var<storage, ${access}> memory_${binding}: array<${word}>;`;
    });
    const functions = this.accesses.flatMap((access, i) => this.#functions(access, i));
    return [...buffers, ...functions].join("\n");
  }

  #functions({ name, view, mode, as }: Access, i: number): string[] {
    const binding = this.#bindings[i] as number;
    const memory = `memory_${binding}`;
    const isAtomic = this.#isAtomic[binding] === true;
    const natural = as === "word" || as === "fours" ? as : elementType(view.dtype);
    const type = as ?? natural;
    const word = (at: string) => (isAtomic ? `atomicLoad(&${memory}[${at}])` : `${memory}[${at}]`);
    const set = (at: string, value: string) =>
      isAtomic ? `atomicStore(&${memory}[${at}], ${value});` : `${memory}[${at}] = ${value};`;
    const positionText = `let at = u.offset_${name} + i;`;
    const loaded = converted(loadText(view.dtype, natural, word), natural, type);
    const lines = [
      `fn load_${name}(i: u32) -> ${kWgslTypes[type]} { ${positionText} return ${loaded}; }`,
    ];
    if (mode !== "read") {
      const value = stored("value", type, view.dtype);
      const text = storeText(view.dtype, natural, value, set, memory);
      lines.push(
        `fn store_${name}(i: u32, value: ${kWgslTypes[type]}) { ${positionText} ${text} }`,
      );
    }
    if (mode === "atomic") lines.push(atomicText(name, natural, memory, positionText));
    return lines;
  }
}

function loadText(dtype: DType, type: ElementType, word: (at: string) => string): string {
  if (type === "word") return word("at");
  if (type === "fours") return `bitcast<vec4<f32>>(${word("at")})`;
  if (dtype === "int64") return `bitcast<i32>(${word("2u * at")})`;
  if (type === "complex")
    return `bitcast<vec2<f32>>(vec2(${word("2u * at")}, ${word("2u * at + 1u")}))`;
  if (type === "u32") return `((${word("at >> 2u")} >> (8u * (at & 3u))) & 255u)`;
  return `bitcast<${type}>(${word("at")})`;
}

function storeText(
  dtype: DType,
  type: ElementType,
  value: string,
  set: (at: string, value: string) => string,
  memory: string,
): string {
  if (type === "word") return set("at", value);
  if (type === "fours") return set("at", `bitcast<vec4<u32>>(${value})`);
  if (dtype === "int64")
    return `let number = ${value}; ${set("2u * at", "bitcast<u32>(number)")} ${set("2u * at + 1u", "bitcast<u32>(number >> 31u)")}`;
  if (type === "complex")
    return `let bits = bitcast<vec2<u32>>(${value}); ${set("2u * at", "bits.x")} ${set("2u * at + 1u", "bits.y")}`;
  if (type === "u32")
    // Other invocations may write the other bytes of this word.
    return `let shift = 8u * (at & 3u); atomicAnd(&${memory}[at >> 2u], ~(255u << shift)); atomicOr(&${memory}[at >> 2u], (${value} & 255u) << shift);`;
  return set("at", `bitcast<u32>(${value})`);
}

// add_; of integers also exchange_ and, of those that are not negative, max_; of complex numbers add_ a part at a time.
function atomicText(name: string, type: ElementType, memory: string, positionText: string): string {
  if (type === "complex")
    return `${atomicText(`${name}_part`, "f32", memory, "let at = i;")}
fn add_${name}(i: u32, value: vec2<f32>) -> vec2<f32> {
  ${positionText}
  return vec2(add_${name}_part(2u * at, value.x), add_${name}_part(2u * at + 1u, value.y));
}`;
  if (type !== "i32") return addText(name, type, memory, positionText);
  return ["Add", "Max", "Exchange"]
    .map((what) => {
      const call = `atomic${what}(&${memory}[at], bitcast<u32>(value))`;
      return `fn ${what.toLowerCase()}_${name}(i: u32, value: i32) -> i32 { ${positionText} return bitcast<i32>(${call}); }`;
    })
    .join("\n");
}

// What no atomic does: again until nobody has come between.
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

// What was loaded, as what the shader computes with. A u32 has eight bits, as an element of memory.
function converted(text: string, from: ElementType, to: ElementType): string {
  if (from === to) return text;
  if (from === "complex" && to === "bool")
    return `any(vec2(differ_f32(${text}.x, 0f), differ_f32(${text}.y, 0f)))`;
  if (from === "complex") return converted(`(${text}).x`, "f32", to);
  if (to === "complex") return `vec2(${converted(text, from, "f32")}, 0f)`;
  if (to === "bool") return from === "f32" ? `differ_f32(${text}, 0f)` : `(${text} != 0)`;
  if (to === "f32") return `f32(${text})`;
  if (from === "f32") return converted(`int_of_f32(${text})`, "i32", to);
  return to === "i32" ? `i32(${text})` : `(u32(${text}) & 255u)`;
}

// The other way round: what the shader computed as what lies in memory.
function stored(text: string, from: ElementType, dtype: DType): string {
  if (from === "word" || from === "fours") return text;
  if (dtype === "bool" && from !== "bool")
    return `u32(${converted(text, from === "complex" ? "f32" : from, "bool")})`;
  return converted(text, from, elementType(dtype));
}

/** What a kernel gives of a shader. */
export interface ShaderParts {
  readonly memory: Memory;
  readonly uniforms: Uniforms;
  readonly body: string;
}

/** The whole text. */
export function shaderText({ memory, uniforms, body }: ShaderParts): string {
  const members = [
    ...memory.accesses.map(({ name }) => `offset_${name}: u32`),
    ...kUniformTypes.flatMap((type) =>
      Object.keys(uniforms[type] ?? {}).map((name) => `${name}: ${type}`),
    ),
    ...(uniforms.table ? [`table: array<vec4<u32>, ${kTableFours}>`] : []),
  ];
  const text = [
    `struct Numbers { ${members.join(", ")} }`,
    "@group(1) @binding(0) var<uniform> u: Numbers;",
    memory.declarations(),
    body,
  ].join("\n");
  return `${wordsOf(text)}\n${text}`;
}

const kUniformTypes = ["u32", "i32", "f32"] as const;

/** Writes the numbers of a shader in the order of its text; the number of words. */
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
