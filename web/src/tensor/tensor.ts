// The Tensor class: a handle, and what C++ knows about it. The layers above give the class the methods that are
// made of theirs (tensor_methods.ts), which are declared here all the same.

import type { Arguments } from "../arguments/read.js";
import { boolean } from "../arguments/rule.js";
import type { KnownGrad } from "../autograd/grad_property.js";
import type { AutogradMethods } from "../autograd/tensor_methods.js";
import type { NormMethod } from "../composites/linalg/norms.js";
import type { Operand } from "../dispatch/types.js";
import type { TensorMethods } from "../generated/methods.js";
import type { FamiliarMethods } from "../ops/familiar_methods.js";
import type { CompositeMethods } from "../ops/tensor_methods.js";
import { checkedFor, native } from "../runtime/bridge.js";
import { fail } from "../runtime/errors.js";
import {
  kIsContiguous,
  kIsInference,
  kIsLeaf,
  kIsView,
  kRequiresGrad,
  kRetainsGrad,
} from "../runtime/native.js";
import { type Hint, toPrimitive } from "../runtime/primitive.js";
import { type Device, type DType, deviceOf, dtypeOf } from "./dtype.js";
import { type Item, readItem } from "./elements.js";
import { formatTensor } from "./format.js";
import {
  geometryOf,
  handleOf,
  infoFlag,
  infoWord,
  kDeviceWord,
  kDTypeWord,
  kNdimWord,
  kNoHandle,
  kNumelWord,
  kOffsetWord,
  kOutputNrWord,
  kVersionWord,
  shapeOf,
} from "./info.js";
import { kUncloneable, release, track } from "./lifetime.js";
import { readLater } from "./read_later.js";

/** The symbol of `using`, also in engines that do not have it yet. */
export const disposeSymbol: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for("Symbol.dispose") as typeof Symbol.dispose);

const kOperatorAdvice =
  "use a.add(b), a.sub(b), a.mul(b), a.div(b), a.gt(b), a.lt(b), a.eq(b) and so on; for 1 - a use a.rsub(1) or " +
  "eg.sub(1, a), for 1 / a eg.div(1, a); or a.item() for the number in a tensor of one element";

export interface Tensor extends TensorMethods, CompositeMethods, FamiliarMethods, AutogradMethods {
  /**
   * The `p`-norm over `dim`, or of all elements. "fro" is 2; "nuc" is the sum of singular values of a matrix, or of those that
   * the two axes `dim` hold.
   */
  norm: NormMethod;

  /** `other` minus `alpha` times this tensor: 1 - x is x.rsub(1). */
  rsub(other: Operand, ...rest: Arguments<[alpha: number], { alpha?: number }>): Tensor;
}

/** An n-dimensional array that remembers how it was computed. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: attachTensorMethods() gives the class these methods.
export class Tensor {
  /** 0 after dispose(). @internal */
  handle: number;
  /** Memory that stands for the engine's in the eyes of the garbage collector. @internal */
  ballast: ArrayBuffer | null = null;
  /** True when no scope frees it. @internal */
  isKept = false;
  /** The gradient that was read or set last. @internal */
  knownGrad: KnownGrad | null = null;

  /** See kUncloneable. @internal */
  readonly uncloneable = kUncloneable;

  /** Takes over a handle. @internal */
  constructor(handle: number) {
    if (typeof handle !== "number") {
      fail(
        "InvalidArgument",
        "Tensor",
        "tensors are made by eg.tensor(), eg.zeros() and their like.",
      );
    }
    this.handle = handle;
    if (handle !== kNoHandle) track(this);
  }

  /** Sizes of the dimensions. */
  get shape(): number[] {
    return shapeOf(this);
  }

  /** Number of dimensions. */
  get ndim(): number {
    return infoWord(this, kNdimWord);
  }

  /** Number of elements. */
  get numel(): number {
    return infoWord(this, kNumelWord);
  }

  /** Elements from one index to the next, per dimension. */
  get strides(): number[] {
    return geometryOf(this).strides;
  }

  /** Elements before the first one in the storage. */
  get offset(): number {
    return infoWord(this, kOffsetWord);
  }

  /** The element type. */
  get dtype(): DType {
    return dtypeOf(infoWord(this, kDTypeWord));
  }

  /** Where the data is. */
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

  /** Which output of `gradFn` this tensor is. */
  get outputNr(): number {
    return infoWord(this, kOutputNrWord);
  }

  /** True when no recorded operation made this tensor. */
  get isLeaf(): boolean {
    return infoFlag(this, kIsLeaf);
  }

  /** True when backward() keeps the gradient of this tensor though it is not a leaf. */
  get retainsGrad(): boolean {
    return infoFlag(this, kRetainsGrad);
  }

  /** Counts in-place changes of the data, by any tensor that shares it. */
  get version(): number {
    const version = infoWord(this, kVersionWord);
    if (version >= 0) return version;
    return fail("InferenceTensor", "version", "Inference tensors do not track version counter.");
  }

  /** True when this tensor is a view of another's data. */
  get isView(): boolean {
    return infoFlag(this, kIsView);
  }

  /** The tensor this one is a view of, or null. */
  get base(): Tensor | null {
    return takeTensor(checkedFor("base", native.base(handleOf(this))));
  }

  /** True when this tensor was made in inference mode. */
  get isInference(): boolean {
    return infoFlag(this, kIsInference);
  }

  /** True when the elements lie in row-major order without gaps. */
  get isContiguous(): boolean {
    return infoFlag(this, kIsContiguous);
  }

  /** True after dispose(). */
  get disposed(): boolean {
    return this.handle === 0;
  }

  /** Returns the value of a tensor of one element: a number, or what its dtype has instead. */
  item<T extends Item = number>(): T {
    return readItem(this) as T;
  }

  /** Like item(), without ever blocking. */
  itemAsync<T extends Item = number>(): Promise<T> {
    return readLater("itemAsync", this, newTensor, (host) => readItem(host) as T);
  }

  /** Sets `requiresGrad` and returns this tensor. */
  requiresGrad_(value = true): this {
    this.requiresGrad = value;
    return this;
  }

  /** Takes this tensor itself out of its graph: it becomes a leaf that requires no gradient. */
  detach_(): this {
    checkedFor("detach_", native.detachInPlace(handleOf(this)));
    return this;
  }

  /** Makes backward() fill the `grad` of this tensor though it is not a leaf. */
  retainGrad(): void {
    checkedFor("retainGrad", native.retainGrad(handleOf(this)));
  }

  /** Another wrapper of the same tensor, disposed on its own. @internal */
  another(): Tensor {
    return new Tensor(checkedFor("another", native.retain(handleOf(this))));
  }

  /** Frees this handle; the data goes when nothing else refers to it. */
  dispose(): void {
    release(this);
  }

  /** The same as dispose(), for `using`. */
  [disposeSymbol](): void {
    release(this);
  }

  /** Returns the text of this tensor in a template; for an operator, an error that names the method. @internal */
  [Symbol.toPrimitive](hint: Hint): string {
    return toPrimitive(this, hint, "Tensor", kOperatorAdvice);
  }

  /** Returns the text PyTorch prints. */
  toString(): string {
    return formatTensor(this);
  }

  /** What console.log shows in Node. @internal */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.disposed ? "tensor(disposed)" : this.toString();
  }
}

/** Wraps a handle that C++ gave away, or 0. */
export function takeTensor(handle: number): Tensor | null {
  return handle === 0 ? null : new Tensor(handle);
}

/** The tensor of a handle that is nobody's yet. @internal */
export function newTensor(handle: number): Tensor {
  return new Tensor(handle);
}
