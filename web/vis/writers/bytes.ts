// Bytes that belong together.

import type { Bytes } from "edgegrad";
/** Returns the bytes of several arrays as one. */
export function joinBytes(parts: readonly Uint8Array[]): Bytes {
  const result = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}
