// Reading zip archives, the form of the files of torch.save: the directory at the end, and single entries. Sizes come from the directory
// alone, as in PyTorch's reader, because PyTorch writes them after the data.

import { reject } from "../broken_file.js";
import { readBytes, type Source } from "../sources/source.js";
import { crc32 } from "./crc32.js";

/** A file in an archive. */
export interface ZipEntry {
  readonly name: string;
  /** How it is compressed: 0 for not at all, 8 for deflate. */
  readonly method: number;
  /** The checksum of the content; 0 if it is unknown. */
  readonly checksum: number;
  readonly packedSize: number;
  readonly size: number;
  /** The position of the entry's own header, which is followed by the data. */
  readonly start: number;
}

const kEndSignature = 0x06054b50;
const kEnd64Signature = 0x06064b50;
const kLocator64Signature = 0x07064b50;
const kDirectorySignature = 0x02014b50;
const kHeaderSignature = 0x04034b50;

const kEndBytes = 22;
const kLocator64Bytes = 20;
const kEnd64Bytes = 56;
const kDirectoryBytes = 46;
const kHeaderBytes = 30;

/** The longest comment at the end of an archive. */
const kMaxComment = 0xffff;

const kStored = 0;
const kDeflated = 8;

/** In 32 bits, this says that the number is in the extra field that zip64 adds. */
const kIn64Bits = 0xffffffff;

/** An archive may hold at most this many times its own size in compressed entries: torch.save compresses nothing. */
const kMaxInflation = 4;

/** Returns whether a file begins like a zip archive. */
export function looksLikeZip(start: Uint8Array): boolean {
  return start[0] === 0x50 && start[1] === 0x4b && start[2] === 0x03 && start[3] === 0x04;
}

/** Returns the files of an archive by name; must be called inside readingLater(). */
export async function readDirectory(source: Source): Promise<ReadonlyMap<string, ZipEntry>> {
  const { start, size, end } = await findDirectory(source);
  if (start + size > end) reject("the directory of the zip archive lies beyond its end.");
  const bytes = await readBytes(source, start, start + size);
  const entries = new Map<string, ZipEntry>();
  for (let at = 0; at < size; ) {
    const { entry, next } = entryAt(bytes, at);
    if (entries.has(entry.name)) reject(`the zip archive has ${quoted(entry)} twice.`);
    entries.set(entry.name, entry);
    at = next;
  }
  checkPlaces([...entries.values()], start);
  checkInflation([...entries.values()], source.size);
  return entries;
}

async function findDirectory(
  source: Source,
): Promise<{ start: number; size: number; end: number }> {
  const tailStart = Math.max(0, source.size - kEndBytes - kMaxComment);
  const tail = await readBytes(source, tailStart, source.size);
  const view = viewOf(tail);
  let at = tail.length - kEndBytes;
  while (at >= 0 && !isEndAt(view, at)) at--;
  if (at < 0) reject("it begins like a zip archive and has no end of one: it is truncated.");
  const found = {
    size: view.getUint32(at + 12, true),
    start: view.getUint32(at + 16, true),
    end: tailStart + at,
  };
  const locatorAt = at - kLocator64Bytes;
  if (locatorAt < 0 || view.getUint32(locatorAt, true) !== kLocator64Signature) return found;
  const end = numberAt(view, locatorAt + 8);
  if (end + kEnd64Bytes > tailStart + locatorAt) reject("the end of the zip archive is damaged.");
  const end64 = viewOf(await readBytes(source, end, end + kEnd64Bytes));
  if (end64.getUint32(0, true) !== kEnd64Signature)
    reject("the end of the zip archive is damaged.");
  return { size: numberAt(end64, 40), start: numberAt(end64, 48), end };
}

// The end record is followed by a comment of the length that it states, up to the end of the file.
function isEndAt(view: DataView, at: number): boolean {
  if (view.getUint32(at, true) !== kEndSignature) return false;
  return at + kEndBytes + view.getUint16(at + 20, true) === view.byteLength;
}

function entryAt(bytes: Uint8Array, at: number): { entry: ZipEntry; next: number } {
  const view = viewOf(bytes);
  const isThere = at + kDirectoryBytes <= bytes.length;
  if (!isThere || view.getUint32(at, true) !== kDirectorySignature)
    reject("the directory of the zip archive is damaged.");
  const nameStart = at + kDirectoryBytes;
  const extraStart = nameStart + view.getUint16(at + 28, true);
  const extraEnd = extraStart + view.getUint16(at + 30, true);
  const next = extraEnd + view.getUint16(at + 32, true);
  if (next > bytes.length) reject("the directory of the zip archive is damaged.");
  const name = new TextDecoder().decode(bytes.slice(nameStart, extraStart));
  const wide = wideNumbers(view, extraStart, extraEnd);
  // Numbers that do not fit in 32 bits are in zip64's extra field, in this order.
  const [size, packedSize, start] = [24, 20, 42].map((offset) => {
    const number = view.getUint32(at + offset, true);
    if (number !== kIn64Bits) return number;
    return wide.next().value ?? reject("the directory of the zip archive lacks a size.");
  }) as [number, number, number];
  const method = view.getUint16(at + 10, true);
  const entry = { name, method, checksum: view.getUint32(at + 16, true), packedSize, size, start };
  if ((view.getUint16(at + 8, true) & 1) !== 0) reject(`${quoted(entry)} is encrypted.`);
  if (method !== kStored && method !== kDeflated) {
    reject(`${quoted(entry)} has the unknown compression method ${method}.`);
  }
  if (method === kStored && size !== packedSize) reject(`${quoted(entry)} has two sizes.`);
  return { entry, next };
}

// The 64-bit numbers of the extra field with the tag 1.
function* wideNumbers(view: DataView, start: number, end: number): Generator<number, undefined> {
  for (let at = start; at + 4 <= end; ) {
    const length = view.getUint16(at + 2, true);
    const content = at + 4;
    at = content + length;
    if (at > end || view.getUint16(content - 4, true) !== 1) continue;
    for (let i = content; i + 8 <= at; i += 8) yield numberAt(view, i);
  }
  return undefined;
}

// An archive whose entries share bytes could hold far more than its size.
function checkPlaces(entries: readonly ZipEntry[], directory: number): void {
  const sorted = [...entries].sort((a, b) => a.start - b.start);
  sorted.forEach((entry, i) => {
    const end = entry.start + kHeaderBytes + entry.packedSize;
    if (end > (sorted[i + 1]?.start ?? directory)) {
      reject(`${quoted(entry)} overlaps what follows it in the zip archive.`);
    }
  });
}

function checkInflation(entries: readonly ZipEntry[], fileSize: number): void {
  const inflated = entries.reduce(
    (sum, { method, size }) => sum + (method === kStored ? 0 : size),
    0,
  );
  if (inflated > kMaxInflation * fileSize) {
    reject(
      `its compressed entries hold ${inflated} bytes, more than ${kMaxInflation} times the ${fileSize} bytes of the zip archive. ` +
        "Pack it again without compression.",
    );
  }
}

/** Returns the content of an entry in pieces, and checks it; must be called inside readingLater(). */
export async function* contentOf(source: Source, entry: ZipEntry): AsyncIterable<Uint8Array> {
  const start = await dataStart(source, entry);
  const packed = source.pieces(start, start + entry.packedSize);
  let [size, sum] = [0, 0];
  for await (const piece of entry.method === kStored ? packed : inflated(packed)) {
    size += piece.length;
    if (size > entry.size) break;
    sum = crc32(piece, sum);
    yield piece;
  }
  if (size !== entry.size)
    reject(`${quoted(entry)} does not have the size that the zip archive states.`);
  // PyTorch can be told not to compute checksums.
  if (entry.checksum !== 0 && sum !== entry.checksum) {
    reject(`${quoted(entry)} is damaged: its checksum differs from that in the zip archive.`);
  }
}

// The entry's own header repeats the name, and has an extra field of its own, with which PyTorch aligns the data.
async function dataStart(source: Source, entry: ZipEntry): Promise<number> {
  const header = viewOf(await readBytes(source, entry.start, entry.start + kHeaderBytes));
  if (header.getUint32(0, true) !== kHeaderSignature)
    reject(`${quoted(entry)} is not where the zip archive says.`);
  const start =
    entry.start + kHeaderBytes + header.getUint16(26, true) + header.getUint16(28, true);
  if (start + entry.packedSize > source.size)
    reject(`${quoted(entry)} lies beyond the end of the zip archive.`);
  return start;
}

async function* inflated(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  try {
    const { readable, writable } = new DecompressionStream("deflate-raw");
    reader = readable.getReader();
    const written = feed(writable, packed);
    // Whoever reads sees the same failure first.
    written.catch(() => {});
    for (;;) {
      const { value } = await reader.read();
      if (value === undefined) break;
      yield value;
    }
    await written;
  } catch {
    reject("its compressed data is damaged.");
  } finally {
    void reader?.cancel().catch(() => {});
  }
}

async function feed(
  writable: WritableStream<BufferSource>,
  packed: AsyncIterable<Uint8Array>,
): Promise<void> {
  const writer = writable.getWriter();
  // Copies, because such streams do not accept shared memory.
  for await (const piece of packed) await writer.write(piece.slice());
  await writer.close();
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// A number beyond 2 ** 53 becomes one that is beyond every file.
function numberAt(view: DataView, at: number): number {
  return Number(view.getBigUint64(at, true));
}

function quoted({ name }: { readonly name: string }): string {
  return JSON.stringify(name.slice(0, 100));
}
