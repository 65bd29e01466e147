// The parts of the platform's classes that files are read and written through. Declared here, because programs are compiled
// against the package without the types of pages as well.

/** The part of a Blob or File that is read. */
export interface BlobLike {
  readonly size: number;
  /** Returns the part from `start` up to `end`. */
  slice(start?: number, end?: number): BlobLike;
  /** Resolves to the bytes. */
  arrayBuffer(): Promise<ArrayBuffer>;
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
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
  abort(reason?: unknown): Promise<void>;
}

/** What a request is made with. */
export interface RequestOptions {
  readonly method?: "HEAD";
  readonly headers?: Readonly<Record<string, string>>;
}

/** The part of a Response that is read. */
export interface ResponseLike {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: { getReader(): BodyReaderLike } | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The part of a ReadableStreamDefaultReader that is read. */
export interface BodyReaderLike {
  read(): Promise<{ readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** A function like the global fetch(). */
export type FetchLike = (url: string, options?: RequestOptions) => Promise<ResponseLike>;
