// The WebAssembly file that a program passes to init(): where none can be fetched or compiled, as in runtimes for the edge, or where
// it is part of another file.

import { kLoaders } from "../files.js";
import { compile, type Download } from "./download.js";
import { fail, refusal } from "./errors.js";
import { chooseVariant, type Variant } from "./variant.js";

/** What init() takes as the WebAssembly file: the compiled module, its bytes or a response with them. */
export type WasmModule = WebAssembly.Module | BufferSource | Response;

/** What is expected, for messages. */
export const kWasmModule =
  "a WebAssembly.Module, the bytes of a .wasm file, a Response, or a promise of one";

/** True for a promise, or an object like it. */
function isPromise(value: unknown): value is PromiseLike<WasmModule> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}

// The module may be of another realm, where instanceof is false.
function isModule(value: unknown): value is WebAssembly.Module {
  return Object.prototype.toString.call(value) === "[object WebAssembly.Module]";
}

function isResponse(value: unknown): value is Response {
  const { arrayBuffer, headers } = (value ?? {}) as { arrayBuffer?: unknown; headers?: unknown };
  return typeof arrayBuffer === "function" && typeof headers === "object";
}

function isBytes(value: unknown): value is BufferSource {
  return ArrayBuffer.isView(value) || /ArrayBuffer\]$/.test(Object.prototype.toString.call(value));
}

// V8 refuses a DataView.
function bytesOf(source: BufferSource): BufferSource {
  if (!ArrayBuffer.isView(source)) return source;
  return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
}

/** True for what init() takes, and for a promise of it. */
export function isWasmModule(value: unknown): boolean {
  return isModule(value) || isBytes(value) || isResponse(value) || isPromise(value);
}

/** Returns the compiled module; throws InvalidArgument if there is none in what was given. */
export async function compileGiven(
  given: WasmModule | PromiseLike<WasmModule>,
): Promise<WebAssembly.Module> {
  const source = await given;
  if (isModule(source)) return source;
  if (!isBytes(source) && !isResponse(source)) {
    fail("InvalidArgument", "init", refusal("wasmModule", kWasmModule, source));
  }
  try {
    return isBytes(source) ? await WebAssembly.compile(bytesOf(source)) : await compile(source);
  } catch (error) {
    fail("InvalidArgument", "init", `wasmModule cannot be compiled: ${(error as Error).message}.`);
  }
}

/** Returns the variant of a module that was given. A build with threads imports the memory that they share. */
export function variantOfModule(module: WebAssembly.Module, wanted: Variant | "auto"): Variant {
  const hasThreads = WebAssembly.Module.imports(module).some(({ kind }) => kind === "memory");
  const variant = wanted === "auto" && !hasThreads ? "single" : chooseVariant(wanted);
  if (hasThreads === (variant !== "single")) return variant;
  const has = hasThreads ? "a build with threads" : 'the build "single"';
  const advice = hasThreads ? "Pass edgegrad-single.wasm." : 'Leave variant out, or pass "single".';
  const wants = wanted === "auto" ? "there are no threads here" : `variant is "${wanted}"`;
  fail("InvalidArgument", "init", `wasmModule is ${has}, but ${wants}. ${advice}`);
}

/** Returns the script of a build with a module that is there already. */
export function withModule(variant: Variant, module: WebAssembly.Module): Download {
  const script = kLoaders[variant]();
  return { script, isFound: Promise.resolve(true), compiled: Promise.resolve(module) };
}
