// The types in which shaders compare elements.

import type { DType } from "../dtype";

/** Integers that fit 32 bits are compared as such, because pairs of words are slower. */
export type OrderedType = "f32" | "i32" | "i64";

export function orderedType(dtype: DType): OrderedType {
  if (dtype === "float32") return "f32";
  return dtype === "int64" ? "i64" : "i32";
}

/** Returns the WGSL that tells whether `a` is less than `b`. */
export function lessText(type: OrderedType, a: string, b: string): string {
  return type === "i64" ? `less_i64(${a}, ${b})` : `(${a} < ${b})`;
}

/** Returns the WGSL that tells whether `a` equals `b`. */
export function equalText(type: OrderedType, a: string, b: string): string {
  return type === "i64" ? `equal_i64(${a}, ${b})` : `(${a} == ${b})`;
}
