// Elements in the module's memory, as JavaScript shows them.

import { checked, native, wasmBuffer } from "../runtime/bridge.js";
import { fail } from "../runtime/errors.js";
import { type Complex, type DType, isComplex, type TypedArray, viewMemory } from "./dtype.js";
import { geometryOf, handleOf } from "./info.js";
import type { Tensor } from "./tensor.js";

/** One element as JavaScript shows it. */
export type Item = number | bigint | boolean | Complex;

/** Returns the value of a tensor of one element. */
export function readItem(tensor: Tensor): Item {
  const { dtype, numel, shape } = geometryOf(tensor);
  if (numel !== 1) {
    fail(
      "InvalidArgument",
      "item",
      `a Tensor with ${numel} elements cannot be converted to Scalar (its shape is [${shape}]). Use data() or array().`,
    );
  }
  return itemAt(elementsOf(tensor, dtype, 1), 0, dtype);
}

/** Returns a view of `count` elements from a tensor's first on; valid until the next native call. */
export function elementsOf(tensor: Tensor, dtype: DType, count: number): TypedArray {
  const address = checked(native.dataAddress(handleOf(tensor)));
  return viewMemory(dtype, wasmBuffer(), count === 0 ? 0 : address, count);
}

/** Returns one element of an array of `dtype` elements. */
export function itemAt(elements: TypedArray, index: number, dtype: DType): Item {
  if (isComplex(dtype)) {
    return { re: Number(elements[2 * index]), im: Number(elements[2 * index + 1]) };
  }
  const value = elements[index] ?? 0;
  if (dtype === "bool") return value !== 0;
  return typeof value === "bigint" ? safeNumber(value) : value;
}

function safeNumber(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
