// The elements of memory in WGSL: the types that shaders compute with, and the texts that load, store, convert and add elements of each
// dtype. Memory is an array of 32-bit words; `word(at)` is the text of one of them.

import { type DType, isHalf, isShort, itemSize } from "./dtype";

/**
 * The type of elements in a shader. "i64" is a pair of words, the low one first. "index" is an int64 that counts elements of
 * memory, as an i32. "word" is raw memory, 32 bits at a time; "vec4s" are vectors of four floats. "half" and "halves" are float16 as it is,
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
  | "vec4s"
  | "half"
  | "halves";

/** The WGSL type of "vec4s". */
export const kVec4Type = "vec4<f32>";

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
  vec4s: kVec4Type,
  half: "f16",
  halves: "vec4<f16>",
};

const kElementTypes: Readonly<Partial<Record<DType, ElementType>>> = {
  float32: "f32",
  int32: "i32",
  int64: "i64",
  uint8: "u32",
  bool: "u32",
  complex64: "complex",
  float16: "f32",
  bfloat16: "f32",
  int8: "i32",
  int16: "i32",
};

/** Returns the default type in shaders for elements of a dtype. */
export function elementType(dtype: DType): ElementType {
  const type = kElementTypes[dtype];
  if (type === undefined) throw new Error(`shaders do not support ${dtype}`);
  return type;
}

/** Returns the WGSL that loads the element at index `at`, of a type that does not share words. */
export function loadText(type: ElementType, word: (at: string) => string): string {
  if (type === "word") return word("at");
  if (type === "vec4s") return `bitcast<vec4<f32>>(${word("at")})`;
  if (type === "halves") return `bitcast<vec4<f16>>(${word("at")})`;
  if (type === "half") return `bitcast<vec2<f16>>(${word("at / 2u")})[at & 1u]`;
  const pair = () => `vec2(${word("2u * at")}, ${word("2u * at + 1u")})`;
  if (type === "i64") return pair();
  if (type === "complex") return `bitcast<vec2<f32>>(${pair()})`;
  return `bitcast<${type}>(${word("at")})`;
}

/** Returns the WGSL that stores such an element; `set` returns the text that stores one word. */
export function storeText(
  type: ElementType,
  value: string,
  set: (at: string, value: string) => string,
): string {
  if (type === "word") return set("at", value);
  if (type === "vec4s") return set("at", `bitcast<vec4<u32>>(${value})`);
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
    bits: (value) => {
      if (isHalf(dtype)) return `${dtype}_of_f32(${value})`;
      return `(${isShort(dtype) ? `bitcast<u32>(${value})` : value} & ${mask})`;
    },
  };
}

/** Returns the texts that load and store an element that shares its word with others. */
export function partOfWord(dtype: DType) {
  const { perWord, mask, shift, bits } = packingOf(dtype);
  const at = `at / ${perWord}u`;
  return {
    load: (word: (at: string) => string) => {
      // As an i32, its sign is extended.
      if (isShort(dtype))
        return `extractBits(bitcast<i32>(${word(at)}), ${shift("at")}, ${32 / perWord}u)`;
      const part = `((${word(at)} >> ${shift("at")}) & ${mask})`;
      return isHalf(dtype) ? `f32_of_${dtype}(${part})` : part;
    },
    // Other invocations may write the other parts of this word.
    store: (value: string, memory: string) =>
      `let shift = ${shift("at")}; let word = &${memory}[${at}]; let bits = ${bits(value)}; atomicAnd(word, ~(${mask} << shift)); atomicOr(word, bits << shift);`,
  };
}

/**
 * Returns the atomic functions of a view: add_ for all types (complex numbers part by part); for integers also exchange_ and max_,
 * which is valid for nonnegative integers only.
 */
export function atomicText(
  name: string,
  type: ElementType,
  memory: string,
  positionText: string,
): string {
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

/** Returns the WGSL that converts a loaded value to the type that the shader computes with. A u32 is an element of eight bits. */
export function converted(text: string, from: ElementType, to: ElementType): string {
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
export function storedText(text: string, from: ElementType, dtype: DType): string {
  if (from === "word" || from === "vec4s") return text;
  if (dtype === "bool" && from !== "bool")
    return `u32(${converted(text, from === "complex" ? "f32" : from, "bool")})`;
  return converted(text, from, elementType(dtype));
}
