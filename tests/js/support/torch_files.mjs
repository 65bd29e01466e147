// Files of torch.save: those in tests/golden/torch, values described as there, and small ones made of a pickle.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { crc32, deflateRawSync } from "node:zlib";
import { eg } from "./engine.mjs";
import { kRoot, readJson } from "./files.mjs";

const kFolder = `${kRoot}tests/golden/torch/`;

/** The names of the files. */
export const kNames = readdirSync(kFolder)
  .filter((name) => name.endsWith(".pt"))
  .map((name) => name.slice(0, -3));

/** Returns the bytes of one of the files. */
export function bytesOf(name) {
  return new Uint8Array(readFileSync(`${kFolder}${name}.pt`));
}

const values = readJson("tests/golden/torch/values.json");

/** Returns the description of what a file contains. */
export function describedIn(name) {
  return values[name.replace("_legacy", "")];
}

/** Returns a value as the files in tests/golden/torch/values.json describe it. */
export function described(value) {
  if (value instanceof eg.Tensor) {
    const { dtype, shape, strides, requiresGrad } = value;
    const data = Array.from(value.dataSync(), (element) => described(Number(element)));
    return { $tensor: dtype, shape, strides, data, requiresGrad };
  }
  if (typeof value === "bigint") return { $bigint: String(value) };
  if (typeof value === "number" && !isPlain(value)) return { $number: kNumbers.get(value) };
  if (value instanceof Uint8Array) return { $bytes: [...value] };
  if (value instanceof Set) return { $set: Array.from(value, described) };
  if (value instanceof Map) return { $map: Array.from(value, (entry) => entry.map(described)) };
  if (Array.isArray(value)) return value.map(described);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, described(one)]);
  return Object.fromEntries(entries);
}

const isPlain = (number) => Number.isFinite(number) && !Object.is(number, -0);

const kNumbers = new Map([
  [Number.NaN, "nan"],
  [Infinity, "inf"],
  [-Infinity, "-inf"],
  // Maps do not distinguish it from 0, which isPlain() does.
  [0, "-0.0"],
]);

/** Asserts that a value is what a description says. */
export function assertDescribed(value, expected) {
  assert.deepEqual(described(value), expected);
}

/** Returns a pickle of protocol 2 with these parts: bytes, or strings of their characters. */
export function pickle(...parts) {
  const bytes = parts.map((part) =>
    typeof part === "string" ? Buffer.from(part, "latin1") : part,
  );
  return Buffer.concat([
    Buffer.from([0x80, 2]),
    ...bytes.map((one) => Buffer.from(one)),
    Buffer.from("."),
  ]);
}

/** Returns the opcodes of a string. */
export function text(value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from("X"), uint32(bytes.length), bytes]);
}

/** Returns the opcodes of a tensor of float32 in the storage "0", with other values for its geometry. */
export function tensorOpcodes({
  storage = "torch\nFloatStorage",
  key = "0",
  count = 4,
  offset = 0,
  shape = [4],
  strides = [1],
  requiresGrad = "\x89",
  metadata = "",
} = {}) {
  return Buffer.concat([
    Buffer.from("ctorch._utils\n_rebuild_tensor_v2\n(("),
    text("storage"),
    Buffer.from(`c${storage}\n`),
    text(key),
    text("cpu"),
    integer(count),
    Buffer.from("tQ"),
    integer(offset),
    ...[shape, strides].map((sizes) =>
      Buffer.concat([Buffer.from("("), ...sizes.map(integer), Buffer.from("t")]),
    ),
    Buffer.from(`${requiresGrad}ccollections\nOrderedDict\n)R${metadata}tR`, "latin1"),
  ]);
}

/** Returns the opcodes of a whole number of up to 64 bits. */
export function integer(value) {
  const bytes = Buffer.alloc(10);
  bytes[0] = 0x8a;
  bytes[1] = 8;
  bytes.writeBigInt64LE(BigInt(value), 2);
  return bytes;
}

function uint32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Returns the archive that torch.save would make of a pickle and the storages "0", "1" and so on. */
export function archive(data, storages = []) {
  const files = storages.map((bytes, i) => ({ name: `a/data/${i}`, data: bytes }));
  return zip([{ name: "a/data.pkl", data }, ...files, { name: "a/version", data: "3\n" }]);
}

/**
 * Returns a zip archive. Each file has a name and data; `isDeflated`, and fields to change in its entry of the directory. With `isWide`, numbers
 * are in the fields that zip64 adds.
 */
export function zip(files, { isWide = false } = {}) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const { name, data, isDeflated = false, ...changed } of files) {
    const content = Buffer.from(data);
    const packed = isDeflated ? deflateRawSync(content) : content;
    const facts = {
      flags: 0,
      method: isDeflated ? 8 : 0,
      checksum: crc32(content),
      packedSize: packed.length,
      size: content.length,
      start: at,
      ...changed,
    };
    const header = Buffer.alloc(30);
    header.writeUInt32LE(0x04034b50);
    header.writeUInt16LE(Buffer.byteLength(name), 26);
    parts.push(header, Buffer.from(name), packed);
    directory.push(directoryEntry(name, isWide ? { ...facts, ...kWide, wide: facts } : facts));
    at += header.length + Buffer.byteLength(name) + packed.length;
  }
  const entries = Buffer.concat(directory);
  const wideEnd = isWide ? wideEndOf(entries.length, at) : Buffer.alloc(0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(isWide ? kWide.size : entries.length, 12);
  end.writeUInt32LE(isWide ? kWide.start : at, 16);
  return new Uint8Array(Buffer.concat([...parts, entries, wideEnd, end]));
}

const kWide = { packedSize: 2 ** 32 - 1, size: 2 ** 32 - 1, start: 2 ** 32 - 1 };

// The record with the numbers of the end in 64 bits, and the one that says where it is.
function wideEndOf(size, start) {
  const end = Buffer.alloc(56 + 20);
  end.writeUInt32LE(0x06064b50);
  end.writeBigUInt64LE(BigInt(size), 40);
  end.writeBigUInt64LE(BigInt(start), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(start + size), 56 + 8);
  return end;
}

function directoryEntry(name, { flags, method, checksum, packedSize, size, start, wide }) {
  const entry = Buffer.alloc(46);
  const extra = wide === undefined ? Buffer.alloc(0) : wideField(wide);
  entry.writeUInt32LE(0x02014b50);
  entry.writeUInt16LE(flags, 8);
  entry.writeUInt16LE(method, 10);
  entry.writeUInt32LE(checksum, 16);
  entry.writeUInt32LE(packedSize, 20);
  entry.writeUInt32LE(size, 24);
  entry.writeUInt16LE(Buffer.byteLength(name), 28);
  entry.writeUInt16LE(extra.length, 30);
  entry.writeUInt32LE(start, 42);
  return Buffer.concat([entry, Buffer.from(name), extra]);
}

// Behind a field that is not read.
function wideField({ size, packedSize, start }) {
  const field = Buffer.alloc(6 + 4 + 24);
  field.writeUInt16LE(0x5455);
  field.writeUInt16LE(2, 2);
  field.writeUInt16LE(1, 6);
  field.writeUInt16LE(24, 8);
  for (const [i, number] of [size, packedSize, start].entries()) {
    field.writeBigUInt64LE(BigInt(number), 10 + 8 * i);
  }
  return field;
}
