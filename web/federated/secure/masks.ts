// Masks: AES-CTR streams as integers modulo 2^32. They are added to updates and cancel out in the sum.

import { cipherKey } from "./agreement.js";

const kWordBytes = 4;
const kWordsAtOnce = 2 ** 18;
const kBlockBytes = 16;

/** Adds or subtracts the mask of a key, modulo 2^32. */
export async function addMask(
  integers: Uint32Array,
  material: CryptoKey,
  purpose: string,
  sign: 1 | -1,
): Promise<void> {
  const key = await cipherKey(material, "AES-CTR", purpose);
  for (let at = 0; at < integers.length; at += kWordsAtOnce) {
    const part = integers.subarray(at, at + kWordsAtOnce);
    const counter = new Uint8Array(kBlockBytes);
    new DataView(counter.buffer).setUint32(
      kBlockBytes - kWordBytes,
      (at * kWordBytes) / kBlockBytes,
    );
    const zeros = new Uint8Array(part.length * kWordBytes);
    const stream = await crypto.subtle.encrypt(
      { name: "AES-CTR", counter, length: 32 },
      key,
      zeros,
    );
    const words = new DataView(stream);
    for (let i = 0; i < part.length; i++) {
      // Uint32Array keeps the lowest 32 bits.
      part[i] = (part[i] as number) + sign * words.getUint32(i * kWordBytes, true);
    }
  }
}

/** Returns the bytes of integers in little-endian order. */
export function bytesOfIntegers(integers: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(integers.length * kWordBytes);
  const view = new DataView(bytes.buffer);
  for (const [i, integer] of integers.entries()) view.setUint32(i * kWordBytes, integer, true);
  return bytes;
}

/** Returns the integers of bytes; null if their number is not `count`. */
export function integersOfBytes(bytes: Uint8Array, count: number): Uint32Array | null {
  if (bytes.length !== count * kWordBytes) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Uint32Array.from({ length: count }, (_, i) => view.getUint32(i * kWordBytes, true));
}
