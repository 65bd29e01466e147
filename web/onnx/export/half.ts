// Encodes 16-bit floats. All numbers passed in are representable in the type, so nothing is rounded.

/** Returns the bits of float16 numbers. */
export function halfBits(numbers: Float32Array): Uint16Array {
  return Uint16Array.from(
    new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length),
    halfOf,
  );
}

/** Returns the bits of bfloat16 numbers: the upper half of those of float32. */
export function upperBits(numbers: Float32Array): Uint16Array {
  return Uint16Array.from(
    new Uint32Array(numbers.buffer, numbers.byteOffset, numbers.length),
    (bits) => bits >>> 16,
  );
}

// From the bits of float32: the exponent has 5 bits instead of 8, and the fraction 10 instead of 23.
function halfOf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const exponent = (bits >>> 23) & 0xff;
  const fraction = bits & 0x7fffff;
  if (exponent === 0xff) return sign | 0x7c00 | (fraction === 0 ? 0 : 0x200);
  const own = exponent - 127 + 15;
  if (own > 0) return sign | (own << 10) | (fraction >>> 13);
  // Below the smallest normal number the leading one is a part of the fraction.
  const shift = 14 - own;
  return shift > 24 ? sign : sign | ((fraction | 0x800000) >>> shift);
}
