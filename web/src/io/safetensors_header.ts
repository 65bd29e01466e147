// Reading safetensors files from untrusted sources: everything in the header is checked against the file, and memory is
// only allocated for data that exists in the file.

import { describe } from "../runtime/errors/errors.js";
import { reading, reject } from "./broken_file.js";
import { bytesOf, countOf } from "./bytes.js";
import { refuseOthers } from "./file_kinds.js";
import { HeaderReader, type RawEntry, shortName } from "./safetensors_json.js";
import { kHeaderBytes, kMaxHeaderSize, kMetadataKey } from "./safetensors_layout.js";
import type { StoredTensor } from "./stored_elements.js";
import { kStoredTypes } from "./stored_types.js";

/** A tensor in a file, and the range of its data. */
export interface Entry extends StoredTensor {
  readonly start: number;
  readonly end: number;
}

/** The parsed header of a file. */
export interface Header {
  /** The metadata: strings by name. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly entries: readonly Entry[];
}

/** A parsed file. */
export interface SafetensorsFile extends Header {
  /** The data that the ranges of the entries refer to. */
  readonly data: Uint8Array;
}

/** Parses and fully validates a file; throws InvalidArgument if it is not a valid safetensors file. */
export function parseFile(where: string, bytes: unknown): SafetensorsFile {
  const file = bytesOf(where, bytes);
  refuseOthers(where, file, ["safetensors"]);
  return reading(where, () => {
    const headerEnd = headerEndOf(file.subarray(0, kHeaderBytes), file.length);
    const text = file.subarray(kHeaderBytes, headerEnd);
    return { ...headerOf(text, file.length - headerEnd), data: file.subarray(headerEnd) };
  });
}

/** Returns where the header of a file of `size` bytes ends; must be called inside reading(). */
export function headerEndOf(start: Uint8Array, fileSize: number): number {
  if (start.length < kHeaderBytes)
    reject(`expected at least ${kHeaderBytes} bytes, got ${start.length}.`);
  const size = new DataView(start.buffer, start.byteOffset).getBigUint64(0, true);
  if (size > BigInt(kMaxHeaderSize))
    reject(`its header size of ${size} bytes is too large; at most ${kMaxHeaderSize} are read.`);
  const end = kHeaderBytes + Number(size);
  if (end > fileSize) reject(`its header ends at byte ${end}, beyond its ${fileSize} bytes.`);
  return end;
}

/** Returns the parsed and validated header of a file with `available` bytes of data; must be called inside reading(). */
export function headerOf(bytes: Uint8Array, available: number): Header {
  const reader = new HeaderReader(bytes);
  const entries: Entry[] = [];
  let metadata: Record<string, string> | undefined = {};
  reader.all((name) => {
    if (name === kMetadataKey) metadata = reader.texts();
    else entries.push(entryOf(name, reader.entry()));
    if (metadata === undefined) reject("the metadata is not an object of strings.");
  });
  checkRanges(entries, available);
  return { metadata, entries };
}

function entryOf(name: string, value: unknown): Entry {
  const where = () => `tensor ${shortName(name)}`;
  if (typeof value !== "object" || value === null)
    reject(`${where()}: its entry is ${describe(value)}.`);
  const { dtype, shape, data_offsets: range } = value as RawEntry;
  const type = kStoredTypes.get(dtype as string);
  if (typeof dtype !== "string" || type === undefined) {
    reject(
      `${where()}: unsupported dtype ${describe(dtype)}; supported are ${[...kStoredTypes.keys()]}.`,
    );
  }
  if (!isSizes(shape)) reject(`${where()}: its shape is not an array of sizes.`);
  if (!isSizes(range) || range.length !== 2)
    reject(`${where()}: its data_offsets are not two byte offsets.`);
  const [start = 0, end = 0] = range;
  const count =
    countOf(shape) ?? reject(`${where()}: its shape has more than 64 dimensions or is too large.`);
  if (end - start !== count * type.bytes) {
    reject(`${where()}: ${dtype} of shape [${shape}] does not take ${end - start} bytes.`);
  }
  return { name, type, shape, count, start, end };
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

// Checks that the data has no gaps, no overlaps and nothing after the last tensor.
function checkRanges(entries: readonly Entry[], available: number): void {
  // Files have them in order, nearly always.
  const isSorted = entries.every(
    ({ start }, i) => i === 0 || (entries[i - 1] as Entry).end <= start,
  );
  const sorted = isSorted
    ? entries
    : [...entries].sort((a, b) => a.start - b.start || a.end - b.end);
  let end = 0;
  for (const entry of sorted) {
    const where = () => `tensor ${shortName(entry.name)}`;
    if (entry.end > available)
      reject(`${where()} ends at byte ${entry.end}, beyond the ${available} bytes of data.`);
    if (entry.start !== end) {
      const what = entry.start < end ? "overlaps the tensor before it" : "leaves a gap before it";
      reject(`${where()} ${what}: it starts at byte ${entry.start} instead of ${end}.`);
    }
    ({ end } = entry);
  }
  if (end !== available)
    reject(`the tensors end at byte ${end}, the file has ${available} bytes of data.`);
}
