// Folders of files: what models are distributed as.

import { isPlainObject, readOptions } from "../arguments/read.js";
import type { Options } from "../arguments/rule.js";
import { describe, fail, refusal } from "../runtime/errors/errors.js";
import { attempt } from "../tensor/reachable.js";
import { readingLater } from "./broken_file.js";
import { bytesOf } from "./bytes.js";
import { type ByteReader, bytesAt } from "./open_file.js";
import { kFetch, kOnProgress, readerAt, type SafetensorsReader } from "./open_safetensors.js";
import type { DirectoryLike, UrlLike } from "./platform_types.js";
import { Requests } from "./sources/http.js";
import { type FileData, type Place, placesIn } from "./sources/place.js";
import { readBytes } from "./sources/source.js";

const kWhere = "openFolder";

const kOptions = {
  /** Called for each piece of a tensor that has arrived. */
  onProgress: kOnProgress,
  /** Makes the requests for an address, for example with headers of its own; default: the global `fetch`. */
  fetch: kFetch,
};

/** Options of `openFolder`. */
export type OpenFolderOptions = Options<typeof kOptions>;

/** The files of a folder by name; a string is the text of a file. */
export type FilesByName = Readonly<Record<string, FileData | string>>;

/** A folder: its path in Node, the address below which its files are, a directory that a page was given, or its files by name. */
export type FolderSource = string | UrlLike | DirectoryLike | FilesByName;

/** Files that are found by name. Made by `openFolder`. */
export class Folder {
  readonly #placeOf: (name: string) => Place | null;
  readonly #onProgress: OpenFolderOptions["onProgress"];

  /** @internal */
  constructor(
    placeOf: (name: string) => Place | null,
    onProgress: OpenFolderOptions["onProgress"],
  ) {
    this.#placeOf = placeOf;
    this.#onProgress = onProgress;
  }

  /** Returns the bytes of a file, or null if there is none of that name. */
  async bytes(name: string): Promise<Uint8Array | null> {
    const place = await this.#find("bytes", name);
    if (place === null) return null;
    return readingLater("bytes", async () => {
      const opened = await place.open();
      try {
        return bytesOf("bytes", await readBytes(opened, 0, opened.size));
      } finally {
        await opened.close();
      }
    });
  }

  /** Opens a safetensors file, or the files of a "….index.json", as `openSafetensors` does; null if there is none of that name. */
  async openSafetensors(name: string): Promise<SafetensorsReader | null> {
    const place = await this.#find("openSafetensors", name);
    return place === null ? null : readerAt(place, this.#onProgress);
  }

  /** Opens a file, whose bytes are then read in ranges; null if there is none of that name. */
  async open(name: string): Promise<ByteReader | null> {
    const place = await this.#find("open", name);
    return place === null ? null : bytesAt("open", place);
  }

  async #find(where: string, name: string): Promise<Place | null> {
    if (typeof name !== "string" || /^\.{0,2}$|[/\\]/.test(name)) {
      fail("InvalidArgument", where, refusal("name", "the name of a file in the folder", name));
    }
    const place = this.#placeOf(name);
    return place !== null && (await place.exists()) ? place : null;
  }
}

/**
 * Opens a folder without reading it: its path in Node, the address below which its files are, a FileSystemDirectoryHandle, or an object of
 * files by name. Rejects with InvalidArgument for anything else.
 */
export async function openFolder(
  source: FolderSource,
  ...rest: [options?: OpenFolderOptions]
): Promise<Folder> {
  const { onProgress, fetch: given } = readOptions(kWhere, kOptions, rest);
  const requests = new Requests(kWhere, given ?? ((url, options) => fetch(url, options)));
  return new Folder(placesIn(await filesOf(source), requests), onProgress);
}

async function filesOf(source: unknown): Promise<unknown> {
  if (typeof source === "string" || source instanceof URL) return source;
  if (isDirectory(source)) return filesIn(source);
  if (isPlainObject(source)) return Object.fromEntries(Object.entries(source).map(encoded));
  const expected =
    "a folder's path or address, a FileSystemDirectoryHandle, or an object of files by name";
  return fail("InvalidArgument", kWhere, `source: expected ${expected}, got ${describe(source)}.`);
}

const encoded = ([name, data]: [string, unknown]): [string, unknown] => [
  name,
  typeof data === "string" ? new TextEncoder().encode(data) : data,
];

function isDirectory(value: unknown): value is DirectoryLike {
  const given = value as Partial<DirectoryLike>;
  const isOne = () => given.kind === "directory" && typeof given.entries === "function";
  return attempt(isOne) === true;
}

async function filesIn(directory: DirectoryLike): Promise<Record<string, FileData>> {
  const files: [string, FileData][] = [];
  for await (const [name, handle] of directory.entries()) {
    if (handle.kind === "file" && handle.getFile) files.push([name, await handle.getFile()]);
  }
  return Object.fromEntries(files);
}
