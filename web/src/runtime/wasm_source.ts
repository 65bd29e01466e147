// What init() takes as the WebAssembly file. The types of the package do not name those of WebAssembly, which TypeScript knows only
// with the DOM.

import { isPromise } from "./promise.js";

/** What is expected, for messages. */
export const kWasmModule =
  "a WebAssembly.Module, the bytes of a .wasm file, a Response, or a promise of one";

// A module may be of another realm, where instanceof is false.
const tagOf = (value: unknown) => Object.prototype.toString.call(value);

/** True for a compiled module. */
export function isModule(value: unknown): boolean {
  return tagOf(value) === "[object WebAssembly.Module]";
}

/** True for bytes. */
export function isBytes(value: unknown): boolean {
  return ArrayBuffer.isView(value) || /ArrayBuffer\]$/.test(tagOf(value));
}

/** True for a response. */
export function isResponse(value: unknown): boolean {
  const { arrayBuffer, headers } = (value ?? {}) as { arrayBuffer?: unknown; headers?: unknown };
  return typeof arrayBuffer === "function" && typeof headers === "object";
}

/** True for what init() takes, and for a promise of it. */
export function isWasmModule(value: unknown): boolean {
  return isPromise(value) || isModule(value) || isBytes(value) || isResponse(value);
}
