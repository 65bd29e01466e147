// What a value is, also if it comes from another realm (an iframe, a vm context, a test environment), where instanceof is false.

import { fail } from "../errors/errors.js";

/** Returns the name of the built-in class of a value: "Map", "Int32Array", "WebAssembly.Module"; "Object" for others. */
export function builtInName(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** True for a Map. */
export function isMap(value: unknown): value is Map<unknown, unknown> {
  return builtInName(value) === "Map";
}

/** True for a Set. */
export function isSet(value: unknown): value is Set<unknown> {
  return builtInName(value) === "Set";
}

/** True for a view of numbers in a buffer. */
export function isTypedArray(value: unknown): value is ArrayLike<unknown> & ArrayBufferView {
  return ArrayBuffer.isView(value) && builtInName(value) !== "DataView";
}

/** True for a buffer, which threads may share. */
export function isBuffer(value: unknown): value is ArrayBufferLike {
  return /^(?:Shared)?ArrayBuffer$/.test(builtInName(value));
}

/** True for bytes: a view or a buffer. */
export function isBytes(value: unknown): value is ArrayBufferView | ArrayBufferLike {
  return ArrayBuffer.isView(value) || isBuffer(value);
}

/** Throws InvalidArgument if the bytes of a buffer or view have been transferred to another thread: it would look empty. */
export function refuseDetached(where: string, value: ArrayBufferView | ArrayBufferLike): void {
  const buffer = ArrayBuffer.isView(value) ? value.buffer : value;
  if (buffer.byteLength > 0) return;
  try {
    new Uint8Array(buffer);
  } catch {
    const what = `${builtInName(value)} has no bytes any more: they were transferred to another thread`;
    fail("InvalidArgument", where, `the ${what}. Transfer a copy, as of slice().`);
  }
}
