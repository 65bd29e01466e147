// What PyTorch programs type on tensors beside the ops: short names of conversions and views, and new tensors like one. All
// are in every bundle, so each is one line of what there is anyway.

import { isPlainObject } from "../arguments/read.js";
import type { Ints, Scalar } from "../dispatch/types.js";
import { conj, empty, flatten, ones, transpose, zeros } from "../generated/ops.js";
import { calledAs, describe, fail } from "../runtime/errors.js";
import {
  type Device,
  type DType,
  isComplex,
  isComplexNumber,
  isFloat,
  itemSize,
} from "../tensor/dtype.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";
import {
  type FromDataOptions,
  full,
  type TensorData,
  type TensorOptions,
  tensor,
} from "./create.js";
import { type NestedArray, readNested } from "./read.js";
import { convert } from "./to.js";

/** Sizes as a list or one by one, then options. */
type SizeArguments =
  | [size: Ints, options?: TensorOptions]
  | [...size: number[]]
  | [...size: number[], options: TensorOptions];

/** The methods of Tensor that are other words for what it has. */
export interface FamiliarMethods {
  /** A matrix transposed, as a view; what has fewer dimensions stays as it is. */
  readonly T: Tensor;

  /** The last two dimensions swapped, as a view. */
  readonly mT: Tensor;

  /** A matrix transposed and conjugated. */
  readonly H: Tensor;

  /** The last two dimensions swapped and all conjugated. */
  readonly mH: Tensor;

  /** Sizes of the dimensions. */
  size(): number[];
  /** Size of one dimension; negative counts from the end. */
  size(dim: number): number;

  /** Number of dimensions. */
  dim(): number;

  /** Bytes of one element. */
  elementSize(): number;

  /** Whether the elements are complex numbers. */
  isComplex(): boolean;

  /** Whether the elements are real numbers with a fraction. */
  isFloatingPoint(): boolean;

  /** Returns the elements as nested arrays, as arraySync(). */
  tolist(): NestedArray;

  /** All elements in one row: a view where that can be. */
  ravel(): Tensor;

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

  /** Returns this tensor as uint8. */
  byte(): Tensor;

  /** Returns this tensor as bool. */
  bool(): Tensor;

  /** Returns this tensor on the CPU. */
  cpu(): Tensor;

  /** Returns this tensor with the dtype and on the device of another. */
  typeAs(other: Tensor): Tensor;

  /** A tensor of the data, with this one's dtype and on its device unless the options say otherwise. */
  newTensor(data: TensorData, options?: FromDataOptions): Tensor;

  /** Zeros, with this tensor's dtype and on its device unless the options say otherwise. */
  newZeros(...size: SizeArguments): Tensor;

  /** Ones, with this tensor's dtype and on its device unless the options say otherwise. */
  newOnes(...size: SizeArguments): Tensor;

  /** A tensor of any values, with this one's dtype and on its device unless the options say otherwise. */
  newEmpty(...size: SizeArguments): Tensor;

  /** A tensor of one value, with this one's dtype and on its device unless the options say otherwise. */
  newFull(size: Ints, fillValue: Scalar, options?: TensorOptions): Tensor;
}

/** What FamiliarMethods declares. */
export const kFamiliarMethods: FamiliarMethods & ThisType<Tensor> = {
  get T() {
    const advice = "T is for matrices; mT swaps the last two dimensions, permute() any";
    return transposed("T", this, this.ndim <= 2, advice);
  },

  get mT() {
    return transposed(
      "mT",
      this,
      this.ndim >= 2,
      "mT is only supported on matrices or batches of them",
    );
  },

  get H() {
    const isMatrix = this.ndim === 2 || this.ndim === 0;
    return conjugated(this, () =>
      transposed("H", this, isMatrix, "H is only supported on matrices (2-D tensors)"),
    );
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

  tolist() {
    return readNested(this);
  },

  ravel() {
    return flatten(this);
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
    return alike("newZeros", this, zeros, given);
  },

  newOnes(...given) {
    return alike("newOnes", this, ones, given);
  },

  newEmpty(...given) {
    return alike("newEmpty", this, empty, given);
  },

  newFull(...given) {
    return alike("newFull", this, full, given);
  },
};

function sizeAt(shape: readonly number[], dim: number): number {
  const size = Number.isInteger(dim) ? shape.at(dim) : undefined;
  if (size !== undefined && dim >= -shape.length) return size;
  const range = `[${-shape.length}, ${shape.length - 1}]`;
  const got = typeof dim === "number" ? dim : describe(dim);
  const told = `Dimension out of range (expected to be in range of ${range}, but got ${got})`;
  return fail("IndexOutOfRange", "size", `${told}.`);
}

function transposed(name: string, tensor: Tensor, isPossible: boolean, advice: string): Tensor {
  if (!isPossible) fail("ShapeMismatch", name, `got the shape [${tensor.shape}]: ${advice}.`);
  return tensor.ndim < 2 ? asIs(tensor) : transpose(tensor, -2, -1);
}

// A handle of its own, as all results have.
function asIs(tensor: Tensor): Tensor {
  return convert(tensor, []);
}

function conjugated(tensor: Tensor, view: () => Tensor): Tensor {
  return isComplex(tensor.dtype) ? scope(() => conj(view())) : view();
}

type Make = (...args: never[]) => Tensor;

// What the options leave open is as the tensor has it.
function alike(
  name: string,
  { dtype, device }: Tensor,
  make: Make,
  given: readonly unknown[],
): Tensor {
  const last = given[given.length - 1];
  const hasOptions = isPlainObject(last) && !isComplexNumber(last);
  const options = hasOptions ? last : {};
  const args = hasOptions ? given.slice(0, -1) : given;
  const own: { dtype?: DType; device?: Device } = { ...options };
  const named = { ...own, dtype: own.dtype ?? dtype, device: own.device ?? device };
  return calledAs(name, () => make(...([...args, named] as never[])));
}
