// Methods of Tensor that are composed of ops.

import type { Operand } from "../dispatch/types.js";
import type { DataArray } from "../tensor/own_memory.js";
import { readLater } from "../tensor/read_later.js";
import type { Tensor } from "../tensor/tensor.js";
import { newTensor } from "../tensor/tensor.js";
import { allclose, equal, type ToleranceArguments } from "./compare.js";
import { type TensorBinding, type ToGPUBufferOptions, toGPUBuffer } from "./gpu_buffers.js";
import { at, type Index, setAt } from "./indexing.js";
import { type JsonArray, type NestedArray, readArray, readJson, readNested } from "./read.js";
import { rowsOf } from "./rows.js";
import { convert, type Target } from "./to.js";

/** The methods of Tensor that are composed of ops. */
export interface CompositeMethods {
  /** Returns a copy of the elements in row-major order, complex numbers as pairs. Blocks until a GPU has finished. */
  dataSync(): DataArray;

  /** Like dataSync(), but never blocks the thread. */
  data(): Promise<DataArray>;

  /** Returns the elements as nested arrays, one level per dimension. Blocks until a GPU has finished. */
  arraySync<T extends NestedArray = NestedArray>(): T;

  /** Like arraySync(), but never blocks the thread. */
  array<T extends NestedArray = NestedArray>(): Promise<T>;

  /**
   * Resolves to a GPUBufferBinding of the elements, once all commands that compute them have been submitted: the tensor's own memory if
   * that is contiguous and aligned, which is valid until the tensor is disposed, and else a copy, which the caller destroys. The tensor must
   * be on webgpu, and the engine must compute on the page's device: `init({ webgpu: { device } })`.
   */
  toGPUBuffer(options?: ToGPUBufferOptions): Promise<TensorBinding>;

  /** Returns this tensor with another dtype or on another device, or with those of another tensor. */
  to(...targets: Target[]): Tensor;

  /** Returns whether all elements differ from those of `other` by at most atol + rtol * |other|. */
  allclose(other: Tensor, ...rest: ToleranceArguments): boolean;

  /** Returns whether `other` has the same shape and elements. */
  equal(other: Tensor): boolean;

  /** Returns x[index...], including all of the axes that have no index. */
  at(...index: Index[]): Tensor;

  /** Writes a value into x[index...], broadcasting it. */
  set_(index: readonly Index[], value: Operand): this;

  /** Iterates over the rows: the tensors along the first dimension. */
  [Symbol.iterator](): IterableIterator<Tensor>;

  /** Returns the elements as nested arrays of JSON values, for JSON.stringify(). */
  toJSON(): JsonArray;
}

/** Implements CompositeMethods. */
export const kCompositeMethods: CompositeMethods & ThisType<Tensor> = {
  dataSync() {
    return readArray(this);
  },

  data() {
    return readLater("data", this, newTensor, readArray);
  },

  arraySync<T extends NestedArray>() {
    return readNested(this) as T;
  },

  array<T extends NestedArray>() {
    return readLater("array", this, newTensor, (host) => readNested(host) as T);
  },

  toGPUBuffer(options) {
    return toGPUBuffer(this, options);
  },

  to(...targets) {
    return convert(this, targets);
  },

  allclose(other, ...rest) {
    return allclose(this, other, ...rest);
  },

  equal(other) {
    return equal(this, other);
  },

  at(...index) {
    return at(this, index);
  },

  set_(index, value) {
    setAt(this, index, value);
    return this;
  },

  [Symbol.iterator]() {
    return rowsOf(this)[Symbol.iterator]();
  },

  toJSON() {
    return readJson(this);
  },
};
