// Convenience methods that PyTorch programs use on tensors besides the ops: short names for conversions and views, and functions
// that make new tensors like a given one. They are in every bundle, so each is a one-line call of existing code.

import { areOptions } from "../arguments/read.js";
import type { Ints, Operand, Scalar } from "../dispatch/types.js";
import {
  clone,
  conj,
  contiguous,
  copy_,
  empty,
  flatten,
  ones,
  polygamma,
  transpose,
  zeros,
} from "../generated/ops.js";
import { calledAs, describe, fail } from "../runtime/errors/errors.js";
import {
  type Complex,
  type Device,
  type DType,
  isComplex,
  isFloat,
  itemSize,
} from "../tensor/dtype.js";
import type { TensorOptions } from "../tensor/factory_options.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";
import { type FromDataOptions, full, type TensorData, tensor } from "./create.js";
import { type NestedArray, readNested } from "./read.js";
import { repeatedLike } from "./samples.js";
import { convert } from "./to.js";

/** Sizes as an array or as separate arguments, then options. */
type SizeArguments =
  | [size: Ints, options?: TensorOptions]
  | [...size: number[]]
  | [...size: number[], options: TensorOptions];

/** The convenience methods of Tensor, which are shorthands for other functions. */
export interface ShortcutMethods {
  /** The transpose of a matrix, as a view; a tensor with fewer dimensions is returned unchanged. */
  readonly T: Tensor;

  /** This tensor with its last two dimensions swapped, as a view. */
  readonly mT: Tensor;

  /** The conjugate transpose of a matrix. */
  readonly H: Tensor;

  /** This tensor conjugated, with its last two dimensions swapped. */
  readonly mH: Tensor;

  /** Returns the sizes of the dimensions. */
  size(): number[];
  /** Returns the size of one dimension; a negative `dim` counts from the end. */
  size(dim: number): number;

  /** Returns the number of dimensions. */
  dim(): number;

  /** Returns the size of one element in bytes. */
  elementSize(): number;

  /** Returns whether the elements are complex numbers. */
  isComplex(): boolean;

  /** Returns whether the dtype is a real floating-point type. */
  isFloatingPoint(): boolean;

  /** Returns the elements as nested arrays, like arraySync(). */
  tolist<T extends NestedArray = NestedArray>(): T;

  /** Returns all elements as a one-dimensional tensor: a view where possible, otherwise a copy. */
  ravel(): Tensor;

  /** Like polygamma(), but in place. */
  polygamma_(n: Operand): this;

  /** Returns this tensor as float32. */
  float(): Tensor;

  /** Returns this tensor as float64. */
  double(): Tensor;

  /** Returns this tensor as float16. */
  half(): Tensor;

  /** Returns this tensor as bfloat16. */
  bfloat16(): Tensor;

  /** Returns this tensor as int32. */
  int(): Tensor;

  /** Returns this tensor as int64. */
  long(): Tensor;

  /** Returns this tensor as int16. */
  short(): Tensor;

  /** Returns this tensor as int8. */
  char(): Tensor;

  /** Returns this tensor as uint8. */
  byte(): Tensor;

  /** Returns this tensor as bool. */
  bool(): Tensor;

  /** Returns this tensor on the CPU. */
  cpu(): Tensor;

  /** Returns this tensor with the dtype and on the device of another. */
  typeAs(other: Tensor): Tensor;

  /** Returns a tensor with the given data, by default with the dtype and on the device of this tensor. */
  newTensor(data: TensorData, options?: FromDataOptions): Tensor;

  /** Returns a tensor of zeros, by default with the dtype and on the device of this tensor. */
  newZeros(...size: SizeArguments): Tensor;

  /** Returns a tensor of ones, by default with the dtype and on the device of this tensor. */
  newOnes(...size: SizeArguments): Tensor;

  /** Returns an uninitialized tensor, by default with the dtype and on the device of this tensor. */
  newEmpty(...size: SizeArguments): Tensor;

  /** Returns a tensor filled with one value, by default with the dtype and on the device of this tensor. */
  newFull(size: Ints, fillValue: Scalar | Complex, options?: TensorOptions): Tensor;
}

/** Implements ShortcutMethods. */
export const kShortcutMethods: ShortcutMethods & ThisType<Tensor> = {
  get T() {
    const advice = "T requires a matrix; use mT to swap the last two dimensions, or permute()";
    return transposed("T", this, this.ndim <= 2, advice);
  },

  get mT() {
    return transposed("mT", this, this.ndim >= 2, "mT requires a matrix or a batch of matrices");
  },

  get H() {
    const isMatrix = this.ndim === 2 || this.ndim === 0;
    return conjugated(this, () => transposed("H", this, isMatrix, "H requires a matrix"));
  },

  get mH() {
    return conjugated(this, () => this.mT);
  },

  // biome-ignore lint/suspicious/noExplicitAny: what it returns depends on whether it is given a dimension.
  size(dim?: number): any {
    return dim === undefined ? this.shape : sizeAt(this.shape, dim);
  },

  dim() {
    return this.ndim;
  },

  elementSize() {
    return itemSize(this.dtype);
  },

  isComplex() {
    return isComplex(this.dtype);
  },

  isFloatingPoint() {
    return isFloat(this.dtype);
  },

  tolist<T extends NestedArray>() {
    return readNested(this) as T;
  },

  ravel() {
    return flatten(contiguous(this));
  },

  polygamma_(n) {
    return calledAs("polygamma_", () =>
      scope(() => copy_(this, polygamma(n, clone(this))) as typeof this),
    );
  },

  float() {
    return convert(this, ["float32"]);
  },

  double() {
    return convert(this, ["float64"]);
  },

  half() {
    return convert(this, ["float16"]);
  },

  bfloat16() {
    return convert(this, ["bfloat16"]);
  },

  int() {
    return convert(this, ["int32"]);
  },

  long() {
    return convert(this, ["int64"]);
  },

  short() {
    return convert(this, ["int16"]);
  },

  char() {
    return convert(this, ["int8"]);
  },

  byte() {
    return convert(this, ["uint8"]);
  },

  bool() {
    return convert(this, ["bool"]);
  },

  cpu() {
    return convert(this, ["cpu"]);
  },

  typeAs(other) {
    return calledAs("typeAs", () => convert(this, [other]));
  },

  newTensor(...given) {
    return alike("newTensor", this, tensor, given);
  },

  newZeros(...given) {
    return repeatedLike(alike("newZeros", this, zeros, given), this);
  },

  newOnes(...given) {
    return repeatedLike(alike("newOnes", this, ones, given), this);
  },

  newEmpty(...given) {
    return repeatedLike(alike("newEmpty", this, empty, given), this);
  },

  newFull(...given) {
    return repeatedLike(alike("newFull", this, full, given), this);
  },
};

function sizeAt(shape: readonly number[], dim: number): number {
  const size = Number.isInteger(dim) ? shape.at(dim) : undefined;
  if (size !== undefined && dim >= -shape.length) return size;
  const range = `[${-shape.length}, ${shape.length - 1}]`;
  const got = typeof dim === "number" ? dim : describe(dim);
  return fail("IndexOutOfRange", "size", `dim: expected a dimension in ${range}, got ${got}.`);
}

function transposed(name: string, tensor: Tensor, isPossible: boolean, advice: string): Tensor {
  if (!isPossible) fail("ShapeMismatch", name, `got the shape [${tensor.shape}]: ${advice}.`);
  return tensor.ndim < 2 ? asIs(tensor) : transpose(tensor, -2, -1);
}

// Returns a separate handle, as every result has one.
function asIs(tensor: Tensor): Tensor {
  return convert(tensor, []);
}

function conjugated(tensor: Tensor, view: () => Tensor): Tensor {
  return isComplex(tensor.dtype) ? scope(() => conj(view())) : view();
}

type Make = (...args: never[]) => Tensor;

// Calls `make` with the dtype and device of the tensor as defaults.
function alike(
  name: string,
  { dtype, device }: Tensor,
  make: Make,
  given: readonly unknown[],
): Tensor {
  const last = given[given.length - 1];
  const hasOptions = areOptions(last);
  const options = hasOptions ? last : {};
  const args = hasOptions ? given.slice(0, -1) : given;
  const own: { dtype?: DType; device?: Device } = { ...options };
  const named = { ...own, dtype: own.dtype ?? dtype, device: own.device ?? device };
  return calledAs(name, () => make(...([...args, named] as never[])));
}
