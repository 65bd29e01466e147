// Decodes elements of fewer than 32 bits.

import type { TypeName } from "../proto/types.js";

// A lookup table for all 16-bit patterns: decoding each element would take longer than reading the file.
let halves: Float32Array | undefined;

/** Returns IEEE 16-bit floats. */
export function halfFloats(bits: Uint16Array): Float32Array {
  halves ??= Float32Array.from({ length: 2 ** 16 }, (_, code) => decoded(code, 5, 10, 15, true));
  const result = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) result[i] = halves[bits[i] as number] as number;
  return result;
}

/** Returns bfloat16: the upper half of a float32. */
export function upperHalves(bits: Uint16Array): Float32Array {
  const result = new Uint32Array(bits.length);
  for (let i = 0; i < bits.length; i++) result[i] = (bits[i] as number) << 16;
  return new Float32Array(result.buffer);
}

/** Returns integers of 2 or 4 bits; the first one in each byte is in its lowest bits. */
export function smallIntegers(
  bytes: Uint8Array,
  count: number,
  width: number,
  isSigned: boolean,
): Int8Array {
  const all = new Int8Array(count);
  const perByte = 8 / width;
  const most = 2 ** width;
  for (let i = 0; i < count; i++) {
    const byte = bytes[Math.floor(i / perByte)] as number;
    const bits = (byte >> (width * (i % perByte))) & (most - 1);
    all[i] = isSigned && bits >= most / 2 ? bits - most : bits;
  }
  return all;
}

/** Returns 8-bit floats that have only an exponent. */
export function powersOfTwo(bytes: Uint8Array): Float32Array {
  return Float32Array.from(bytes, (byte) => (byte === 255 ? Number.NaN : 2 ** (byte - 127)));
}

/** Returns 4-bit floats: a sign, two exponent bits and one fraction bit. */
export function float4(bits: Int8Array): Float32Array {
  return Float32Array.from(bits, (bit) => {
    const size = [0, 0.5, 1, 1.5, 2, 3, 4, 6][bit & 7] as number;
    return bit > 7 ? -size : size;
  });
}

/** Returns 8-bit floats. */
export function float8(bytes: Uint8Array, type: TypeName): Float32Array {
  const isWide = type.includes("e5");
  const isUnsignedZero = type.endsWith("uz");
  const exponent = isWide ? 5 : 4;
  const bias = 2 ** (exponent - 1) - (isUnsignedZero ? 0 : 1);
  return Float32Array.from(bytes, (byte) => {
    if (isUnsignedZero && byte === 128) return Number.NaN;
    if (type === "float8e4m3fn" && (byte & 127) === 127) return Number.NaN;
    return decoded(byte, exponent, 7 - exponent, bias, type === "float8e5m2");
  });
}

// The number with these bits: a sign, an exponent, a fraction. Only some types have infinities.
function decoded(
  bits: number,
  exponent: number,
  fraction: number,
  bias: number,
  hasInfinity: boolean,
): number {
  const sign = bits >> (exponent + fraction) ? -1 : 1;
  const power = (bits >> fraction) & (2 ** exponent - 1);
  const rest = (bits & (2 ** fraction - 1)) / 2 ** fraction;
  if (power === 0) return sign * rest * 2 ** (1 - bias);
  if (hasInfinity && power === 2 ** exponent - 1) return rest === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + rest) * 2 ** (power - bias);
}
