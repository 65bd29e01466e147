// The WebAssembly file that a program passes to init(): where none can be fetched or compiled, as in runtimes for the edge, or where
// it is part of another file.

import { kLoaders } from "../../files.js";
import { fail, refusal } from "../errors/errors.js";
import { isBytes } from "../host/realm.js";
import type { Variant } from "./builds.js";
import { compile, type Download } from "./download.js";
import { importAgain } from "./import_again.js";
import { chooseVariant } from "./variant.js";
import { isModule, isResponse, kWasmModule } from "./wasm_source.js";

// V8 refuses a DataView.
function bytesOf(source: BufferSource): BufferSource {
  if (!ArrayBuffer.isView(source)) return source;
  return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}

/** Returns the compiled module; throws InvalidArgument if there is none in what was given. */
export async function compileGiven(given: object): Promise<WebAssembly.Module> {
  const source: unknown = await given;
  if (isModule(source)) return source as WebAssembly.Module;
  if (!isBytes(source) && !isResponse(source)) {
    fail("InvalidArgument", "init", refusal("wasmModule", kWasmModule, source));
  }
  try {
    if (isResponse(source)) return await compile(source as Response);
    return await WebAssembly.compile(bytesOf(source as BufferSource));
  } catch (error) {
    fail("InvalidArgument", "init", `wasmModule cannot be compiled: ${(error as Error).message}.`);
  }
}

/** Returns the variant of a module that was given. A build with threads imports the memory that they share. */
export function variantOfModule(module: WebAssembly.Module, wanted: Variant | "auto"): Variant {
  const imports = WebAssembly.Module.imports(module);
  if (imports.some((entry) => entry.module === "parts")) {
    fail("InvalidArgument", "init", "wasmModule is only the core. Pass edgegrad-single.wasm.");
  }
  const hasThreads = imports.some(({ kind }) => kind === "memory");
  const variant = wanted === "auto" && !hasThreads ? "single" : chooseVariant(wanted);
  if (hasThreads === (variant !== "single")) return variant;
  const has = hasThreads ? "a build with threads" : 'the build "single"';
  const advice = hasThreads ? "Pass edgegrad-single.wasm." : 'Leave variant out, or pass "single".';
  const wants = wanted === "auto" ? "there are no threads here" : `variant is "${wanted}"`;
  fail("InvalidArgument", "init", `wasmModule is ${has}, but ${wants}. ${advice}`);
}

/** Returns the script of a build with a module that is there already. */
export function withModule(variant: Variant, module: WebAssembly.Module): Download {
  const script = importAgain(kLoaders[variant]);
  return { script, isFound: Promise.resolve(true), compiled: Promise.resolve(module), parts: null };
}
