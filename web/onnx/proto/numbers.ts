// Lists of numbers in protobuf's packed form: the elements of tensors, which can be as long as the file.

/** Returns the number of integers in these bytes; the last one may be incomplete. */
export function countIntegers(bytes: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < bytes.length; i++) count += (bytes[i] as number) < 128 ? 1 : 0;
  return count;
}

/**
 * Decodes the integers in these bytes to pairs of 32-bit words, or to their lower words only. Returns false if one has more than ten
 * bytes or is incomplete.
 */
export function readIntegers(
  bytes: Uint8Array,
  lower: Int32Array,
  upper: Int32Array | null,
  stride: number,
): boolean {
  let at = 0;
  for (let i = 0; at < bytes.length; i += stride) {
    let low = 0;
    let high = 0;
    for (let shift = 0; ; shift += 7) {
      if (shift > 63 || at >= bytes.length) return false;
      const byte = bytes[at++] as number;
      const bits = byte & 127;
      if (shift < 32) low |= bits << shift;
      if (shift > 28) high |= shift >= 32 ? bits << (shift - 32) : 0;
      if (shift === 28) high |= bits >> 4;
      if (byte < 128) break;
    }
    lower[i] = low;
    if (upper !== null) upper[i] = high;
  }
  return true;
}
