// eg.data.idx(): reads IDX, the format of the MNIST files. It consists of two zero bytes, a type, the number of
// dimensions, the sizes as big-endian 32-bit numbers, then the elements, which are also big-endian.

import { bytesOf, countOf } from "../io/bytes.js";
import { filledBy } from "../ops/create.js";
import { fail } from "../runtime/errors/errors.js";
import type { DType } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";

interface ElementType {
  readonly dtype: DType;
  readonly bytes: number;
  read(view: DataView, at: number): number;
}

const kTypes = new Map<number, ElementType>([
  [0x08, { dtype: "uint8", bytes: 1, read: (view, at) => view.getUint8(at) }],
  [0x09, { dtype: "int8", bytes: 1, read: (view, at) => view.getInt8(at) }],
  [0x0b, { dtype: "int16", bytes: 2, read: (view, at) => view.getInt16(at) }],
  [0x0c, { dtype: "int32", bytes: 4, read: (view, at) => view.getInt32(at) }],
  [0x0d, { dtype: "float32", bytes: 4, read: (view, at) => view.getFloat32(at) }],
  [0x0e, { dtype: "float64", bytes: 8, read: (view, at) => view.getFloat64(at) }],
]);

/** Returns the tensor in an IDX file. */
export function idx(bytes: Uint8Array | ArrayBuffer): Tensor {
  const { buffer, byteOffset, byteLength } = bytesOf("idx", bytes);
  const view = new DataView(buffer, byteOffset, byteLength);
  if (view.byteLength < 4)
    reject(`expected a header of 4 bytes, got a file of ${view.byteLength}.`);
  if (view.getUint16(0) === 0x1f8b)
    reject("the file is compressed. Decompress it with gunzip first.");
  const type = kTypes.get(view.getUint8(2));
  if (view.getUint16(0) !== 0 || type === undefined) {
    reject(`expected an IDX file, which starts with 00 00 and a type, got ${hex(view)}.`);
  }
  const ndim = view.getUint8(3);
  const start = 4 + 4 * ndim;
  if (view.byteLength < start) reject(`the file ends before the sizes of its ${ndim} dimensions.`);
  const shape = Array.from({ length: ndim }, (_, dim) => view.getUint32(4 + 4 * dim));
  const count =
    countOf(shape) ??
    reject(
      `no tensor can have ${ndim} dimensions of sizes [${shape}]: at most 64 are possible, and they must fit in memory.`,
    );
  const expected = start + count * type.bytes;
  if (view.byteLength !== expected) {
    reject(`shape [${shape}] needs a file of ${expected} bytes, got ${view.byteLength}.`);
  }
  return filledBy("idx", type.dtype, shape, (elements) => {
    if (elements instanceof Uint8Array) {
      elements.set(new Uint8Array(buffer, byteOffset + start, count));
      return;
    }
    for (let i = 0; i < count; i++) elements[i] = type.read(view, start + i * type.bytes);
  });
}

function hex(view: DataView): string {
  const first = Array.from({ length: 4 }, (_, i) => view.getUint8(i));
  return first.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}

function reject(problem: string): never {
  fail("InvalidArgument", "idx", problem);
}
