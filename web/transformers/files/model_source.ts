// What programs pass as a model: a folder, or a GGUF file.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";

/** A folder of a model's files, or a GGUF file: its address, its path in Node, a File or Blob, or its bytes. */
export type ModelSource = eg.io.FolderSource | eg.io.FileData;

/** The options that say what to open. */
export interface SourceOptions {
  readonly ggufFile?: string | undefined;
  readonly fetch?: eg.io.FetchLike | undefined;
}

/** Opens the GGUF file that a source is, or the one of a folder that is asked for or that has nothing else; null for other folders. */
export async function ggufIn(
  where: string,
  source: ModelSource,
  { ggufFile, fetch }: SourceOptions,
): Promise<eg.io.ByteReader | null> {
  const own = fetch && { fetch };
  if (ggufFile === undefined && isFile(source)) {
    return eg.io.openFile(source as eg.io.FileSource, { ...own });
  }
  const name = ggufFile ?? onlyGguf(source);
  if (name === null) return null;
  const folder = await eg.io.openFolder(source as eg.io.FolderSource, { ...own });
  const file = await folder.open(name);
  if (file === null) {
    fail("InvalidArgument", where, `there is no ${name} in the folder.`);
  }
  return file;
}

function isFile(source: unknown): boolean {
  if (typeof source === "string" || source instanceof URL) {
    return /\.gguf(?:[?#].*)?$/i.test(String(source));
  }
  return /^\[object (?:Uint8Array|ArrayBuffer|SharedArrayBuffer|Blob|File)\]$/.test(
    Object.prototype.toString.call(source),
  );
}

// The GGUF file of an object of files that has no other model.
function onlyGguf(source: unknown): string | null {
  if (Object.prototype.toString.call(source) !== "[object Object]") return null;
  const names = Object.keys(source as object);
  const found = names.filter((name) => /\.gguf$/i.test(name));
  return names.includes("config.json") || found.length !== 1 ? null : (found[0] as string);
}
