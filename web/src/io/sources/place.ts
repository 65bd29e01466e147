// Where files are found: what a program passes to open one, and the files beside it.

import { isPlainObject } from "../../arguments/read.js";
import { describe, fail, refusal } from "../../runtime/errors/errors.js";
import { nodeFiles } from "../../runtime/host/node.js";
import { isBytes } from "../../runtime/host/realm.js";
import { pathOf } from "../../runtime/start/paths.js";
import { bytesOf } from "../bytes.js";
import type { BlobLike, UrlLike } from "../platform_types.js";
import { BlobSource, isBlob } from "./blob.js";
import { HttpSource, type Requests } from "./http.js";
import { MemorySource } from "./memory.js";
import { NodeFileSource } from "./node_file.js";
import type { Source } from "./source.js";

/** The bytes of a file, in memory or on disk. */
export type FileData = Uint8Array | ArrayBuffer | BlobLike;

/** A file, given as its bytes, its address or its path, or with others by name. */
export type FileSource = FileData | string | UrlLike | Readonly<Record<string, FileData>>;

/** The place of a file. */
export interface Place {
  open(): Promise<Source>;
  /** Whether there is a file; rejects if that cannot be found out. */
  exists(): Promise<boolean>;
  /** Returns the place of another file, by its name in the same folder. */
  beside(name: string): Place;
}

/** Returns the place that a program has passed; throws InvalidArgument for anything that is none. */
export function placeOf(source: unknown, requests: Requests): Place {
  const { where } = requests;
  if (typeof source === "string" || source instanceof URL) return addressed(source, requests);
  if (isPlainObject(source)) return placeIn(where, source);
  return {
    open: async () => sourceOfData(where, source, "the file"),
    exists: async () => true,
    beside: (name) =>
      fail(
        "InvalidArgument",
        where,
        `this is an index of several files, among them ${JSON.stringify(name)}, which cannot be found from its bytes. ` +
          "Pass all files by name: { [name]: blob }.",
      ),
  };
}

function sourceOfData(where: string, data: unknown, name: string): Source {
  if (isBlob(data)) return new BlobSource(where, data);
  if (!isBytes(data)) {
    const expected =
      "a Blob, the bytes of a file, an address, a path or an object of files by name";
    fail("InvalidArgument", where, refusal("source", expected, data));
  }
  return new MemorySource(bytesOf(where, data), name);
}

const kUrl = /^(?:https?|blob|data|file):/i;

function addressed(source: string | URL, requests: Requests): Place {
  const files = nodeFiles();
  const text = String(source);
  const isUrl = source instanceof URL || kUrl.test(text);
  if (files !== undefined && (!isUrl || /^file:/i.test(text))) {
    return {
      open: () => NodeFileSource.open(requests.where, pathOf(text), files),
      exists: async () => files.existsSync(pathOf(text)),
      beside: (name) =>
        isUrl
          ? addressed(urlBeside(text, name), requests)
          : addressed(
              text.replace(/[^/\\]*$/, () => name),
              requests,
            ),
    };
  }
  const url = isUrl ? text : urlInPage(requests.where, text);
  return {
    open: () => HttpSource.open(requests, url),
    exists: () => requests.exists(url),
    beside: (name) => addressed(urlBeside(url, name), requests),
  };
}

function urlBeside(url: string, name: string): URL {
  // The query of an address may contain a signature, which the files beside it need as well.
  const beside = new URL(encodeURIComponent(name), url);
  beside.search = new URL(url).search;
  return beside;
}

function urlInPage(where: string, text: string): string {
  try {
    return new URL(text, globalThis.location?.href).href;
  } catch {
    return fail("InvalidArgument", where, `${describe(text)} is not an address.`);
  }
}

function placeIn(where: string, files: Readonly<Record<string, unknown>>, name?: string): Place {
  const names = Object.keys(files);
  const own = name ?? names.find((name) => name.endsWith(".index.json")) ?? names[0] ?? "";
  if (!Object.hasOwn(files, own) || (name === undefined && !isComplete(names))) {
    const missing =
      name === undefined
        ? "expected one file, or several with their model.safetensors.index.json"
        : `${JSON.stringify(name)} is missing`;
    fail(
      "InvalidArgument",
      where,
      `${missing}; the files given are ${names.join(", ") || "none"}.`,
    );
  }
  return {
    open: async () => sourceOfData(where, files[own], JSON.stringify(own)),
    exists: async () => true,
    beside: (other) => placeIn(where, files, other),
  };
}

/** Returns the function that finds the files of a folder: at an address or a path, or in an object of files by name. */
export function placesIn(source: unknown, requests: Requests): (name: string) => Place | null {
  if (typeof source === "string" || source instanceof URL) {
    const folder = addressed(folderAddress(String(source)), requests);
    return (name) => folder.beside(name);
  }
  const files = source as Readonly<Record<string, unknown>>;
  const { where } = requests;
  // An index finds the other files by name; one file must not be taken for a part of several.
  return (name) => {
    if (!Object.hasOwn(files, name)) return null;
    const alone = { [name]: files[name] };
    return placeIn(where, name.endsWith(".index.json") ? files : alone, name);
  };
}

// The name of a file that follows a folder's address must not replace its last part.
function folderAddress(text: string): string {
  if (!kUrl.test(text) || !URL.canParse(text)) return `${text}/`;
  const url = new URL(text);
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url.href;
}

function isComplete(names: readonly string[]): boolean {
  return names.length === 1 || names.some((name) => name.endsWith(".index.json"));
}
