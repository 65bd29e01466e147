// Shared code of the file readers, for bytes that come from outside.

import { kMaxDims } from "../ops/create.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { isBuffer, isBytes, refuseDetached } from "../runtime/host/realm.js";
import { attempt } from "../tensor/reachable.js";
import { refuseSentInstead } from "./file_kinds.js";

/**
 * Returns a view of a file's bytes; throws InvalidArgument for anything else, also for the page that a server sent instead. `kinds` is
 * what the caller takes.
 */
export function bytesOf(
  where: string,
  value: unknown,
  kinds = "a Uint8Array or an ArrayBuffer",
): Uint8Array {
  const bytes = viewOf(where, value, kinds);
  refuseSentInstead(where, bytes);
  return bytes;
}

function viewOf(where: string, value: unknown, kinds: string): Uint8Array {
  if (isBytes(value)) refuseDetached(where, value);
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (isBuffer(value)) return new Uint8Array(value);
  return fail(
    "InvalidArgument",
    where,
    `expected the bytes of a file, as ${kinds}, got ${describe(value)}.${adviceFor(value)}`,
  );
}

// A Response, Blob or File has a method that returns its bytes; a text is probably where the file is.
function adviceFor(value: unknown): string {
  if (typeof value === "string") {
    return " For a path, pass `readFileSync(path)` in Node; for an address, `await (await fetch(url)).arrayBuffer()`.";
  }
  const isSource = attempt(() => typeof (value as Partial<Blob>).arrayBuffer === "function");
  return isSource ? " Pass `await it.arrayBuffer()`." : "";
}

/** Returns the number of elements of a shape, or null if no tensor can have this shape. */
export function countOf(shape: readonly number[]): number | null {
  // Sizes of zero count as one, as in the computation of strides.
  const extent = shape.reduce((product, size) => product * Math.max(size, 1), 1);
  if (shape.length > kMaxDims || !Number.isSafeInteger(extent)) return null;
  return shape.reduce((product, size) => product * size, 1);
}
