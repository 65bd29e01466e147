// `wasmUrl`, the option of init() that says where the files of dist/wasm are. Its types are public, so this file imports nothing
// whose declarations need more than the library of ES2020.

import { fail, refusal } from "../errors/errors.js";

/** The location of the files of dist/wasm: the URL of the folder or of the .wasm file, or a function from file name to URL. */
export type WasmUrl = string | ((file: string) => string | Located);

/** A URL, or an object like it. */
export interface Located {
  /** The address. */
  readonly href: string;
}

/** Returns the location of a file according to `wasmUrl`. */
export function locate(file: string, wasmUrl: WasmUrl): string {
  if (typeof wasmUrl === "function") {
    const location = wasmUrl(file);
    const url: unknown = typeof location === "string" ? location : location?.href;
    if (typeof url === "string") return url;
    fail("InvalidArgument", "init", refusal(`wasmUrl("${file}")`, "a string or a URL", location));
  }
  if (wasmUrl.endsWith(".wasm")) return wasmUrl;
  return wasmUrl.endsWith("/") ? wasmUrl + file : `${wasmUrl}/${file}`;
}
