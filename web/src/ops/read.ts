// Reading all elements of a tensor.

import { kIsContiguous } from "../generated/border.js";
import { toDtype } from "../generated/internal.js";
import { contiguous } from "../generated/ops.js";
import { calledAs, fail } from "../runtime/errors/errors.js";
import { allocated, itemSize, readDtype } from "../tensor/dtype.js";
import { elementsOf, type Item, itemAt } from "../tensor/elements.js";
import { geometryOf } from "../tensor/info.js";
import type { DataArray } from "../tensor/own_memory.js";
import type { Tensor } from "../tensor/tensor.js";

/** The elements of a tensor as nested arrays, one level per dimension. */
export type NestedArray = Item | NestedArray[];

/** Returns a copy of a tensor's elements in row-major order, 16-bit floats as float32. */
export function readArray(tensor: Tensor): DataArray {
  const dtype = readDtype(tensor.dtype);
  if (dtype === tensor.dtype) return readStored(tensor);
  const widened = (alias: Tensor) => toDtype(alias, dtype);
  return readCopy("data", tensor, widened, (wide) => readStored(wide));
}

/**
 * Returns a copy of a tensor's elements in row-major order, in the format in which they are stored; `where` is the calling
 * function, for errors.
 */
export function readStored(tensor: Tensor, where = "data"): DataArray {
  const { dtype, numel, flags } = geometryOf(tensor);
  const copyOf = (packed: Tensor) =>
    allocated(where, numel * itemSize(dtype), () => elementsOf(packed, dtype, numel).slice());
  if ((flags & kIsContiguous) !== 0) return copyOf(tensor);
  return readCopy(where, tensor, (alias) => contiguous(alias), copyOf);
}

// Reads what `copy` makes of an alias of a tensor outside its graph, and frees both.
function readCopy<T>(
  where: string,
  tensor: Tensor,
  copy: (alias: Tensor) => Tensor,
  read: (copied: Tensor) => T,
): T {
  const alias = tensor.detach();
  try {
    const copied = calledAs(where, () => copy(alias));
    try {
      return read(copied);
    } finally {
      copied.dispose();
    }
  } finally {
    alias.dispose();
  }
}

/** Returns a tensor's elements as nested arrays. */
export function readNested(tensor: Tensor): NestedArray {
  const { dtype, shape } = geometryOf(tensor);
  const count = entriesOf(shape);
  if (count > kMaxEntries) {
    fail(
      "OutOfMemory",
      "array",
      `nested arrays of ${count} entries (shape [${shape}]) are too large for JavaScript. Use data().`,
    );
  }
  const elements = readStored(tensor, "array");
  let next = 0;
  const read = (dim: number): NestedArray => {
    const size = shape[dim];
    if (size === undefined) return itemAt(elements, next++, dtype);
    return Array.from({ length: size }, () => read(dim + 1));
  };
  return read(0);
}

// The most entries that fit in V8's heap, which terminates the process when it overflows.
const kMaxEntries = 2 ** 27;

// Returns the total number of entries in the innermost arrays that are not empty.
function entriesOf(shape: readonly number[]): number {
  const end = shape.indexOf(0);
  const filled = end < 0 ? shape : shape.slice(0, end);
  return filled.reduce((product, size) => product * size, 1);
}

/** An element as a JSON value. */
export type JsonItem = number | boolean | string | { re: number | string; im: number | string };

/** The elements of a tensor as JSON values, with one level of arrays per dimension. */
export type JsonArray = JsonItem | JsonArray[];

/**
 * Returns a tensor's elements as nested arrays for JSON. NaN, Infinity and integers above 2^53, which JSON cannot
 * represent, become strings that Number() or BigInt() can read.
 */
export function readJson(tensor: Tensor): JsonArray {
  const visit = (value: NestedArray): JsonArray =>
    Array.isArray(value) ? value.map(visit) : jsonOf(value);
  return visit(readNested(tensor));
}

function jsonOf(item: Item): JsonItem {
  if (typeof item === "boolean") return item;
  return typeof item === "object"
    ? { re: jsonNumber(item.re), im: jsonNumber(item.im) }
    : jsonNumber(item);
}

function jsonNumber(value: number | bigint): number | string {
  return Number.isFinite(value) ? (value as number) : String(value);
}
