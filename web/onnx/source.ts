// The sources of bytes.

/** The part of Blob and File that is used: the declarations must not depend on those of the DOM. */
export interface BlobSource {
  /** The number of bytes. */
  readonly size: number;
  /** Returns a part, without reading it. */
  slice(start?: number, end?: number): BlobSource;
  /** Reads it. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The part of fetch()'s Response that is used. */
export interface ResponseSource {
  /** Whether the status means success. */
  readonly ok: boolean;
  /** The HTTP status code. */
  readonly status: number;
  /** The address of the response. */
  readonly url: string;
  /** Whether its body has been read. */
  readonly bodyUsed: boolean;
  /** Reads its body. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The part of URL that is used. */
export interface UrlSource {
  /** The whole address. */
  readonly href: string;
  /** Its scheme, such as "https:". */
  readonly protocol: string;
}

/** Bytes, or a source to read them from. */
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
