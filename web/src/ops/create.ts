// eg.tensor(): a tensor from JavaScript data.

import { readArguments, readOptions } from "../arguments/read.js";
import { listOf, type Options, size, unchecked, type Values } from "../arguments/rule.js";
import type { Ints, Scalar } from "../dispatch/types.js";
import { toDtype } from "../generated/internal.js";
import {
  clone,
  complex,
  fill_,
  full as fullOfType,
  linspace as linspaceOfReal,
  reshape,
} from "../generated/ops.js";
import { checkedFor, frameOf, native } from "../runtime/bridge/bridge.js";
import { calledAs, describe, fail, kIndexAdvice } from "../runtime/errors/errors.js";
import { builtInName, isTypedArray, refuseDetached } from "../runtime/host/realm.js";
import { defaultComplexDtype, getDefaultDtype } from "../tensor/default_dtype.js";
import {
  type Complex,
  type DType,
  dtypeCode,
  fitsInt64,
  isComplex,
  isComplexNumber,
  isStoredAs,
  newArray,
  readDtype,
  realDtype,
  type StoredArray,
  type TypedArray,
} from "../tensor/dtype.js";
import { elementsOf } from "../tensor/elements.js";
import {
  kTensorOptions,
  readFactoryOptions,
  type TensorOptions,
  withFactoryOptions,
} from "../tensor/factory_options.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";

/** Data that a tensor can be made from. */
export type TensorData =
  | number
  | boolean
  | bigint
  | Complex
  | NumericArray
  | Tensor
  | readonly TensorData[];

/** Typed arrays that eg.tensor() accepts. */
export type NumericArray = TypedArray | Uint8ClampedArray;

const kFromDataOptions = {
  ...kTensorOptions,
  /** The shape; default: that of the data. */
  shape: listOf(size).optional(),
};

/** Options of `tensor`. */
export type FromDataOptions = Options<typeof kFromDataOptions>;

type FromDataValues = Values<typeof kFromDataOptions>;

/**
 * Makes a tensor from a number, nested arrays or a typed array. By default the dtype is that of a typed array; plain
 * numbers become the default dtype (float32 unless changed), booleans bool, bigints int64.
 */
export function tensor(data: TensorData, ...rest: [options?: FromDataOptions]): Tensor {
  const options = readOptions("tensor", kFromDataOptions, rest);
  const factoryOptions = readFactoryOptions("tensor", options.device, options.requiresGrad);
  const result = data instanceof Tensor ? copyOf(data, options) : fromData(data, options);
  return withFactoryOptions(result, factoryOptions);
}

const kFullArguments = {
  size: unchecked<Ints>(),
  fillValue: unchecked<Scalar | Complex>(),
  ...kTensorOptions,
};

/**
 * Returns a tensor filled with one value. A plain number becomes the default dtype, as in tensor(), because JavaScript does not
 * distinguish 1.0 from 1; a boolean becomes bool, a bigint int64.
 */
export const full: typeof fullOfType = (...given) => {
  const { size, fillValue, dtype, ...options } = readArguments("full", kFullArguments, given);
  if (isComplexNumber(fillValue)) {
    const own = { dtype: dtype ?? defaultComplexDtype(), device: options.device };
    const filled = calledAs("full", () => scope(() => fill_(fullOfType(size, 0, own), fillValue)));
    return options.requiresGrad ? filled.requiresGrad_() : filled;
  }
  const ownType = typeof fillValue === "number" ? getDefaultDtype() : null;
  return fullOfType(size, fillValue, { ...options, dtype: dtype ?? ownType });
};

const kLinspaceArguments = {
  start: unchecked<number | Complex>(),
  end: unchecked<number | Complex>(),
  steps: unchecked<number>(),
  ...kTensorOptions,
};

/** `steps` evenly spaced numbers, which may be complex, from `start` to `end` inclusive. */
export function linspace(
  start: number | Complex,
  end: number | Complex,
  steps: number,
  options?: TensorOptions,
): Tensor;
export function linspace(...given: readonly unknown[]): Tensor {
  const { start, end, steps, dtype, device, requiresGrad } = readArguments(
    "linspace",
    kLinspaceArguments,
    given,
  );
  const areReal = !isComplexNumber(start) && !isComplexNumber(end);
  if (areReal && (dtype === null || !isComplex(dtype))) {
    return linspaceOfReal(start as number, end as number, steps, { dtype, device, requiresGrad });
  }
  const wanted = complexDtypeFor("linspace", dtype);
  const options = { dtype: realDtype(wanted), device };
  const partOf = (number: number | Complex, name: "re" | "im") =>
    isComplexNumber(number) ? number[name] : name === "re" ? number : 0;
  const part = (name: "re" | "im") =>
    linspaceOfReal(partOf(start, name), partOf(end, name), steps, options);
  const result = scope(() => complex(part("re"), part("im")));
  return requiresGrad ? result.requiresGrad_() : result;
}

/** Returns the dtype of numbers between complex ends; throws if a real one was given. */
export function complexDtypeFor(where: string, given: DType | null): DType {
  const dtype = given ?? defaultComplexDtype();
  if (isComplex(dtype)) return dtype;
  fail("DtypeMismatch", where, `dtype: complex ends need a complex dtype, got ${dtype}.`);
}

/** Makes a row-major tensor and copies `elements` into it. */
export function fromElements(
  dtype: DType,
  shape: readonly number[],
  elements: StoredArray,
): Tensor {
  return filledBy("tensor", dtype, shape, (target) => {
    // Both arrays have the same type, which TypeScript cannot infer.
    target.set(elements as Float32Array & BigInt64Array);
  });
}

/** Makes a row-major tensor whose elements `fill` writes to its memory. `fill` must not call the engine, which may move it. */
export function filledBy(
  where: string,
  dtype: DType,
  shape: readonly number[],
  fill: (elements: StoredArray) => void,
): Tensor {
  const words = frameOf(shape.length);
  shape.forEach((size, dim) => {
    words[dim] = size;
  });
  const handle = native.createTensor(dtypeCode(dtype, where), shape.length);
  const result = new Tensor(checkedFor(where, handle));
  try {
    fill(elementsOf(result, dtype, sizeOf(shape)));
  } catch (error) {
    result.dispose();
    throw error;
  }
  return result;
}

function copyOf(source: Tensor, { dtype, shape }: FromDataValues): Tensor {
  return scope(() => {
    const alias = source.detach();
    const copy = dtype && dtype !== source.dtype ? toDtype(alias, dtype) : clone(alias);
    return shape === undefined ? copy : reshape(copy, shape);
  });
}

function fromData(data: unknown, options: FromDataValues): Tensor {
  const ownShape = shapeOf(data);
  const dtype = options.dtype ?? dtypeOfData(data);
  // For a complex dtype, a flat array of floats is read as pairs.
  const isPaired = isComplex(dtype) && ArrayBuffer.isView(data);
  if (isPaired) ownShape[0] = (ownShape[0] ?? 0) / 2;
  const shape = options.shape ?? ownShape;
  const count = sizeOf(ownShape);
  if (sizeOf(shape) !== count || !Number.isInteger(count)) {
    fail("ShapeMismatch", "tensor", `${count} elements do not match the shape [${shape}].`);
  }
  const read = readDtype(dtype);
  const elements = storedArrayOf(data, read) ?? filledArray(data, read, count, isPaired);
  const result = fromElements(read, shape, elements);
  return read === dtype ? result : rounded(result, dtype);
}

function rounded(tensor: Tensor, dtype: DType): Tensor {
  try {
    return toDtype(tensor, dtype);
  } finally {
    tensor.dispose();
  }
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

const kDTypeOfArrays: Readonly<Record<string, DType>> = {
  Float16Array: "float16",
  Float64Array: "float64",
  Uint8Array: "uint8",
  Uint8ClampedArray: "uint8",
  Int8Array: "int8",
  Int16Array: "int16",
  Uint16Array: "int32",
  Int32Array: "int32",
  Uint32Array: "int64",
  BigInt64Array: "int64",
  BigUint64Array: "int64",
};

// Returns the dtype that data has by default.
function dtypeOfData(data: unknown, depth = 0): DType {
  if (ArrayBuffer.isView(data)) return kDTypeOfArrays[builtInName(data)] ?? "float32";
  if (typeof data === "boolean") return "bool";
  if (typeof data === "bigint") return "int64";
  if (isComplexNumber(data)) return defaultComplexDtype();
  if (data instanceof Tensor) return data.dtype;
  if (!Array.isArray(data)) return getDefaultDtype();
  if (depth > kMaxDims) failDeep();
  const wider = (widest: DType | null, element: unknown) => widerDType(widest, element, depth + 1);
  return data.reduce<DType | null>(wider, null) ?? getDefaultDtype();
}

const kByWidth: readonly DType[] = [
  "bool",
  "uint8",
  "int8",
  "int16",
  "uint16",
  "int32",
  "uint32",
  "int64",
  "uint64",
  "float16",
  "bfloat16",
  "float32",
  "float64",
  "complex32",
  "complex64",
  "complex128",
];

function widerDType(widest: DType | null, element: unknown, depth: number): DType | null {
  if (Array.isArray(element) && element.length === 0) return widest;
  const dtype = dtypeOfData(element, depth);
  // Neither has all values of the other.
  if (widest === "uint8" && dtype === "int8") return "int16";
  if (widest === "int8" && dtype === "uint8") return "int16";
  return widest !== null && kByWidth.indexOf(widest) > kByWidth.indexOf(dtype) ? widest : dtype;
}

// Returns the shape according to the first element of each level; fill() reports elements that do not match it.
function shapeOf(data: unknown): number[] {
  const shape: number[] = [];
  for (let level = data; Array.isArray(level) || isTypedArray(level); level = level[0]) {
    shape.push(level.length);
    if (shape.length > kMaxDims) failDeep();
    if (isTypedArray(level)) {
      refuseDetached("tensor", level);
      return shape;
    }
    if (level[0] instanceof Tensor) return [...shape, ...level[0].shape];
  }
  return shape;
}

/** The maximum number of dimensions of a tensor, as in PyTorch. It also stops at arrays that contain themselves. */
export const kMaxDims = 64;

function failDeep(): never {
  fail("InvalidArgument", "tensor", `a tensor has at most ${kMaxDims} dimensions.`);
}

// Copies a typed array of the matching type at once, without converting each element.
// Returns a typed array whose elements are stored as they are, or null.
function storedArrayOf(data: unknown, dtype: DType): StoredArray | null {
  return ArrayBuffer.isView(data) && dtype !== "bool" && isStoredAs(dtype, data) ? data : null;
}

// Filled outside the engine's memory, because reading the data may run code of the user, which may call the engine.
function filledArray(data: unknown, dtype: DType, count: number, isPaired: boolean): StoredArray {
  const elements = newArray(dtype, count, "tensor");
  new Filler(elements, dtype, isPaired).fill(data, shapeOf(data), 0);
  return elements;
}

class Filler {
  private next = 0;

  constructor(
    private readonly elements: StoredArray,
    private readonly dtype: DType,
    private readonly isPaired: boolean,
  ) {}

  fill(given: unknown, shape: readonly number[], dim: number): void {
    const data: unknown = given instanceof Tensor ? given.arraySync() : given;
    if (dim === shape.length) {
      this.put(data, false);
      return;
    }
    const size = shape[dim];
    if (!Array.isArray(data) && !isTypedArray(data)) {
      fail(
        "ShapeMismatch",
        "tensor",
        `expected an array of ${size} at depth ${dim}, got ${describe(data)}.`,
      );
    }
    if (data.length !== size) {
      fail(
        "ShapeMismatch",
        "tensor",
        `expected arrays of equal length, got ${size} and ${data.length} elements at depth ${dim}.`,
      );
    }
    const isRow = isTypedArray(data) && dim === shape.length - 1;
    for (let i = 0; i < size; i++) {
      if (isRow) this.put(data[i], true);
      else this.fill(data[i], shape, dim + 1);
    }
  }

  // Elements of typed arrays are cast and wrap around; other values must fit into the dtype.
  private put(value: unknown, isTyped: boolean): void {
    const { elements, dtype } = this;
    if (isComplex(dtype) && !this.isPaired) {
      const number = isComplexNumber(value) ? value : { re: toNumber(value), im: 0 };
      elements[this.next++] = number.re;
      elements[this.next++] = number.im;
    } else if (elements instanceof BigInt64Array || elements instanceof BigUint64Array) {
      elements[this.next++] = toBigInt(value, dtype);
    } else if (!isTyped && dtype in kRanges) {
      elements[this.next++] = toSmallInteger(value, dtype as keyof typeof kRanges);
    } else if (dtype === "bool") {
      elements[this.next++] = toNumber(value) !== 0 ? 1 : 0;
    } else {
      elements[this.next++] = toNumber(value);
    }
  }
}

function toNumber(value: unknown): number {
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") {
    return Number(value);
  }
  if (Array.isArray(value) || isTypedArray(value)) {
    fail(
      "ShapeMismatch",
      "tensor",
      "expected a number, got an array: the nested arrays have different depths.",
    );
  }
  fail(
    "InvalidArgument",
    "tensor",
    `expected a number, boolean or bigint, got ${describe(value)}.${value === undefined ? kIndexAdvice : ""}`,
  );
}

function toBigInt(value: unknown, dtype: DType): bigint {
  const number = typeof value === "bigint" ? value : toNumber(value);
  if (typeof number === "number" && !Number.isFinite(number)) failOverflow(number, dtype);
  const integer = BigInt(typeof number === "number" ? Math.trunc(number) : number);
  const isInRange =
    dtype === "int64" ? fitsInt64(integer) : BigInt.asUintN(64, integer) === integer;
  return isInRange ? integer : failOverflow(number, dtype);
}

// The range of numbers that each dtype accepts; as in PyTorch, -1 becomes the largest uint8.
const kRanges = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int16: [-(2 ** 15), 2 ** 15 - 1],
  int8: [-128, 127],
  uint8: [-255, 255],
  uint16: [-65535, 65535],
  uint32: [-(2 ** 32 - 1), 2 ** 32 - 1],
} as const;

function toSmallInteger(value: unknown, dtype: keyof typeof kRanges): number {
  const number = toNumber(value);
  const [low, high] = kRanges[dtype];
  const integer = Math.trunc(number);
  return integer >= low && integer <= high ? integer : failOverflow(number, dtype);
}

function failOverflow(number: number | bigint, dtype: DType): never {
  fail(
    "InvalidArgument",
    "tensor",
    `the value ${number} cannot be stored in ${dtype} without overflow.`,
  );
}
