// Key agreement between two clients (X25519), and keys that are derived from it (HKDF).

import { fail } from "../../errors/errors.js";
import { base64Of } from "./bytes.js";

/** The size of private keys, public keys and seeds in bytes. */
export const kKeyBytes = 32;

// The PKCS #8 header of a private key.
const kPkcs8Prefix = [
  0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x04, 0x22, 0x04, 0x20,
];
const kX25519 = { name: "X25519" };

/** A key pair. */
export interface KeyPair {
  readonly secret: Uint8Array;
  readonly open: Uint8Array;
}

/** Throws InvalidArgument unless this JavaScript engine supports secure aggregation. */
export async function checkAgreement(where: string): Promise<void> {
  try {
    await newKeyPair();
  } catch {
    const needed = "Node 20, Chrome 133, Firefox 130 or Safari 17, and pages over https";
    const message = `secure aggregation needs X25519 in WebCrypto, which is not here: ${needed}.`;
    fail("InvalidArgument", where, message);
  }
}

/** Creates a key pair. */
export async function newKeyPair(): Promise<KeyPair> {
  const secret = globalThis.crypto.getRandomValues(new Uint8Array(kKeyBytes));
  return { secret, open: await openKeyOf(secret) };
}

/** Returns the public key of a private one. */
export async function openKeyOf(secret: Uint8Array): Promise<Uint8Array> {
  const { x = "" } = await crypto.subtle.exportKey("jwk", await importSecret(secret));
  const text = atob(x.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/**
 * Returns the shared key of the owners of `secret` and `open`, as key material for HKDF; null if `open` is not a valid public key, such as
 * one of small order.
 */
export async function agree(secret: Uint8Array, open: Uint8Array): Promise<CryptoKey | null> {
  try {
    const other = await crypto.subtle.importKey("raw", buffer(open), kX25519, false, []);
    const parameters = { ...kX25519, public: other };
    const bits = await crypto.subtle.deriveBits(parameters, await importSecret(secret), 256);
    return materialOf(new Uint8Array(bits));
  } catch {
    return null;
  }
}

/** Returns bytes as key material for HKDF. */
export function materialOf(bytes: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", buffer(bytes), "HKDF", false, ["deriveKey"]);
}

/** Derives the key of a cipher from key material, for a purpose. */
export function cipherKey(
  material: CryptoKey,
  cipher: "AES-CTR" | "AES-GCM",
  purpose: string,
): Promise<CryptoKey> {
  const info = new TextEncoder().encode(`edgegrad ${cipher} ${purpose}`);
  const hkdf = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info };
  const kind = { name: cipher, length: 256 };
  return crypto.subtle.deriveKey(hkdf, material, kind, false, ["encrypt", "decrypt"]);
}

/** The same bytes, in the type that WebCrypto accepts. */
export function buffer(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}

/** Whether two public keys are the same. */
export function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return base64Of(a) === base64Of(b);
}

function importSecret(secret: Uint8Array): Promise<CryptoKey> {
  const bytes = Uint8Array.from([...kPkcs8Prefix, ...secret]);
  // Extractable, because only exporting it gives the public key.
  return crypto.subtle.importKey("pkcs8", bytes, kX25519, true, ["deriveBits"]);
}
