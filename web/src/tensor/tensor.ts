// The Tensor class: a handle and what is not an op. attachOps() of generated/methods.ts adds the ops.
// Several files imported here import this one: none of them uses the class before it is called.

import { boolean } from "../arguments/rule.js";
import { type Node, takeNode } from "../autograd/node.js";
import { type BackwardArguments, backwardAsyncOf, backwardOf } from "../autograd/run.js";
import type { TensorMethods } from "../generated/methods.js";
import { allclose, equal, type ToleranceArguments } from "../ops/compare.js";
import type { Operand } from "../ops/types.js";
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
import { type Device, type DType, deviceOf, dtypeOf, type TypedArray } from "./dtype.js";
import { formatTensor } from "./format.js";
import { gradOf, type KnownGrad, setGradOf } from "./grad_property.js";
import {
  type GradHook,
  type HookHandle,
  type PostAccumulateGradHook,
  registerHook,
  registerPostAccumulateGradHook,
  takeTensor,
} from "./hooks.js";
import { at, type Index, setAt } from "./indexing.js";
import {
  geometryOf,
  handleOf,
  infoFlag,
  infoWord,
  kDeviceWord,
  kDTypeWord,
  kNdimWord,
  kNumelWord,
  kOffsetWord,
  kOutputNrWord,
  kVersionWord,
  shapeOf,
} from "./info.js";
import { kUncloneable, release, track } from "./lifetime.js";
import {
  type Item,
  type JsonArray,
  type NestedArray,
  readArray,
  readItem,
  readJson,
  readNested,
} from "./read.js";
import { rowsOf } from "./rows.js";
import { convert, type Target } from "./to.js";

/** The symbol of `using`, also in engines that do not have it yet. */
export const disposeSymbol: typeof Symbol.dispose =
  Symbol.dispose ?? (Symbol.for("Symbol.dispose") as typeof Symbol.dispose);

const kOperatorAdvice =
  "use a.add(b), a.sub(b), a.mul(b), a.div(b), a.gt(b), a.lt(b), a.eq(b) and so on, or a.item() for the " +
  "number in a tensor of one element";

export interface Tensor extends TensorMethods {}

/** An n-dimensional array that remembers how it was computed. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: attachOps() gives the class these methods.
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
    track(this);
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

  /** The gradient that backward() has added up here, or null. */
  get grad(): Tensor | null {
    return gradOf(this);
  }

  set grad(value: Tensor | null) {
    setGradOf(this, value);
  }

  /** The node that computed this tensor, or null for a leaf. */
  get gradFn(): Node | null {
    checkedFor("gradFn", native.gradFn(handleOf(this)));
    return takeNode();
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
  async itemAsync<T extends Item = number>(): Promise<T> {
    return readItem(this) as T;
  }

  /** Returns a copy of the elements in row-major order; complex numbers as pairs. */
  dataSync(): TypedArray {
    return readArray(this);
  }

  /** Like dataSync(), without ever blocking. */
  async data(): Promise<TypedArray> {
    return readArray(this);
  }

  /** Returns the elements as nested arrays. */
  arraySync(): NestedArray {
    return readNested(this);
  }

  /** Like arraySync(), without ever blocking. */
  async array(): Promise<NestedArray> {
    return readNested(this);
  }

  /**
   * Adds the gradients of this tensor, times `gradient`, to the `grad` of all leaves it was computed
   * from. A tensor of one element needs no `gradient`.
   */
  backward(...given: BackwardArguments): void {
    backwardOf(this, given);
  }

  /**
   * Like backward(), but the work is done on another thread; hooks run on the one that registered them.
   * Without threads it is done here, in pieces of some milliseconds between which the program goes on; a
   * single operation is not divided.
   */
  async backwardAsync(...given: BackwardArguments): Promise<void> {
    await backwardAsyncOf(this, given);
  }

  /** Returns this tensor converted to a dtype or device, or like another tensor. */
  to(...targets: Target[]): Tensor {
    return convert(this, targets);
  }

  /** Returns whether all elements differ from those of `other` by at most atol + rtol * |other|. */
  allclose(other: Tensor, ...rest: ToleranceArguments): boolean {
    return allclose(this, other, ...rest);
  }

  /** Returns whether `other` has the same shape and elements. */
  equal(other: Tensor): boolean {
    return equal(this, other);
  }

  /** Returns x[index...]; axes without an index are kept whole. */
  at(...index: Index[]): Tensor {
    return at(this, index);
  }

  /** Writes a value, broadcast, into x[index...]. */
  set_(index: readonly Index[], value: Operand): this {
    setAt(this, index, value);
    return this;
  }

  /** Sets `requiresGrad` and returns this tensor. */
  requiresGrad_(value = true): this {
    this.requiresGrad = value;
    return this;
  }

  /**
   * Calls `hook` with the gradient of this tensor each time it is computed; what it returns is used
   * instead.
   */
  registerHook(hook: GradHook): HookHandle {
    return registerHook(this, hook);
  }

  /** Takes this tensor itself out of its graph: it becomes a leaf that requires no gradient. */
  detach_(): this {
    checkedFor("detach_", native.detachInPlace(handleOf(this)));
    return this;
  }

  /** Calls `hook` with this leaf each time a backward call has updated its `grad`. */
  registerPostAccumulateGradHook(hook: PostAccumulateGradHook): HookHandle {
    return registerPostAccumulateGradHook(this, hook);
  }

  /** Makes backward() fill the `grad` of this tensor though it is not a leaf. */
  retainGrad(): void {
    checkedFor("retainGrad", native.retainGrad(handleOf(this)));
  }

  /** Frees this handle; the data goes when nothing else refers to it. */
  dispose(): void {
    release(this);
  }

  /** The same as dispose(), for `using`. */
  [disposeSymbol](): void {
    release(this);
  }

  /** Iterates over the rows: the tensors along the first dimension. */
  [Symbol.iterator](): IterableIterator<Tensor> {
    return rowsOf(this)[Symbol.iterator]();
  }

  /** Returns the elements for JSON.stringify(): nested arrays of what JSON has. */
  toJSON(): JsonArray {
    return readJson(this);
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
