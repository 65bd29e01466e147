// JSON.parse() silently keeps the last of two equal keys. Different readers would interpret a file whose header
// names a tensor twice differently, so such headers are rejected.

import { decodeUtf8 } from "../runtime/host/utf8.js";
import { reject } from "./broken_file.js";

const kQuote = 0x22;
const kBackslash = 0x5c;

/** Returns a key that occurs twice in an object of the valid JSON `text`, or null. */
export function findDuplicateKey(text: string): string | null {
  // One set of keys per open object, null per open array.
  const open: (Set<string> | null)[] = [];
  // Strings that are not followed by a colon are values.
  let last = "";
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case "{":
        open.push(new Set());
        break;
      case "[":
        open.push(null);
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case '"': {
        const end = endOfString(text, at);
        last = text.slice(at, end);
        at = end - 1;
        break;
      }
      case ":": {
        const key = last.includes("\\") ? (JSON.parse(last) as string) : last.slice(1, -1);
        const keys = open.at(-1);
        if (keys?.has(key)) return key;
        keys?.add(key);
        break;
      }
    }
  }
  return null;
}

// Returns the position after the string that begins at `start`.
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== kQuote) at += text.charCodeAt(at) === kBackslash ? 2 : 1;
  return at + 1;
}

/** Returns the object that UTF-8 bytes of JSON contain; must be called inside reading(). */
export function parseJson(what: string, bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  try {
    // A copy, because TextDecoder does not accept shared memory.
    text = decodeUtf8(bytes.slice());
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
