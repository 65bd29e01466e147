// Converts tensors to elements that are sent, and back.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { bytesOf, elementsOf } from "../network/arrays.js";
import type { Reduction, WireDType } from "../requests.js";

// Some dtypes are sent as wider ones: sums in half precision would lose digits.
const kWire: Partial<Record<eg.DType, WireDType>> = {
  float8_e4m3fn: "float32",
  float8_e5m2: "float32",
  float16: "float32",
  bfloat16: "float32",
  float32: "float32",
  float64: "float64",
  int8: "int32",
  int16: "int32",
  int32: "int32",
  int64: "int64",
  uint8: "uint8",
  uint16: "int32",
  uint32: "int64",
  bool: "uint8",
  complex32: "float32",
  complex64: "float32",
  complex128: "float64",
};

/** Returns the dtype in which the elements of a tensor are sent; throws DtypeMismatch if a reduction does not exist for it. */
export function wireDType(where: string, { dtype }: eg.Tensor, reduction?: Reduction): WireDType {
  const wire = kWire[dtype];
  const isComplex = dtype.startsWith("complex");
  const isFloat = isComplex || dtype.includes("float");
  const isKnown =
    reduction === undefined ||
    (isFloat && (!isComplex || reduction === "sum" || reduction === "mean")) ||
    (!isFloat && reduction !== "mean" && (dtype !== "bool" || reduction !== "sum"));
  if (wire === undefined || !isKnown) {
    const advice = "Convert it with to().";
    fail("DtypeMismatch", where, `there is no ${reduction ?? "form"} for ${dtype}. ${advice}`);
  }
  return wire as WireDType;
}

/** Throws InvalidArgument unless a value is a tensor. */
export function checkTensor(where: string, value: unknown): asserts value is eg.Tensor {
  if (!(value instanceof eg.Tensor)) fail("InvalidArgument", where, "tensor: expected a Tensor.");
}

/** Returns memory for `count` tensors like `tensor`. */
export function memoryFor(tensor: eg.Tensor, wire: WireDType, count = 1): SharedArrayBuffer {
  return new SharedArrayBuffer(count * elementCount(tensor) * bytesOf(wire));
}

/** The number of elements that are sent for a tensor. */
export function elementCount({ numel, dtype }: eg.Tensor): number {
  return dtype.startsWith("complex") ? 2 * numel : numel;
}

/** Copies the elements of a tensor into memory, beginning at element `start`. */
export function write(
  tensor: eg.Tensor,
  wire: WireDType,
  memory: SharedArrayBuffer,
  start = 0,
): void {
  eg.scope(() => {
    const flat = tensor.detach();
    const isPlain = tensor.dtype === wire || tensor.dtype === "bool" || isComplex(tensor);
    const values = (isPlain ? flat : flat.to(wire)).dataSync();
    const target = elementsOf(wire, memory) as Float64Array;
    target.set(values as unknown as Float64Array, start);
  });
}

/** Replaces the elements of a tensor by those in memory, beginning at element `start`. */
export function read(
  tensor: eg.Tensor,
  wire: WireDType,
  memory: SharedArrayBuffer,
  start = 0,
): void {
  eg.noGrad(() =>
    eg.scope(() => {
      const { shape } = tensor;
      const values = elementsOf(wire, memory, start, start + elementCount(tensor));
      const flat = eg.tensor(values as Float64Array);
      const shaped = isComplex(tensor)
        ? eg.viewAsComplex(flat.reshape([...shape, 2]))
        : flat.reshape([...shape]);
      tensor.copy_(shaped);
    }),
  );
}

const isComplex = ({ dtype }: eg.Tensor) => dtype.startsWith("complex");
