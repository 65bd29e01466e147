// The reference to an object in the object store, by which clients find and verify it.

/** An object in the object store. */
export interface StoredObject {
  readonly name: string;
  /** The id under which the server keeps the chunks. */
  readonly nuid: string;
  readonly chunks: number;
  readonly size: number;
  /** SHA-256 of the bytes, as hexadecimal digits. */
  readonly digest: string;
}
