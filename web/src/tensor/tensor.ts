// The Tensor class: a handle, and accessors for what C++ stores about the tensor. Methods built from the layers above are
// attached by tensor_methods.ts but declared here.

import type { Arguments } from "../arguments/read.js";
import { boolean } from "../arguments/rule.js";
import type { AutogradMethods } from "../autograd/tensor_methods.js";
import type { NormMethod } from "../composites/linalg/norms.js";
import type { Operand } from "../dispatch/types.js";
import {
  kDeviceWord,
  kDtypeWord,
  kFlagsWord,
  kIsCoalesced,
  kIsContiguous,
  kIsCsr,
  kIsInference,
  kIsLeaf,
  kIsSparse,
  kIsView,
  kNdimWord,
  kNnzWord,
  kNumelWord,
  kOffsetWord,
  kOutputNrWord,
  kRequiresGrad,
  kRetainsGrad,
  kSparseDimWord,
  kVersionWord,
} from "../generated/border.js";
import type { TensorMethods } from "../generated/methods.js";
import type { ShortcutMethods } from "../ops/shortcut_methods.js";
import type { SparseMethods } from "../ops/sparse_methods.js";
import type { CompositeMethods } from "../ops/tensor_methods.js";
import type { ViewMethod } from "../ops/view.js";
import type { NonzeroMethod } from "../ops/where.js";
import { checkedFor, native } from "../runtime/bridge/bridge.js";
import { kCopy, kThisCopy } from "../runtime/errors/copy.js";
import { fail } from "../runtime/errors/errors.js";
import { type Hint, toPrimitive } from "../runtime/host/primitive.js";
import { type Complex, type Device, type DType, deviceOf, dtypeOf } from "./dtype.js";
import { type Item, readItem } from "./elements.js";
import { formatTensor } from "./format.js";
import { geometryOf, handleOf, infoFlag, infoWord, kNoHandle, shapeOf } from "./info.js";
import { wrapperAt } from "./known.js";
import { kUncloneable, release, track } from "./lifetime.js";
import { readLater } from "./read_later.js";
import { writeCheck } from "./writes.js";

/** The symbol of `using`, also in engines that do not have it yet. */
export const disposeSymbol: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for("Symbol.dispose") as typeof Symbol.dispose);

let serials = 0;

/** Returns a number above the `serial` of every tensor so far. */
export function nextSerial(): number {
  return ++serials;
}

const kOperatorAdvice =
  "use a.add(b), a.sub(b), a.mul(b), a.div(b), a.gt(b), a.lt(b), a.eq(b) and so on; for 1 - a use a.rsub(1) or " +
  "eg.sub(1, a), for 1 / a eg.div(1, a); or a.item() for the number in a tensor of one element";

/** How the elements of a tensor are stored. */
export type Layout = "strided" | "sparse_coo" | "sparse_csr";

export interface Tensor
  extends TensorMethods,
    CompositeMethods,
    ShortcutMethods,
    SparseMethods,
    AutogradMethods {
  /**
   * The `p`-norm over `dim`, or of all elements. "fro" is the 2-norm; "nuc" is the sum of the singular values of a matrix, or of
   * the matrices in the two axes `dim`.
   */
  norm: NormMethod;

  /** The indices of the nonzero elements, one row for each element; with `asTuple` one tensor for each axis. */
  nonzero: NonzeroMethod;

  /**
   * The same memory in another shape, or read as another dtype. With a dtype the result has no graph, and the last dimension becomes
   * longer or shorter when elements of the dtype take fewer or more bytes; bool has no such view.
   */
  view: ViewMethod;

  /** Returns `other` minus `alpha` times this tensor: x.rsub(1) is 1 - x. */
  rsub(
    other: Operand,
    ...rest: Arguments<[alpha: number | Complex], { alpha?: number | Complex }>
  ): Tensor;
}

/** An n-dimensional array that can record how it was computed, for automatic differentiation. */
// attachTensorMethods() gives the class the methods of the interface.
export class Tensor {
  /** 0 after dispose(). @internal */
  handle: number;
  /** An unused buffer that makes the garbage collector account for the engine's memory. @internal */
  ballast: ArrayBuffer | null = null;
  /** True when no scope frees it. @internal */
  isKept = false;
  /** Its place in the order in which this thread's tensors became known to JavaScript. @internal */
  readonly serial: number = nextSerial();

  /**
   * Not there: `x.shape[0]` is the number of rows and `x.numel` that of elements. Its type is what the compiler shows.
   * @deprecated Write x.shape[0] or x.numel.
   * @hidden
   */
  declare readonly length: { "write x.shape[0] or x.numel": never };

  /** See kUncloneable. @internal */
  readonly uncloneable = kUncloneable;

  /** Takes ownership of a handle. @internal */
  constructor(handle: number) {
    if (typeof handle !== "number") {
      fail(
        "InvalidArgument",
        "Tensor",
        "create tensors with eg.tensor(), eg.zeros() and similar functions.",
      );
    }
    this.handle = handle;
    if (handle !== kNoHandle) track(this);
  }

  /** The sizes of the dimensions. */
  get shape(): number[] {
    return shapeOf(this);
  }

  /** The number of dimensions. */
  get ndim(): number {
    return infoWord(this, kNdimWord);
  }

  /** The number of elements. */
  get numel(): number {
    return infoWord(this, kNumelWord);
  }

  /** For each dimension, the distance in elements from one index to the next. */
  get strides(): number[] {
    return geometryOf(this).strides;
  }

  /** The position of the first element in the storage, in elements. */
  get offset(): number {
    return infoWord(this, kOffsetWord);
  }

  /** The element type. */
  get dtype(): DType {
    return dtypeOf(infoWord(this, kDtypeWord));
  }

  /** The device that holds the data. */
  get device(): Device {
    return deviceOf(infoWord(this, kDeviceWord));
  }

  /** True when operations on this tensor are recorded. */
  get requiresGrad(): boolean {
    return infoFlag(this, kRequiresGrad);
  }

  set requiresGrad(value: boolean) {
    boolean.check("requiresGrad", "value", value);
    checkedFor("requiresGrad", native.setRequiresGrad(handleOf(this), value));
  }

  /** The index of this tensor among the outputs of `gradFn`. */
  get outputNr(): number {
    return infoWord(this, kOutputNrWord);
  }

  /** True when this tensor is not the result of a recorded operation. */
  get isLeaf(): boolean {
    return infoFlag(this, kIsLeaf);
  }

  /** True when backward() stores the gradient of this tensor although it is not a leaf. */
  get retainsGrad(): boolean {
    return infoFlag(this, kRetainsGrad);
  }

  /** The number of in-place changes of the data, made through any tensor that shares it. */
  get version(): number {
    const version = infoWord(this, kVersionWord);
    if (version >= 0) return version;
    return fail("InferenceTensor", "version", "a tensor made in inference mode has no version.");
  }

  /** True when this tensor is a view of another's data. */
  get isView(): boolean {
    return infoFlag(this, kIsView);
  }

  /** The tensor this one is a view of, or null. */
  get base(): Tensor | null {
    return knownTensor(checkedFor("base", native.base(handleOf(this))));
  }

  /** True when this tensor was made in inference mode. */
  get isInference(): boolean {
    return infoFlag(this, kIsInference);
  }

  /** True when the elements are stored in row-major order without gaps. */
  get isContiguous(): boolean {
    return infoFlag(this, kIsContiguous);
  }

  /** How the elements are stored: all of them, or in a sparse tensor some with their coordinates, or some of a matrix row by row. */
  get layout(): Layout {
    const flags = infoWord(this, kFlagsWord);
    if ((flags & kIsSparse) === 0) return "strided";
    return (flags & kIsCsr) === 0 ? "sparse_coo" : "sparse_csr";
  }

  /** True when the elements are stored in a sparse layout. */
  get isSparse(): boolean {
    return infoFlag(this, kIsSparse);
  }

  /** True for a sparse tensor in which every position occurs once, in row-major order. */
  get isCoalesced(): boolean {
    return infoFlag(this, kIsCoalesced);
  }

  /** The number of values of a sparse tensor, or of each matrix of a batch in CSR layout; 0 for any other. */
  get nnz(): number {
    return infoWord(this, kNnzWord);
  }

  /** The number of dimensions that the coordinates of a sparse tensor cover, 2 for CSR; 0 for any other tensor. */
  get sparseDim(): number {
    return this.layout === "sparse_csr" ? 2 : infoWord(this, kSparseDimWord);
  }

  /** The number of dimensions that the values of a sparse tensor have. */
  get denseDim(): number {
    return this.ndim - infoWord(this, kSparseDimWord);
  }

  /** True after dispose(). */
  get disposed(): boolean {
    return this.handle === 0;
  }

  /**
   * Returns the value of a tensor with one element: a number, or for the respective dtypes a boolean, a complex number, or a
   * bigint where an int64 exceeds 53 bits.
   */
  item<T extends Item = number>(): T {
    return readItem(this) as T;
  }

  /** Like item(), but never blocks the thread. */
  itemAsync<T extends Item = number>(): Promise<T> {
    return readLater("itemAsync", this, newTensor, (host) => readItem(host) as T);
  }

  /** Sets `requiresGrad` and returns this tensor. */
  requiresGrad_(value = true): this {
    this.requiresGrad = value;
    return this;
  }

  /** Detaches this tensor from its graph in place: it becomes a leaf that requires no gradient. */
  detach_(): this {
    writeCheck?.("detach_", this);
    checkedFor("detach_", native.detachInPlace(handleOf(this)));
    return this;
  }

  /** Makes backward() store the gradient of this tensor in `grad` although it is not a leaf. */
  retainGrad(): void {
    checkedFor("retainGrad", native.retainGrad(handleOf(this)));
  }

  /** Returns another wrapper of this tensor, which is disposed separately. @internal */
  another(): Tensor {
    return new Tensor(checkedFor("another", native.retain(handleOf(this))));
  }

  /** Frees this handle. The data is freed when nothing else refers to it. */
  dispose(): void {
    release(this);
  }

  /** Same as dispose(), for `using` declarations. */
  [disposeSymbol](): void {
    release(this);
  }

  /** Returns the text of this tensor in a template literal; throws for operators, naming the method to use. @internal */
  [Symbol.toPrimitive](hint: Hint): string {
    return toPrimitive(this, hint, "Tensor", kOperatorAdvice);
  }

  /** Returns this tensor as text, in the format that PyTorch prints. */
  toString(): string {
    return formatTensor(this);
  }

  /** The properties that identify this tensor. @internal */
  get [Symbol.for("@jest/serializableProperties")](): readonly string[] {
    return kShownByJest;
  }

  /** Returns what console.log shows in Node. @internal */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.disposed ? "tensor(disposed)" : this.toString();
  }

  /** Where this class is. @internal */
  get [kCopy](): object {
    return kThisCopy;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/** The properties that Jest copies to show a difference; without this list it calls all getters, and some throw. */
const kShownByJest = ["handle"];

/** Wraps a handle returned by C++; null for 0. */
export function takeTensor(handle: number): Tensor | null {
  return handle === 0 ? null : new Tensor(handle);
}

/** Returns the wrapper of the tensor of a handle, for a handle of a tensor that JavaScript may have already; null for 0. */
export function knownTensor(handle: number): Tensor | null {
  return handle === 0 ? null : wrapperOf(handle);
}

/** knownTensor() for a handle that is not 0. */
export function wrapperOf(handle: number): Tensor {
  const first = native.firstHandle(handle);
  if (first === handle) return new Tensor(handle);
  const existing = wrapperAt(first);
  if (existing === undefined) {
    // It was collected, and the finalizer will release its handle.
    native.makeFirstHandle(handle);
    return new Tensor(handle);
  }
  native.release(handle);
  return existing as Tensor;
}

/** Wraps a handle that has no wrapper yet. @internal */
export function newTensor(handle: number): Tensor {
  return new Tensor(handle);
}
