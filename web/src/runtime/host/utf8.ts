// UTF-8, also where there is neither TextEncoder nor TextDecoder: in an AudioWorklet.

const encoder = typeof TextEncoder === "function" ? new TextEncoder() : null;
const decoder =
  typeof TextDecoder === "function" ? new TextDecoder("utf-8", { fatal: true }) : null;

/** Returns the bytes of a text. */
export function encodeUtf8(text: string): Uint8Array<ArrayBuffer> {
  if (encoder !== null) return encoder.encode(text);
  const escaped = encodeURIComponent(text).replace(/%(..)/g, (_, hex) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Uint8Array.from(escaped, (character) => character.charCodeAt(0));
}

/** Returns the text that bytes contain; throws if they are no UTF-8. Takes no memory that threads share. */
export function decodeUtf8(bytes: Uint8Array): string {
  if (decoder !== null) return decoder.decode(bytes);
  const hex = Array.from(bytes, (byte) => `%${byte.toString(16).padStart(2, "0")}`);
  return decodeURIComponent(hex.join(""));
}
