// Where bytes can come from.

import { described, fail } from "./errors.js";

/** A Blob or File, as far as it is used: declarations must not need the DOM's. */
export interface BlobSource {
  /** Its bytes. */
  readonly size: number;
  /** Returns a part, without reading it. */
  slice(start?: number, end?: number): BlobSource;
  /** Reads it. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A Response of fetch(), as far as it is used. */
export interface ResponseSource {
  /** Whether the status is one of success. */
  readonly ok: boolean;
  /** The status code of HTTP. */
  readonly status: number;
  /** Where it came from. */
  readonly url: string;
  /** Whether its body has been read. */
  readonly bodyUsed: boolean;
  /** Reads its body. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A URL, as far as it is used. */
export interface UrlSource {
  /** The whole address. */
  readonly href: string;
  /** Its scheme, such as "https:". */
  readonly protocol: string;
}

/** Bytes, or what they can be read from. */
export type Source = Uint8Array | ArrayBuffer | BlobSource | ResponseSource | UrlSource;

/** Returns the bytes of a source; throws InvalidArgument if there are none. */
export async function bytesOf(where: string, source: Source): Promise<Uint8Array> {
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  if (isBlob(source)) return new Uint8Array(await source.arrayBuffer());
  if (source instanceof URL)
    return source.protocol === "file:" ? fileAt(where, source) : fetched(where, source);
  if (typeof Response === "function" && source instanceof Response) return bodyOf(where, source);
  const advice = "In Node, pass pathToFileURL(path) for a path.";
  return fail(
    "InvalidArgument",
    where,
    `expected a Uint8Array, ArrayBuffer, Blob, Response or URL, got ${described(source)}. ${advice}`,
  );
}

/** Whether a value is a Blob or File. */
export function isBlob(source: unknown): source is BlobSource {
  return typeof Blob === "function" && source instanceof Blob;
}

async function fetched(where: string, url: UrlSource): Promise<Uint8Array> {
  let response: ResponseSource;
  try {
    response = await fetch(url.href);
  } catch (error) {
    return fail("InvalidArgument", where, `${url.href} cannot be fetched: ${error}.`);
  }
  return bodyOf(where, response);
}

async function bodyOf(where: string, response: ResponseSource): Promise<Uint8Array> {
  const { ok, status, url, bodyUsed } = response;
  if (!ok)
    return fail(
      "InvalidArgument",
      where,
      `${url || "the response"} answered with status ${status}.`,
    );
  if (bodyUsed)
    return fail("InvalidArgument", where, "the body of the response has already been read.");
  return new Uint8Array(await response.arrayBuffer());
}

interface NodeProcess {
  getBuiltinModule?(name: string): { readFile(path: URL): Promise<Uint8Array> };
}

async function fileAt(where: string, url: URL): Promise<Uint8Array> {
  const { process } = globalThis as { process?: NodeProcess };
  const files = process?.getBuiltinModule?.("node:fs/promises");
  if (files === undefined) {
    return fail(
      "InvalidArgument",
      where,
      `${url.href} can only be read in Node: pages take a File or an http URL.`,
    );
  }
  try {
    return await files.readFile(url);
  } catch (error) {
    return fail("InvalidArgument", where, `${url.href} cannot be read: ${error}.`);
  }
}
