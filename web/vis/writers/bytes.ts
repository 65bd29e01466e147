// Concatenates bytes.

import type { Bytes } from "edgegrad";
/** Returns the concatenation of several byte arrays. */
export function joinBytes(parts: readonly Uint8Array[]): Bytes {
  const result = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}
