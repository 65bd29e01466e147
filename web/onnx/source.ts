// Where bytes can come from.

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
