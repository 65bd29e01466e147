// SHA-256 of bytes.

import { fail } from "../nats/errors.js";

/** Returns the SHA-256 of bytes as hexadecimal digits; throws InvalidArgument in pages without WebCrypto. */
export async function digestOf(bytes: Uint8Array): Promise<string> {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) {
    fail(
      "InvalidArgument",
      "federated",
      "this page has no WebCrypto; serve it over https or from localhost.",
    );
  }
  const digest = new Uint8Array(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
