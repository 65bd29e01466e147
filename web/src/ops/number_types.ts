// eg.finfo() and eg.iinfo(): the numeric limits of dtypes.

import { fail } from "../runtime/errors/errors.js";
import { getDefaultDtype } from "../tensor/default_dtype.js";
import { type DType, dtypeRule, realDtype } from "../tensor/dtype.js";

/** The numeric limits of a floating-point dtype. */
export interface FloatInfo {
  /** The dtype; for a complex dtype, that of its parts. */
  readonly dtype: DType;
  /** The number of bits of a number. */
  readonly bits: number;
  /** The distance from 1 to the next larger number. */
  readonly eps: number;
  /** The largest finite number. */
  readonly max: number;
  /** The lowest finite number, which is -max. */
  readonly min: number;
  /** The smallest positive normal number. */
  readonly tiny: number;
  /** Same as `tiny`. */
  readonly smallestNormal: number;
  /** The approximate decimal resolution: 10 to the power of minus the number of exact decimal digits. */
  readonly resolution: number;
}

/** The numeric limits of an integer dtype. */
export interface IntegerInfo {
  /** The dtype. */
  readonly dtype: DType;
  /** The number of bits of a number. */
  readonly bits: number;
  /** The largest number; a bigint for int64 and uint64. */
  readonly max: number | bigint;
  /** The lowest number; a bigint for int64 and uint64. */
  readonly min: number | bigint;
}

/** Returns the numeric limits of a floating-point dtype, or of the parts of a complex one. */
export function finfo(dtype: DType = getDefaultDtype()): FloatInfo {
  dtypeRule.check("finfo", "dtype", dtype);
  const real = realDtype(dtype);
  if (real === "float32") return floatInfo(real, 32, 24, 128, 1e-6);
  if (real === "float64") return floatInfo(real, 64, 53, 1024, 1e-15);
  if (real === "float16") return floatInfo(real, 16, 11, 16, 1e-3);
  if (dtype === "bfloat16") return floatInfo(dtype, 16, 8, 128, 1e-2);
  if (dtype === "float8_e5m2") return floatInfo(dtype, 8, 3, 16, 1);
  // Its last number with the largest exponent is NaN.
  if (dtype === "float8_e4m3fn") return { ...floatInfo(dtype, 8, 4, 8, 1), max: 448, min: -448 };
  return fail(
    "DtypeMismatch",
    "finfo",
    `expected a floating-point dtype, got ${dtype}. Use iinfo() for integers.`,
  );
}

function floatInfo(
  dtype: DType,
  bits: number,
  digits: number,
  exponent: number,
  resolution: number,
): FloatInfo {
  const eps = 2 ** (1 - digits);
  // 2 ** exponent would overflow.
  const max = 2 ** (exponent - 1) * (2 - eps);
  const tiny = 2 ** (2 - exponent);
  return { dtype, bits, eps, max, min: -max, tiny, smallestNormal: tiny, resolution };
}

/** Returns the numeric limits of an integer dtype. */
export function iinfo(dtype: DType): IntegerInfo {
  dtypeRule.check("iinfo", "dtype", dtype);
  if (dtype === "uint8") return { dtype, bits: 8, min: 0, max: 255 };
  if (dtype === "uint16") return { dtype, bits: 16, min: 0, max: 2 ** 16 - 1 };
  if (dtype === "uint32") return { dtype, bits: 32, min: 0, max: 2 ** 32 - 1 };
  if (dtype === "uint64") return { dtype, bits: 64, min: 0n, max: 2n ** 64n - 1n };
  if (dtype === "int8") return { dtype, bits: 8, min: -128, max: 127 };
  if (dtype === "int16") return { dtype, bits: 16, min: -(2 ** 15), max: 2 ** 15 - 1 };
  if (dtype === "int32") return { dtype, bits: 32, min: -(2 ** 31), max: 2 ** 31 - 1 };
  if (dtype === "int64") return { dtype, bits: 64, min: -(2n ** 63n), max: 2n ** 63n - 1n };
  return fail(
    "DtypeMismatch",
    "iinfo",
    `expected an integer dtype, got ${dtype}. Use finfo() for floats.`,
  );
}
