// The addresses of the files that ship beside the package's script. They are all in this one file, which is directly in dist/ in
// both forms of the package: the addresses are relative to it, and bundlers recognize exactly these expressions.

import type { ModuleFactory } from "./runtime/bridge/native.js";
import type { Variant } from "./runtime/start/builds.js";
import type { Part } from "./runtime/start/parts.js";

/** Loads the script of each variant. The specifiers are literals so that bundlers can follow them. */
export const kLoaders: Record<Variant, () => Promise<{ default: ModuleFactory }>> = {
  relaxed: () => import("./wasm/edgegrad-relaxed.mjs"),
  simd: () => import("./wasm/edgegrad-simd.mjs"),
  single: () => import("./wasm/edgegrad-single.mjs"),
};

/** Imports a script by its address, which is only known at run time. */
export const importAt = (address: string): Promise<unknown> =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ address);

/** Returns the address of the WebAssembly file of each variant, which has the whole engine. */
export const kWasmFiles: Record<Variant, () => string> = {
  relaxed: () => new URL("./wasm/edgegrad-relaxed.wasm", import.meta.url).href,
  simd: () => new URL("./wasm/edgegrad-simd.wasm", import.meta.url).href,
  single: () => new URL("./wasm/edgegrad-single.wasm", import.meta.url).href,
};

/** Returns the addresses of the files that have the same in parts, for pages. */
export const kPartFiles: Partial<Record<Variant, Record<Part | "core", () => string>>> = {
  relaxed: {
    core: () => new URL("./wasm/edgegrad-relaxed.core.wasm", import.meta.url).href,
    layers: () => new URL("./wasm/edgegrad-relaxed.layers.wasm", import.meta.url).href,
    conv: () => new URL("./wasm/edgegrad-relaxed.conv.wasm", import.meta.url).href,
    attention: () => new URL("./wasm/edgegrad-relaxed.attention.wasm", import.meta.url).href,
    extras: () => new URL("./wasm/edgegrad-relaxed.extras.wasm", import.meta.url).href,
    rest: () => new URL("./wasm/edgegrad-relaxed.rest.wasm", import.meta.url).href,
  },
  simd: {
    core: () => new URL("./wasm/edgegrad-simd.core.wasm", import.meta.url).href,
    layers: () => new URL("./wasm/edgegrad-simd.layers.wasm", import.meta.url).href,
    conv: () => new URL("./wasm/edgegrad-simd.conv.wasm", import.meta.url).href,
    attention: () => new URL("./wasm/edgegrad-simd.attention.wasm", import.meta.url).href,
    extras: () => new URL("./wasm/edgegrad-simd.extras.wasm", import.meta.url).href,
    rest: () => new URL("./wasm/edgegrad-simd.rest.wasm", import.meta.url).href,
  },
  single: {
    core: () => new URL("./wasm/edgegrad-single.core.wasm", import.meta.url).href,
    layers: () => new URL("./wasm/edgegrad-single.layers.wasm", import.meta.url).href,
    conv: () => new URL("./wasm/edgegrad-single.conv.wasm", import.meta.url).href,
    attention: () => new URL("./wasm/edgegrad-single.attention.wasm", import.meta.url).href,
    extras: () => new URL("./wasm/edgegrad-single.extras.wasm", import.meta.url).href,
    rest: () => new URL("./wasm/edgegrad-single.rest.wasm", import.meta.url).href,
  },
};

/**
 * Constructs the worker of a thread. Bundlers include the script only when they see exactly this expression, made of literals
 * alone. The script recognizes that it runs as a thread by `name` and, in Node, by `workerData`. `execArgv` is empty because a
 * thread must not inherit flags that only the main script accepts, such as --input-type.
 */
export const kWorkers: Partial<Record<Variant, () => Worker>> = {
  relaxed: () =>
    // @ts-expect-error: workerData and execArgv are Node's.
    // biome-ignore format: Bundlers look for it on one line.
    new Worker(new URL("./wasm/edgegrad-relaxed.mjs", import.meta.url), { type: "module", name: "em-pthread-relaxed", workerData: "em-pthread", execArgv: [] }),
  simd: () =>
    // @ts-expect-error: as above.
    // biome-ignore format: as above.
    new Worker(new URL("./wasm/edgegrad-simd.mjs", import.meta.url), { type: "module", name: "em-pthread-simd", workerData: "em-pthread", execArgv: [] }),
};

/** Returns the address of the script that implements the WebGPU device. */
export function webGpuScript(): string {
  return new URL("./wasm/edgegrad-webgpu.js", import.meta.url).href;
}
