// Shared code of the file readers, for bytes that come from outside.

import { kMaxDims } from "../ops/create.js";
import { describe, fail } from "../runtime/errors.js";

/** Returns a view of a file's bytes; throws InvalidArgument for anything else. */
export function bytesOf(where: string, value: unknown): Uint8Array {
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (isBuffer(value)) return new Uint8Array(value);
  return fail(
    "InvalidArgument",
    where,
    `expected the bytes of a file, as a Uint8Array or an ArrayBuffer, got ${describe(value)}.`,
  );
}

function isBuffer(value: unknown): value is ArrayBufferLike {
  if (value instanceof ArrayBuffer) return true;
  // A page that is not cross-origin isolated lacks this class.
  return typeof SharedArrayBuffer === "function" && value instanceof SharedArrayBuffer;
}

/** Returns the number of elements of a shape, or null if no tensor can have this shape. */
export function countOf(shape: readonly number[]): number | null {
  // Sizes of zero count as one, as in the computation of strides.
  const extent = shape.reduce((product, size) => product * Math.max(size, 1), 1);
  if (shape.length > kMaxDims || !Number.isSafeInteger(extent)) return null;
  return shape.reduce((product, size) => product * size, 1);
}
