// The numbers of kernel calls as uniforms of the type that a shader computes with.

import type { ElementType } from "./element_types";
import type { Uniforms } from "./shader";

/** A type that a shader computes with. */
export type ScalarType = ElementType & ("f32" | "i32" | "i64" | "u32" | "complex");

/** Returns uniforms with `u32` and the scalars, each limited to the range of its type. The numbers of complex shaders are f32. */
export function withScalars(
  type: ScalarType,
  u32: Record<string, number>,
  scalars: Readonly<Record<string, number | bigint>>,
): Uniforms {
  if (type === "i64") return { u32, i64: mapped(scalars, int64Of) };
  const limited = mapped(scalars, (value) => limit(Number(value), type));
  if (type === "u32") return { u32: { ...u32, ...limited } };
  return { u32, [type === "complex" ? "f32" : type]: limited };
}

function mapped<T>(
  scalars: Readonly<Record<string, number | bigint>>,
  convert: (value: number | bigint) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(scalars).map(([name, value]) => [name, convert(value)]));
}

const kLargestFloat = 3.4028234663852886e38;

const kLimits: Readonly<Record<Exclude<ScalarType, "i64">, readonly [number, number]>> = {
  f32: [-kLargestFloat, kLargestFloat],
  complex: [-kLargestFloat, kLargestFloat],
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 255],
};

// Only floats can be infinite.
function limit(value: number, type: Exclude<ScalarType, "i64">): number {
  const [low, high] = kLimits[type];
  if (high === kLargestFloat && !Number.isFinite(value)) return value;
  return Math.min(Math.max(value, low), high);
}

/** Converts a number as the CPU does: towards zero, limited to the range of int64; NaN becomes 0. */
export function int64Of(value: number | bigint): bigint {
  if (typeof value === "bigint") return value;
  if (Number.isNaN(value)) return 0n;
  if (value >= 2 ** 63) return 2n ** 63n - 1n;
  return value <= -(2 ** 63) ? -(2n ** 63n) : BigInt(Math.trunc(value));
}
