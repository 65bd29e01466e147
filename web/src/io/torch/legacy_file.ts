// The older form of torch.save, before PyTorch 1.6: a magic number, a version, facts about the machine and the value as pickles one
// after the other, then the keys of the storages and their data.

import { reject } from "../broken_file.js";
import { MemorySource } from "../sources/memory.js";
import { PythonDict, type TensorPlan } from "./python_values.js";
import { storedTypeOf } from "./storage_types.js";
import { readPlainValue, readValue, type TorchFile } from "./torch_file.js";

const kMagic = 0x1950a86a20f9469cfc6cn;
const kVersion = 1001;

/** The size of the number before the data of each storage, which says how many elements follow. */
const kCountBytes = 8;

/** Returns the value of a file; must be called inside readingLater(). */
export function legacyFile(bytes: Uint8Array): TorchFile {
  checkFormat(bytes);
  const magic = readPlainValue(bytes, 0);
  if (magic.value !== kMagic) rejectFormat();
  const version = readPlainValue(bytes, magic.end);
  if (version.value !== kVersion)
    reject(`its format has the version ${String(version.value)}; known is ${kVersion}.`);
  const machine = readPlainValue(bytes, version.end);
  checkMachine(machine.value);
  const { value, plans, end } = readValue(bytes, machine.end);
  const keys = readPlainValue(bytes, end);
  const ranges = storageRanges(bytes, keys.end, keys.value, plans);
  return {
    value,
    plans,
    storage: (key) => {
      const range = ranges.get(key) ?? reject(`its storage ${JSON.stringify(key)} is missing.`);
      const data = new MemorySource(bytes.subarray(...range));
      return { size: data.size, pieces: () => data.pieces(0, data.size) };
    },
  };
}

// A pickle of protocol 2 or higher begins with 0x80, one of protocol 1 with the opcode of a long number.
function checkFormat(bytes: Uint8Array): void {
  const isTar = String.fromCharCode(...bytes.subarray(257, 262)) === "ustar";
  if (isTar)
    reject(
      "it is a tar archive, the form of PyTorch before 0.1.10. Save it again with a newer PyTorch.",
    );
  if (bytes[0] !== 0x80 && bytes[0] !== 0x4c) rejectFormat();
}

function rejectFormat(): never {
  reject(
    "it does not have the format of torch.save, neither that of PyTorch 1.6 and later (a zip archive) nor the older one. " +
      "Files of safetensors are read by loadSafetensors().",
  );
}

function checkMachine(value: unknown): void {
  const facts = value instanceof PythonDict ? value.entries : [];
  const isLittle = facts.some(([name, fact]) => name === "little_endian" && fact === true);
  if (!isLittle) reject("its byte order is not little-endian. Save it on a little-endian machine.");
}

function storageRanges(
  bytes: Uint8Array,
  start: number,
  keys: unknown,
  plans: readonly TensorPlan[],
): ReadonlyMap<string, readonly [start: number, end: number]> {
  if (!Array.isArray(keys)) reject("it has no list of storages.");
  const widths = new Map(
    plans.map(({ storage, type }) => [storage.key, storedTypeOf(type)?.bytes]),
  );
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const ranges = new Map<string, readonly [number, number]>();
  let at = start;
  for (const key of keys) {
    const width = typeof key === "string" && !ranges.has(key) ? widths.get(key) : undefined;
    if (width === undefined)
      reject("its list of storages has one that no tensor uses, or one twice.");
    if (at + kCountBytes > bytes.length)
      reject("it is truncated: it ends before the data of a storage.");
    const count = Number(view.getBigUint64(at, true));
    const data = at + kCountBytes;
    at = data + count * width;
    if (at > bytes.length) reject("it is truncated: it ends within the data of a storage.");
    ranges.set(key, [data, at]);
  }
  return ranges;
}
