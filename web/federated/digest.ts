// SHA-256 of bytes.

import { fail } from "../errors/errors.js";

/** Returns the SHA-256 of bytes; throws InvalidArgument in pages without WebCrypto. */
export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) {
    fail(
      "InvalidArgument",
      "federated",
      "this page has no WebCrypto; serve it over https or from localhost.",
    );
  }
  return new Uint8Array(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
}

/** Returns the SHA-256 of bytes as hexadecimal digits; throws InvalidArgument in pages without WebCrypto. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const digest = await sha256(bytes);
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
