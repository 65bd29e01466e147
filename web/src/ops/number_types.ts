// What numbers a dtype holds.

import { fail } from "../runtime/errors.js";
import { getDefaultDtype } from "../tensor/default_dtype.js";
import { type DType, dtypeRule, isComplex } from "../tensor/dtype.js";

/** What a dtype of numbers with a fraction holds. */
export interface FloatInfo {
  /** The dtype of the numbers; for complex ones that of their parts. */
  readonly dtype: DType;
  /** Bits of a number. */
  readonly bits: number;
  /** The distance from 1 to the next number. */
  readonly eps: number;
  /** The largest number. */
  readonly max: number;
  /** The least number. */
  readonly min: number;
  /** The smallest number above 0 that has all digits. */
  readonly tiny: number;
  /** The same as `tiny`. */
  readonly smallestNormal: number;
  /** The decimal digits that are exact, as the last of them. */
  readonly resolution: number;
}

/** What a dtype of integers holds. */
export interface IntegerInfo {
  /** The dtype of the numbers. */
  readonly dtype: DType;
  /** Bits of a number. */
  readonly bits: number;
  /** The largest number; a bigint of int64. */
  readonly max: number | bigint;
  /** The least number; a bigint of int64. */
  readonly min: number | bigint;
}

/** Returns what a dtype of numbers with a fraction holds; of complex ones, what their parts do. */
export function finfo(dtype: DType = getDefaultDtype()): FloatInfo {
  dtypeRule.check("finfo", "dtype", dtype);
  if (dtype === "float32" || dtype === "complex64") return floatInfo("float32", 32, 24, 128, 1e-6);
  if (dtype === "float64" || isComplex(dtype)) return floatInfo("float64", 64, 53, 1024, 1e-15);
  if (dtype === "float16") return floatInfo(dtype, 16, 11, 16, 1e-3);
  if (dtype === "bfloat16") return floatInfo(dtype, 16, 8, 128, 1e-2);
  return fail("DtypeMismatch", "finfo", `${dtype} has no fractions; iinfo() is for integers.`);
}

function floatInfo(
  dtype: DType,
  bits: number,
  digits: number,
  exponent: number,
  resolution: number,
): FloatInfo {
  const eps = 2 ** (1 - digits);
  // The power alone would overflow.
  const max = 2 ** (exponent - 1) * (2 - eps);
  const tiny = 2 ** (2 - exponent);
  return { dtype, bits, eps, max, min: -max, tiny, smallestNormal: tiny, resolution };
}

/** Returns what a dtype of integers holds. */
export function iinfo(dtype: DType): IntegerInfo {
  dtypeRule.check("iinfo", "dtype", dtype);
  if (dtype === "uint8") return { dtype, bits: 8, min: 0, max: 255 };
  if (dtype === "int32") return { dtype, bits: 32, min: -(2 ** 31), max: 2 ** 31 - 1 };
  if (dtype === "int64") return { dtype, bits: 64, min: -(2n ** 63n), max: 2n ** 63n - 1n };
  return fail("DtypeMismatch", "iinfo", `${dtype} has no integers; finfo() is for floats.`);
}
