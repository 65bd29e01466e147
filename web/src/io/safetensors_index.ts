// model.safetensors.index.json: which of several files has which tensor.

import { isPlainObject } from "../arguments/read.js";
import { describe } from "../runtime/errors/errors.js";
import { reject } from "./broken_file.js";
import { parseJson } from "./json_keys.js";
import { readBytes, type Source } from "./sources/source.js";

/** The largest index, with room for a hundred thousand tensors. */
const kMaxIndexSize = 2 ** 24;

/** The content of an index. */
export interface SafetensorsIndex {
  readonly metadata: Readonly<Record<string, string>>;
  /** The name of the file of each tensor. */
  readonly files: ReadonlyMap<string, string>;
}

/** Returns whether a file begins like JSON; a safetensors file begins with the size of its header, which has bytes that are 0. */
export function looksLikeIndex(start: Uint8Array): boolean {
  return !start.includes(0) && /^\{\s*"/.test(String.fromCharCode(...start));
}

/** Returns the parsed index; must be called inside readingLater(). */
export async function indexOf(source: Source): Promise<SafetensorsIndex> {
  if (source.size > kMaxIndexSize) reject(`the index of ${source.size} bytes is too large.`);
  const json = parseJson("the index", await readBytes(source, 0, source.size));
  const { weight_map: map, metadata = {} } = json;
  if (!isPlainObject(map)) {
    reject(`expected an index of safetensors files with a "weight_map", got ${describe(map)}.`);
  }
  const files = new Map<string, string>();
  for (const [tensor, file] of Object.entries(map)) {
    // The names come from outside: they must not lead to other folders or servers.
    if (typeof file !== "string" || !/^[^/\\:]+$/.test(file) || /^\.+$/.test(file)) {
      reject(`the index names ${describe(file)} as the file of ${JSON.stringify(tensor)}.`);
    }
    files.set(tensor, file);
  }
  return { metadata: textsIn(metadata), files };
}

// Indices have the number of bytes among their metadata.
function textsIn(metadata: unknown): Record<string, string> {
  if (!isPlainObject(metadata)) reject("the metadata of the index is not an object.");
  const texts = Object.entries(metadata).flatMap(([name, value]) =>
    typeof value === "object" ? [] : [[name, String(value)]],
  );
  return Object.fromEntries(texts);
}
