// JSON.parse() silently keeps the last of two equal keys. Different readers would interpret a file whose header
// names a tensor twice differently, so such headers are rejected.

import { reject } from "./broken_file.js";

/** Returns a key that occurs twice in an object of the valid JSON `text`, or null. */
export function findDuplicateKey(text: string): string | null {
  // One set of keys per open object, null per open array.
  const open: (Set<string> | null)[] = [];
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}[\]]/g)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token.endsWith(":")) {
      const key: string = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1));
      const keys = open[open.length - 1];
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return null;
}

/** Returns the object that UTF-8 bytes of JSON contain; must be called inside reading(). */
export function parseJson(what: string, bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    reject(`${what} is not UTF-8 text.`);
  }
  if (!text.startsWith("{")) reject(`${what} does not start with "{".`);
  let json: unknown;
  let duplicate: string | null;
  try {
    json = JSON.parse(text);
    duplicate = findDuplicateKey(text);
  } catch (error) {
    reject(`${what} is not JSON: ${(error as Error).message}.`);
  }
  if (duplicate !== null) reject(`${what} has two entries ${JSON.stringify(duplicate)}.`);
  return json as Record<string, unknown>;
}
