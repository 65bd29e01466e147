// Opens the sources of bytes.

import { io } from "edgegrad";
import { describe, fail } from "../errors/errors.js";
import type { BlobSource, OpenFile, ResponseSource, Source, UrlSource } from "./source.js";

/** Opens a source; throws InvalidArgument if it cannot be read. */
export async function openFile(where: string, source: Source): Promise<OpenFile> {
  if (isA<Uint8Array>("Uint8Array", source)) return inMemory(source);
  if (isA<ArrayBuffer>("ArrayBuffer", source)) return inMemory(new Uint8Array(source));
  if (isBlob(source)) return (await import("./files/index.js")).blobFile(where, source);
  if (isA<URL>("URL", source)) {
    if (source.protocol === "file:") {
      return (await import("./files/index.js")).nodeFile(where, source);
    }
    return inMemory(await fetchBytes(where, source));
  }
  if (isA<ResponseSource>("Response", source)) {
    return inMemory(await bodyOf(where, source));
  }
  const advice = "In Node, pass pathToFileURL(path) for a path.";
  return fail(
    "InvalidArgument",
    where,
    `expected a Uint8Array, ArrayBuffer, Blob, Response or URL, got ${describe(source)}. ${advice}`,
  );
}

/** Throws InvalidArgument for a file of another format, with a sentence on what opens it. */
export async function refuseOthers(where: string, file: OpenFile): Promise<void> {
  const kind = io.fileKind(await file.read(0, Math.min(file.size, kStartBytes)));
  if (kind !== null && kind.name !== "onnx") fail("InvalidArgument", where, kind.hint);
}

/** The bytes that tell the format of a file. */
const kStartBytes = 64;

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

async function fetchBytes(where: string, url: UrlSource): Promise<Uint8Array> {
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
