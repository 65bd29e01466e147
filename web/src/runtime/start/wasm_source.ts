// What init() takes as the WebAssembly file. The types of the package do not name those of WebAssembly, which TypeScript knows only
// with the DOM.

import { isPromise } from "../host/promise.js";
import { builtInName, isBytes } from "../host/realm.js";

/** What is expected, for messages. */
export const kWasmModule =
  "a WebAssembly.Module, the bytes of a .wasm file, a Response, or a promise of one";

/** True for a compiled module. */
export function isModule(value: unknown): boolean {
  return builtInName(value) === "WebAssembly.Module";
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
