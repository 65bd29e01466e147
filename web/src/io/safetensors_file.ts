// Reading safetensors files from untrusted sources: everything in the header is checked against the file, and memory is
// only allocated for data that exists in the file.

import { filledBy } from "../ops/create.js";
import { describe, EdgeGradError, fail } from "../runtime/errors.js";
import { fitsInt64, type StoredArray } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { bytesOf, countOf } from "./bytes.js";
import { findDuplicateKey } from "./json_keys.js";
import { kHeaderBytes, kMaxHeaderSize, kMetadataKey } from "./safetensors_layout.js";
import { kStoredTypes, type StoredType } from "./safetensors_types.js";

/** A tensor in a file. */
export interface Entry {
  readonly name: string;
  readonly type: StoredType;
  readonly shape: readonly number[];
  readonly count: number;
  readonly start: number;
  readonly end: number;
}

/** A parsed file. */
export interface SafetensorsFile {
  /** The metadata: strings by name. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly entries: readonly Entry[];
  /** The data that the ranges of the entries refer to. */
  readonly data: Uint8Array;
}

/** Calls `read`, and turns the error of reject() into an EdgeGradError of `where`. */
export function reading<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    throw new EdgeGradError("InvalidArgument", `[${where}] invalid file: ${error.message}`);
  }
}

class BrokenFile extends Error {}

/** Reports a problem with a file; must be called inside reading(). */
export function reject(problem: string): never {
  throw new BrokenFile(problem);
}

/** Parses and fully validates a file; throws InvalidArgument if it is not a valid safetensors file. */
export function parseFile(where: string, bytes: unknown): SafetensorsFile {
  const file = bytesOf(where, bytes);
  return reading(where, () => {
    const headerEnd = headerEndOf(file);
    const { [kMetadataKey]: metadata, ...tensors } = parseHeader(
      file.slice(kHeaderBytes, headerEnd),
    );
    if (!isTextMap(metadata ?? {})) reject("the metadata is not an object of strings.");
    const entries = Object.entries(tensors).map(([name, value]) => entryOf(name, value));
    const data = file.subarray(headerEnd);
    checkRanges(entries, data.length);
    return { metadata: (metadata ?? {}) as Record<string, string>, entries, data };
  });
}

/** Returns a tensor of a file, on the CPU. */
export function readTensor(
  { name, type, shape, count, start, end }: Entry,
  data: Uint8Array,
  where: string,
): Tensor {
  return filledBy(where, type.dtype, shape, (elements) => {
    if (type.read === undefined) copyBytes(elements, data.subarray(start, end));
    else {
      const view = new DataView(data.buffer, data.byteOffset + start, end - start);
      for (let i = 0; i < count; i++) {
        const element = type.read(view, i * type.bytes);
        if (typeof element === "bigint" && !fitsInt64(element)) {
          const message = `tensor ${JSON.stringify(name)}: element ${i} is ${element}, which does not fit in an int64.`;
          fail("InvalidArgument", where, message);
        }
        elements[i] = element;
      }
    }
    if (type.dtype === "bool") {
      elements.forEach((value, i) => {
        elements[i] = value === 0 ? 0 : 1;
      });
    }
  });
}

function copyBytes(target: StoredArray, source: Uint8Array): void {
  new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(source);
}

function headerEndOf(file: Uint8Array): number {
  if (file.length < kHeaderBytes)
    reject(`expected at least ${kHeaderBytes} bytes, got ${file.length}.`);
  const size = new DataView(file.buffer, file.byteOffset).getBigUint64(0, true);
  if (size > BigInt(kMaxHeaderSize)) reject(`its header size of ${size} bytes is too large.`);
  const end = kHeaderBytes + Number(size);
  if (end > file.length) reject(`its header ends at byte ${end}, beyond its ${file.length} bytes.`);
  return end;
}

// The caller passes a copy of the bytes because TextDecoder does not accept shared memory.
function parseHeader(bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    reject("the header is not UTF-8 text.");
  }
  if (!text.startsWith("{")) reject('the header does not start with "{".');
  let header: unknown;
  let duplicate: string | null;
  try {
    header = JSON.parse(text);
    duplicate = findDuplicateKey(text);
  } catch (error) {
    reject(`the header is not JSON: ${(error as Error).message}.`);
  }
  if (duplicate !== null) reject(`the header has two entries ${JSON.stringify(duplicate)}.`);
  return header as Record<string, unknown>;
}

function isTextMap(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((text) => typeof text === "string");
}

function entryOf(name: string, value: unknown): Entry {
  const where = `tensor ${JSON.stringify(name)}`;
  if (typeof value !== "object" || value === null)
    reject(`${where}: its entry is ${describe(value)}.`);
  const { dtype, shape, data_offsets: range } = value as Record<string, unknown>;
  const type = kStoredTypes.get(dtype as string);
  if (typeof dtype !== "string" || type === undefined) {
    reject(
      `${where}: unsupported dtype ${describe(dtype)}; supported are ${[...kStoredTypes.keys()]}.`,
    );
  }
  if (!isSizes(shape)) reject(`${where}: its shape is not an array of sizes.`);
  if (!isSizes(range) || range.length !== 2)
    reject(`${where}: its data_offsets are not two byte offsets.`);
  const [start = 0, end = 0] = range;
  const count =
    countOf(shape) ?? reject(`${where}: its shape has more than 64 dimensions or is too large.`);
  if (end - start !== count * type.bytes) {
    reject(`${where}: ${dtype} of shape [${shape}] does not take ${end - start} bytes.`);
  }
  return { name, type, shape, count, start, end };
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

// Checks that the data has no gaps, no overlaps and nothing after the last tensor.
function checkRanges(entries: readonly Entry[], available: number): void {
  const sorted = [...entries].sort((a, b) => a.start - b.start || a.end - b.end);
  let end = 0;
  for (const entry of sorted) {
    const where = `tensor ${JSON.stringify(entry.name)}`;
    if (entry.end > available)
      reject(`${where} ends at byte ${entry.end}, beyond the ${available} bytes of data.`);
    if (entry.start !== end) {
      const what = entry.start < end ? "overlaps the tensor before it" : "leaves a gap before it";
      reject(`${where} ${what}: it starts at byte ${entry.start} instead of ${end}.`);
    }
    ({ end } = entry);
  }
  if (end !== available)
    reject(`the tensors end at byte ${end}, the file has ${available} bytes of data.`);
}
