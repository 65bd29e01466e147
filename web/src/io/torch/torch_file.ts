// What the two forms of files have in common.

import { reject } from "../broken_file.js";
import { Builder } from "./names.js";
import { type Pickled, readPickle } from "./pickle_reader.js";
import { PythonDict, PythonName, StorageName, type TensorPlan } from "./python_values.js";
import { dtypeOfStorage } from "./storage_types.js";

/** A value that a file describes, before the data of its tensors is read. */
export interface TorchFile {
  readonly value: unknown;
  /** The tensors in the value. */
  readonly plans: readonly TensorPlan[];
  storage(key: string): StoredBytes;
}

/** The bytes of a storage. */
export interface StoredBytes {
  readonly size: number;
  pieces(): AsyncIterable<Uint8Array>;
}

/** Reads the pickle at a position that refers to storages. Returns also the tensors that it describes. */
export function readValue(
  bytes: Uint8Array,
  start: number,
): Pickled & { readonly plans: readonly TensorPlan[] } {
  const builder = new Builder(bytes.length);
  const pickled = readPickle(bytes, start, {
    find: (module, name) => builder.find(module, name),
    call: (callee, args) => builder.call(callee, args),
    build: checkAttributes,
    persistent: storageOf,
  });
  return { ...pickled, plans: builder.plans };
}

/** Reads a pickle of numbers, strings and containers at a position. */
export function readPlainValue(bytes: Uint8Array, start: number): Pickled {
  const refuse = () =>
    reject("the part of the file before its value contains more than numbers and strings.");
  return readPickle(bytes, start, {
    find: refuse,
    call: refuse,
    build: refuse,
    persistent: refuse,
  });
}

// A state_dict is a dict that has the versions of its layers as an attribute. Layers here have no versions.
function checkAttributes(object: unknown, state: unknown): void {
  if (!(object instanceof PythonDict) || !(state instanceof PythonDict)) {
    reject("its pickle sets attributes of an object that is not a dict.");
  }
}

// ("storage", class, key, location, count) and, in the older form, ("offset" of a part, ...) or None.
function storageOf(id: unknown): StorageName {
  const [kind, type, key, , count, part] = Array.isArray(id) ? id : [];
  const isCount = Number.isSafeInteger(count) && count >= 0;
  if (kind !== "storage" || !(type instanceof PythonName) || typeof key !== "string" || !isCount) {
    reject("its pickle refers to something that is not a storage.");
  }
  const dtype = dtypeOfStorage(type.name.replace(/^torch\./, ""));
  if (dtype === undefined && !type.name.endsWith(".UntypedStorage"))
    reject(`its pickle has a storage of ${type.name}.`);
  const offset: unknown = Array.isArray(part) ? part[1] : 0;
  if (!Number.isSafeInteger(offset) || (offset as number) < 0)
    reject("its pickle has a part of a storage at no position.");
  return new StorageName(key, dtype ?? null, count, offset as number);
}
