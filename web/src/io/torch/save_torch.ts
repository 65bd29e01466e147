// Writing what torch.load reads.

import { isPlainObject, readNothing } from "../../arguments/read.js";
import { fail } from "../../runtime/errors/errors.js";
import { builtInName, isMap, isSet } from "../../runtime/host/realm.js";
import { allocated, type Complex, isComplexNumber, itemSize } from "../../tensor/dtype.js";
import type { Bytes } from "../../tensor/own_memory.js";
import { wrappersIn } from "../../tensor/reachable.js";
import { Tensor } from "../../tensor/tensor.js";
import { joinedPath, refuseToStore } from "../storable.js";
import { PickleWriter } from "./pickle_writer.js";
import { kNumberKeys } from "./python_values.js";
import { placesOf, type SavedPlace, type SavedStorage } from "./shared_memory.js";
import { partsOf } from "./sparse.js";
import { storageOfDtype } from "./storage_types.js";
import { kMaxArchiveBytes, ZipLayout } from "./zip_writer.js";

const kWhere = "saveTorch";

// The folder in the archive that PyTorch uses for files without a name.
const kFolder = "archive";

/** The version of the format that PyTorch writes since 1.6. */
const kVersion = "3\n";

// The most levels of nesting, which protects the stack here and in Python.
const kMaxDepth = 500;

/**
 * Returns the bytes of a file that torch.load reads, also with weights_only=True: a tensor, number, string, boolean, bigint, null or
 * Uint8Array, or plain objects, arrays, Maps and Sets of these, such as state dicts. Whole numbers become int and others float, null
 * None, Uint8Arrays bytes, { re, im } a complex number, and the state of an optimizer has numbers as keys. Tensors that share memory on the
 * CPU share it in the file. Sparse tensors are written as their parts. Rejects with InvalidArgument for a value that cannot be stored, with its path.
 */
export async function saveTorch(value: unknown, ...rest: []): Promise<Bytes> {
  readNothing(kWhere, rest);
  const tensors = [...wrappersIn(value)].filter(
    (wrapped): wrapped is Tensor => wrapped instanceof Tensor,
  );
  const sparse = new Map(
    tensors.filter(({ isSparse }) => isSparse).map((tensor) => [tensor, partsOf(tensor)]),
  );
  try {
    return await written(value, tensors, sparse);
  } finally {
    for (const part of [...sparse.values()].flat()) part.dispose();
  }
}

async function written(
  value: unknown,
  tensors: readonly Tensor[],
  sparse: ReadonlyMap<Tensor, readonly Tensor[]>,
): Promise<Bytes> {
  const inMemory = tensors.filter(({ isSparse }) => !isSparse);
  const places = placesOf(kWhere, [...inMemory, ...[...sparse.values()].flat()]);
  const encoder = new Encoder(places, sparse);
  const pickle = encoder.encoded(value);
  const layout = new ZipLayout();
  const texts = [
    [layout.add(`${kFolder}/data.pkl`, pickle.length), pickle],
    [layout.add(`${kFolder}/byteorder`, 6), new TextEncoder().encode("little")],
  ] as const;
  const storages = [...encoder.storages].map(([storage, number]) => {
    const file = layout.add(`${kFolder}/data/${number}`, storage.count * itemSize(storage.dtype));
    return { file, storage };
  });
  const version = layout.add(`${kFolder}/version`, kVersion.length);
  checkSize(layout);
  const archive = allocated(kWhere, layout.bytes, () => new Uint8Array(layout.bytes));
  for (const [file, bytes] of texts) layout.dataOf(archive, file).set(bytes);
  layout.dataOf(archive, version).set(new TextEncoder().encode(kVersion));
  // All copies from memory are made before the first await, so that what happens meanwhile does not change them.
  await Promise.all(
    storages.map(({ file, storage }) => storage.write(layout.dataOf(archive, file))),
  );
  layout.finish(archive);
  return archive;
}

function checkSize({ bytes }: ZipLayout): void {
  if (bytes <= kMaxArchiveBytes) return;
  fail(
    "OutOfMemory",
    kWhere,
    `the file would have ${bytes} bytes; at most ${kMaxArchiveBytes} are written. ` +
      "Write larger files with saveSafetensors() and a stream.",
  );
}

// Writes a value as a pickle, and collects the storages of its tensors.
class Encoder {
  /** The storages in the order of their names, which are numbers. */
  readonly storages = new Map<SavedStorage, number>();
  readonly #places: ReadonlyMap<Tensor, SavedPlace>;
  /** The parts of sparse tensors. */
  readonly #sparse: ReadonlyMap<Tensor, readonly Tensor[]>;
  readonly #writer = new PickleWriter();
  // The containers around the value that is being written.
  readonly #outer = new Set<object>();

  constructor(
    places: ReadonlyMap<Tensor, SavedPlace>,
    sparse: ReadonlyMap<Tensor, readonly Tensor[]>,
  ) {
    this.#places = places;
    this.#sparse = sparse;
  }

  encoded(value: unknown): Uint8Array {
    this.#write(value, "");
    return this.#writer.finished();
  }

  #write(value: unknown, path: string): void {
    const writer = this.#writer;
    if (value === null) writer.none();
    else if (typeof value === "boolean") writer.boolean(value);
    else if (typeof value === "string") this.#string(value, path);
    else if (typeof value === "bigint") writer.integer(value);
    else if (typeof value === "number") {
      if (Number.isSafeInteger(value) && !Object.is(value, -0)) writer.integer(value);
      else writer.float(value);
    } else if (typeof value !== "object") refuse(path, value);
    else if (!writer.again(value)) {
      this.#object(value, path);
      writer.remember(value);
    }
  }

  #string(value: string, path: string): void {
    if (/\p{Surrogate}/u.test(value)) refuse(path, value, "It is not valid Unicode.");
    this.#writer.string(value);
  }

  #object(value: object, path: string): void {
    if (value instanceof Tensor) {
      const parts = this.#sparse.get(value);
      if (parts === undefined) this.#tensor(value, path);
      else this.#sparseTensor(value, parts, path);
    } else if (isBytes(value)) this.#writer.bytes(value);
    else this.#container(value, path);
  }

  #container(value: object, path: string): void {
    this.#within(value, path, () => {
      if (Array.isArray(value)) this.#writer.list(() => this.#items(value, path));
      else if (isMap(value)) this.#map(value, path);
      else if (isSet(value)) this.#set(value, path);
      else if (!isPlainObject(value)) refuse(path, value);
      else if (isComplex(value)) this.#complex(value);
      else this.#dict(value, path);
    });
  }

  #within(container: object, path: string, write: () => void): void {
    if (this.#outer.has(container)) refuse(path, container, "It contains itself.");
    if (this.#outer.size >= kMaxDepth) {
      refuse(path, container, `It is nested deeper than ${kMaxDepth} levels.`);
    }
    this.#outer.add(container);
    write();
    this.#outer.delete(container);
  }

  // Unlike forEach(), this visits the holes of an array.
  #items(array: readonly unknown[], path: string): void {
    for (let i = 0; i < array.length; i++) this.#write(array[i], joinedPath(path, i));
  }

  #dict(object: Record<string, unknown>, path: string, hasNumbers = kNumberKeys.has(object)): void {
    this.#writer.dict(() => {
      for (const [key, value] of Object.entries(object)) {
        const inner = joinedPath(path, key);
        if (hasNumbers && /^(?:0|-?[1-9]\d*)$/.test(key)) this.#writer.integer(BigInt(key));
        else this.#string(key, inner);
        // PyTorch's optimizers number their parameters, and would ignore the state of a parameter "0".
        if (key === "state" && isOptimizerState(object)) this.#dict(object.state, inner, true);
        else this.#write(value, inner);
      }
    });
  }

  #map(map: ReadonlyMap<unknown, unknown>, path: string): void {
    const known = new Set<unknown>();
    this.#writer.dict(() => {
      for (const [key, value] of map) {
        if (known.has(comparable(key))) refuse(path, map, kEqualKeys);
        known.add(comparable(key));
        this.#hashable(key, path);
        this.#write(value, joinedPath(path, String(key)));
      }
    });
  }

  #set(set: ReadonlySet<unknown>, path: string): void {
    this.#writer.call("builtins set", () => {
      this.#writer.list(() => {
        for (const item of set) this.#hashable(item, path);
      });
    });
  }

  // A key of a dict or an element of a set, which Python must be able to compare: lists become tuples.
  #hashable(value: unknown, path: string): void {
    if (Array.isArray(value)) {
      this.#within(value, path, () =>
        this.#writer.tuple(() => {
          for (const item of value) this.#hashable(item, path);
        }),
      );
    } else if (typeof value === "object" && value !== null && !isBytes(value)) {
      refuse(path, value, "In Python it cannot be a key of a dict or an element of a set.");
    } else this.#write(value, path);
  }

  #complex({ re, im }: Complex): void {
    this.#writer.call("builtins complex", () => {
      this.#writer.float(re);
      this.#writer.float(im);
    });
  }

  // PyTorch's files do not say whether a sparse tensor requires a gradient.
  #sparseTensor(tensor: Tensor, parts: readonly Tensor[], path: string): void {
    const writer = this.#writer;
    writer.call("torch._utils _rebuild_sparse_tensor", () => {
      writer.call("torch.serialization _get_layout", () => writer.string(`torch.${tensor.layout}`));
      writer.tuple(() => {
        for (const part of parts) this.#tensor(part, path);
        writer.call("torch Size", () => writer.tuple(() => writer.integers(tensor.shape)));
        if (tensor.layout === "sparse_coo") writer.boolean(tensor.isCoalesced);
      });
    });
  }

  #tensor(tensor: Tensor, path: string): void {
    const place = this.#places.get(tensor);
    if (place === undefined)
      refuse(
        path,
        tensor,
        "It was not there a moment ago: a getter returns another tensor each time.",
      );
    const writer = this.#writer;
    const { dtype } = place.storage;
    const isTyped = storageOfDtype(dtype) !== undefined;
    writer.call(`torch._utils _rebuild_tensor_v${isTyped ? 2 : 3}`, () => {
      writer.persistent(() => this.#storageId(place.storage));
      writer.integer(place.offset);
      writer.tuple(() => writer.integers(tensor.shape));
      writer.tuple(() => writer.integers(place.strides));
      writer.boolean(tensor.requiresGrad);
      // Hooks, which PyTorch does not save either.
      writer.call("collections OrderedDict", () => {});
      if (!isTyped) writer.name(`torch ${dtype}`);
    });
  }

  #storageId(storage: SavedStorage): void {
    const number = this.storages.get(storage) ?? this.storages.size;
    this.storages.set(storage, number);
    this.#writer.string("storage");
    const { dtype, count } = storage;
    const kind = storageOfDtype(dtype);
    this.#writer.name(kind === undefined ? "torch.storage UntypedStorage" : `torch ${kind}`);
    this.#writer.string(String(number));
    this.#writer.string("cpu");
    // Where the class does not tell the size of an element, bytes are counted.
    this.#writer.integer(kind === undefined ? count * itemSize(dtype) : count);
  }
}

function isOptimizerState(
  object: Record<string, unknown>,
): object is { state: Record<string, unknown>; param_groups: unknown[] } {
  return isPlainObject(object.state) && Array.isArray(object.param_groups);
}

const kEqualKeys = "Two of its keys are equal in Python, where True is 1 and 1n is too.";

// Returns the same value for keys without elements that are equal in Python.
function comparable(key: unknown): unknown {
  if (typeof key === "boolean") return Number(key);
  return typeof key === "bigint" && Number.isSafeInteger(Number(key)) ? Number(key) : key;
}

function isComplex(value: Record<string, unknown>): value is Record<string, unknown> & Complex {
  return isComplexNumber(value) && Object.keys(value).length === 2;
}

const kStorable =
  "Tensors, numbers, bigints, strings, booleans, null, Uint8Arrays, and plain objects, arrays, Maps and Sets of them can be stored.";

function refuse(path: string, value: unknown, why = kStorable): never {
  refuseToStore(kWhere, path, value, why);
}

// Other typed arrays have no counterpart in a file of PyTorch.
function isBytes(value: unknown): value is Uint8Array {
  return builtInName(value) === "Uint8Array";
}
