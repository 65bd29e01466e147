// Base64.

/** Returns bytes as Base64. */
export function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** Decodes Base64; returns null if it is invalid or does not have the expected length. */
export function bytesOf(text: unknown, length: number): Uint8Array | null {
  // Checks the length first (four digits for three bytes), so that nothing long is decoded.
  if (typeof text !== "string" || text.length !== 4 * Math.ceil(length / 3)) return null;
  try {
    const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    return bytes.length === length ? bytes : null;
  } catch {
    return null;
  }
}
