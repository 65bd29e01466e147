// The addresses of the WebAssembly files of a build.

import { kPartFiles, kWasmFiles } from "../../files.js";
import { fail, refusal } from "../errors/errors.js";
import { addressed } from "./address.js";
import type { Variant } from "./builds.js";
import { canLoadParts, type Part } from "./parts.js";

/** The location of the files of dist/wasm: the URL of the folder or of the .wasm file, or a function from file name to URL. */
export type WasmUrl = string | ((file: string) => string | Located);

/** A URL, or an object like it. */
export interface Located {
  /** The address. */
  readonly href: string;
}

/** The file that is loaded first, and the addresses of the parts if that is the core; null if it is everything. */
export interface WasmFiles {
  /** Undefined where the package does not know its own address. */
  readonly first: string | undefined;
  readonly partAt: ((part: Part) => string) | null;
}

/** Returns the files to load; `wasmUrl` is their location, by default that of the package. */
export function wasmFilesOf(variant: Variant, wasmUrl: WasmUrl | undefined): WasmFiles {
  const nameOf = (part: string) => `edgegrad-${variant}.${part}.wasm`;
  if (wasmUrl === undefined) {
    const files = canLoadParts() ? kPartFiles[variant] : undefined;
    const first = addressed(files?.core ?? kWasmFiles[variant]);
    if (files === undefined || first === undefined) return { first, partAt: null };
    return { first, partAt: (part) => addressed(files[part]) ?? "" };
  }
  if (typeof wasmUrl === "string" && wasmUrl.endsWith(".wasm")) {
    const isCore = wasmUrl.endsWith(kCoreEnd);
    const partAt = (part: Part) => `${wasmUrl.slice(0, -kCoreEnd.length)}.${part}.wasm`;
    return { first: wasmUrl, partAt: isCore ? partAt : null };
  }
  if (!canLoadParts()) return { first: locate(`edgegrad-${variant}.wasm`, wasmUrl), partAt: null };
  return {
    first: locate(nameOf("core"), wasmUrl),
    partAt: (part) => locate(nameOf(part), wasmUrl),
  };
}

const kCoreEnd = ".core.wasm";

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
