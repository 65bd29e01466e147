// The addresses of the WebAssembly files of a build.

import { kPartFiles, kWasmFiles } from "../../files.js";
import { addressed } from "./address.js";
import type { Variant } from "./builds.js";
import { canLoadParts, type Part } from "./parts.js";
import { locate, type WasmUrl } from "./wasm_url.js";

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
