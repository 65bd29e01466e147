// Writing zip archives without compression, as PyTorch does.

import { crc32 } from "./crc32.js";

/** PyTorch starts the data of each file at a multiple of this, so that it can be mapped into memory. */
const kAlignment = 64;

const kHeaderBytes = 30;
const kDirectoryBytes = 46;
const kEndBytes = 22;

/** The tag of the extra field with which PyTorch fills the space before the data. */
const kPaddingTag = 0x4246;
const kTagBytes = 4;

/** Names are UTF-8. */
const kFlags = 0x0800;

/** The first day that the format can express, so that equal values give equal files. */
const kDate = 0x21;

/** The most bytes that the fields of 32 bits can express. No engine holds more, so that those of 64 bits are not written. */
export const kMaxArchiveBytes = 2 ** 32 - 2;

/** The most files that the field for their number can express; it says that another record has it from then on. */
const kMaxArchiveFiles = 2 ** 16 - 2;
const kInOtherRecord = 2 ** 16 - 1;

/** The record of zip64 at the end of an archive, and what says where it is. */
const kWideEndBytes = 56;
const kLocatorBytes = 20;
const kWideVersion = 45;

/** A file in an archive that is being laid out. */
interface Placed {
  readonly name: Uint8Array;
  readonly size: number;
  readonly start: number;
  readonly dataStart: number;
}

/** The layout of an archive: files are added with their sizes, then their data is written to their places. */
export class ZipLayout {
  readonly #files: Placed[] = [];
  #end = 0;

  /** Adds a file and returns its number. */
  add(name: string, size: number): number {
    const bytes = new TextEncoder().encode(name);
    const earliest = this.#end + kHeaderBytes + bytes.length + kTagBytes;
    const dataStart = Math.ceil(earliest / kAlignment) * kAlignment;
    this.#files.push({ name: bytes, size, start: this.#end, dataStart });
    this.#end = dataStart + size;
    return this.#files.length - 1;
  }

  /** The number of files. */
  get count(): number {
    return this.#files.length;
  }

  /** The size of the archive. */
  get bytes(): number {
    const directory = this.#files.reduce((sum, { name }) => sum + kDirectoryBytes + name.length, 0);
    const wide = this.#isWide ? kWideEndBytes + kLocatorBytes : 0;
    return this.#end + directory + wide + kEndBytes;
  }

  get #isWide(): boolean {
    return this.count > kMaxArchiveFiles;
  }

  /** Returns the part of the archive that the data of a file belongs in. */
  dataOf(archive: Uint8Array, file: number): Uint8Array {
    const { dataStart, size } = this.#files[file] as Placed;
    return archive.subarray(dataStart, dataStart + size);
  }

  /** Writes everything but the data, which must be there. */
  finish(archive: Uint8Array): void {
    const view = new DataView(archive.buffer);
    let at = this.#end;
    for (const file of this.#files) {
      const { name, size, start, dataStart } = file;
      const sum = crc32(archive.subarray(dataStart, dataStart + size));
      const padding = dataStart - start - kHeaderBytes - name.length;
      view.setUint32(start, 0x04034b50, true);
      writeFacts(view, start + 4, file, sum);
      view.setUint16(start + 28, padding, true);
      archive.set(name, start + kHeaderBytes);
      view.setUint16(start + kHeaderBytes + name.length, kPaddingTag, true);
      view.setUint16(start + kHeaderBytes + name.length + 2, padding - kTagBytes, true);
      view.setUint32(at, 0x02014b50, true);
      writeFacts(view, at + 6, file, sum);
      view.setUint32(at + 42, start, true);
      archive.set(name, at + kDirectoryBytes);
      at += kDirectoryBytes + name.length;
    }
    const directory = { start: this.#end, size: at - this.#end, count: this.count };
    if (this.#isWide) {
      writeWideEnd(view, at, directory);
      at += kWideEndBytes + kLocatorBytes;
    }
    const count = this.#isWide ? kInOtherRecord : this.count;
    view.setUint32(at, 0x06054b50, true);
    view.setUint16(at + 8, count, true);
    view.setUint16(at + 10, count, true);
    view.setUint32(at + 12, directory.size, true);
    view.setUint32(at + 16, directory.start, true);
  }
}

function writeWideEnd(
  view: DataView,
  at: number,
  { start, size, count }: { start: number; size: number; count: number },
): void {
  view.setUint32(at, 0x06064b50, true);
  view.setBigUint64(at + 4, BigInt(kWideEndBytes - 12), true);
  view.setUint16(at + 12, kWideVersion, true);
  view.setUint16(at + 14, kWideVersion, true);
  view.setBigUint64(at + 24, BigInt(count), true);
  view.setBigUint64(at + 32, BigInt(count), true);
  view.setBigUint64(at + 40, BigInt(size), true);
  view.setBigUint64(at + 48, BigInt(start), true);
  const locator = at + kWideEndBytes;
  view.setUint32(locator, 0x07064b50, true);
  view.setBigUint64(locator + 8, BigInt(at), true);
  view.setUint32(locator + 16, 1, true);
}

// The fields that an entry's header and the directory have in the same order.
function writeFacts(view: DataView, at: number, { name, size }: Placed, sum: number): void {
  view.setUint16(at + 2, kFlags, true);
  view.setUint16(at + 8, kDate, true);
  view.setUint32(at + 10, sum, true);
  view.setUint32(at + 14, size, true);
  view.setUint32(at + 18, size, true);
  view.setUint16(at + 22, name.length, true);
}
