// Files that are read in parts, at any position.

import { reject } from "../broken_file.js";

/** A file that is read in parts. */
export interface Source {
  /** The name of the source in messages, such as its path. */
  readonly name: string;
  /** The number of bytes. */
  readonly size: number;
  /**
   * Returns the bytes from `start` up to `end` in pieces of any size. With `isTransient`, the memory of a piece may have other bytes when the
   * next one is asked for. Must be called inside readingLater().
   */
  pieces(start: number, end: number, isTransient?: boolean): AsyncIterable<Uint8Array>;
  /** Releases what is open. */
  close(): Promise<void>;
}

/** The size of pieces where the reader decides: large enough that calls do not matter, small compared with a model. */
export const kPieceBytes = 8 * 2 ** 20;

/** Returns the bytes from `start` up to `end`; must be called inside readingLater(). */
export async function readBytes(source: Source, start: number, end: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let arrived = 0;
  for await (const piece of source.pieces(start, end)) {
    parts.push(piece);
    arrived += piece.length;
    if (arrived > end - start) break;
  }
  if (arrived !== end - start) reject(`${source.name} ends before byte ${end}.`);
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : joined(parts, arrived);
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Returns the ranges of at most kPieceBytes from `start` up to `end`. */
export function* ranges(start: number, end: number): Iterable<[start: number, end: number]> {
  for (let at = start; at < end; at += kPieceBytes) yield [at, Math.min(at + kPieceBytes, end)];
}
