// Where the files beside the package's script are. All addresses stand in this one file, which both forms of the package have
// directly in dist/: they are relative to it, and bundlers know them by these very texts.

import type { ModuleFactory } from "./runtime/native.js";
import type { Variant } from "./runtime/variant.js";

/** The scripts of the variants. Literal specifiers: bundlers follow them, browsers and Node resolve them. */
export const kLoaders: Record<Variant, () => Promise<{ default: ModuleFactory }>> = {
  relaxed: () => import("./wasm/edgegrad-relaxed.mjs"),
  simd: () => import("./wasm/edgegrad-simd.mjs"),
  single: () => import("./wasm/edgegrad-single.mjs"),
};

/**
 * What constructs a worker for a thread. Bundlers take the script along when they see exactly this expression, with nothing but
 * literals in it. `name` and, in Node, `workerData` are what the script knows itself by; execArgv: a thread must not inherit
 * what only the main script can take, such as --input-type.
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

/** Returns the address of the script that the WebGPU device is. */
export function webGpuScript(): string {
  return new URL("./wasm/edgegrad-webgpu.js", import.meta.url).href;
}
