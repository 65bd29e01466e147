// The parts of the platform's classes that files are read and written through. Declared here, because programs are also compiled
// against the package without the types of pages.

import type { Bytes } from "../tensor/own_memory.js";
/** The part of a Blob or File that is read. */
export interface BlobLike {
  /** The number of bytes. */
  readonly size: number;
  /** Returns the part from `start` up to `end`. */
  slice(start?: number, end?: number): BlobLike;
  /** Resolves to the bytes. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The part of a FileSystemDirectoryHandle that is read. */
export interface DirectoryLike {
  /** What tells it from a file. */
  readonly kind: "directory";
  /** Returns the files and folders in it by name. */
  entries(): AsyncIterable<[string, DirectoryEntryLike]>;
}

/** The part of a FileSystemHandle in a directory that is read. */
export interface DirectoryEntryLike {
  /** What it is. */
  readonly kind: "file" | "directory";
  /** Resolves to the file, if it is one. */
  getFile?(): Promise<BlobLike>;
}

/** The part of a URL that is read. */
export interface UrlLike {
  /** The address as text. */
  readonly href: string;
}

/** The part of a WritableStream that is used. */
export interface StreamLike {
  /** Returns a writer, which has the stream for itself. */
  getWriter(): StreamWriterLike;
}

/** The part of a WritableStreamDefaultWriter that is used. */
export interface StreamWriterLike {
  /** Resolves when the stream has taken the bytes. */
  write(bytes: Bytes): Promise<void>;
  /** Resolves when everything is written. */
  close(): Promise<void>;
  /** Gives up what was written. */
  abort(reason?: unknown): Promise<void>;
}

/** What a request is made with. */
export interface RequestOptions {
  /** The method, if it is not GET. */
  readonly method?: "HEAD";
  /** The headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The part of a Response that is read. */
export interface ResponseLike {
  /** Whether the status is one of success. */
  readonly ok: boolean;
  /** The status of HTTP. */
  readonly status: number;
  /** The headers. */
  readonly headers: HeadersLike;
  /** The bytes as they arrive. */
  readonly body: BodyLike | null;
  /** Resolves to all bytes. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The part of Headers that is read. */
export interface HeadersLike {
  /** Returns the header of a name. */
  get(name: string): string | null;
}

/** The part of a ReadableStream that is read. */
export interface BodyLike {
  /** Returns a reader, which has the stream for itself. */
  getReader(): BodyReaderLike;
}

/** The part of a ReadableStreamDefaultReader that is read. */
export interface BodyReaderLike {
  /** Resolves to the next bytes. */
  read(): Promise<BodyPiece>;
  /** Stops the stream. */
  cancel(): Promise<void>;
}

/** What a BodyReaderLike returns. */
export interface BodyPiece {
  /** The bytes; undefined at the end. */
  readonly value?: Uint8Array | undefined;
}

/** A function like the global fetch(). */
export type FetchLike = (url: string, options?: RequestOptions) => Promise<ResponseLike>;
