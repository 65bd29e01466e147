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

/** A file that is read in parts. */
export interface OpenFile {
  /** The number of bytes. */
  readonly size: number;
  /** The whole file, if it is in memory. */
  readonly bytes: Uint8Array | null;
  /** Returns the bytes from `start` up to `end`, which are valid until the next call. */
  read(start: number, end: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Opens a source; throws InvalidArgument if it has no bytes. */
export async function openFile(where: string, source: Source): Promise<OpenFile> {
  if (isA<Uint8Array>("Uint8Array", source)) return inMemory(source);
  if (isA<ArrayBuffer>("ArrayBuffer", source)) return inMemory(new Uint8Array(source));
  if (isBlob(source)) return (await import("./files/index.js")).blobFile(where, source);
  if (isA<URL>("URL", source)) {
    if (source.protocol === "file:") {
      return (await import("./files/index.js")).nodeFile(where, source);
    }
    return inMemory(await fetched(where, source));
  }
  if (isA<ResponseSource>("Response", source)) {
    return inMemory(await bodyOf(where, source));
  }
  const advice = "In Node, pass pathToFileURL(path) for a path.";
  return fail(
    "InvalidArgument",
    where,
    `expected a Uint8Array, ArrayBuffer, Blob, Response or URL, got ${described(source)}. ${advice}`,
  );
}

const inMemory = (bytes: Uint8Array): OpenFile => ({
  size: bytes.length,
  bytes,
  read: async (start, end) => bytes.subarray(start, end),
  close: async () => {},
});

/** Whether a value is a Blob or File. */
function isBlob(source: unknown): source is BlobSource {
  return isA("Blob", source) || isA("File", source);
}

// Whether a value is of a built-in class, of any realm.
function isA<T>(name: string, source: unknown): source is T {
  return Object.prototype.toString.call(source) === `[object ${name}]`;
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
