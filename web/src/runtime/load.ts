// Finding and starting a WebAssembly build.

import { EdgeGradError } from "./errors.js";
import type { ModuleFactory, ModuleOptions, NativeModule } from "./native.js";
import type { Variant } from "./variant.js";
import { makeWorker } from "./workers.js";

/** Where the .wasm file is: the folder's URL, the file's, or a function from file name to URL. */
export type WasmUrl = string | ((file: string) => string | { readonly href: string });

/**
 * The scripts of the variants. Literal specifiers, relative to dist/index.js: bundlers follow them, browsers and Node resolve
 * them. @internal
 */
export const kLoaders: Record<Variant, () => Promise<{ default: ModuleFactory }>> = {
  relaxed: () => import("./wasm/edgegrad-relaxed.mjs"),
  simd: () => import("./wasm/edgegrad-simd.mjs"),
  single: () => import("./wasm/edgegrad-single.mjs"),
};

/** Loads and starts a variant. @internal */
export async function loadModule(
  variant: Variant,
  threads: number,
  wasmUrl: WasmUrl | undefined,
): Promise<NativeModule> {
  let isStarting = true;
  const options: ModuleOptions = {
    poolSize: variant === "single" ? 0 : threads - 1,
    makeWorker: () => makeWorker(variant),
    // What goes wrong at the start is thrown below.
    printErr: (text) => {
      if (!isStarting) console.error(text);
    },
  };
  try {
    if (wasmUrl !== undefined) await useWasmAt(wasmUrl, variant, options);
    const { default: start } = await kLoaders[variant]();
    return await start(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EdgeGradError(
      wasmUrl === undefined ? "Internal" : "InvalidArgument",
      `[init] the WebAssembly build "${variant}" could not be started: ${reason}. ` +
        "Serve the package's folder dist/wasm beside its script, or say where it is with wasmUrl.",
      { cause: error },
    );
  } finally {
    isStarting = false;
  }
}

async function useWasmAt(
  wasmUrl: WasmUrl,
  variant: Variant,
  options: ModuleOptions,
): Promise<void> {
  const url = locate(`edgegrad-${variant}.wasm`, wasmUrl);
  const files = globalThis.process?.getBuiltinModule?.("node:fs/promises");
  if (files === undefined) {
    options.locateFile = (file) => locate(file, wasmUrl);
    return;
  }
  // In Node, read before any thread starts: threads of a failed start would keep the process alive.
  const isRemote = /^https?:/.test(url);
  const file = url.startsWith("file:") ? new URL(url) : url;
  const bytes = isRemote ? await download(url) : await files.readFile(file);
  if (!WebAssembly.validate(bytes))
    throw new Error(`${url} is not a WebAssembly module for this engine`);
  options.wasmBinary = bytes;
}

async function download(url: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

function locate(file: string, wasmUrl: WasmUrl): string {
  if (typeof wasmUrl === "function") {
    const place = wasmUrl(file);
    return typeof place === "string" ? place : place.href;
  }
  if (wasmUrl.endsWith(".wasm")) return wasmUrl;
  return wasmUrl.endsWith("/") ? wasmUrl + file : `${wasmUrl}/${file}`;
}
