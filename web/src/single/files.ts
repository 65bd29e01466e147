// What stands for files.ts in edgegrad/single. The addresses are relative to dist/single.

import type * as all from "../files.js";
import create from "../wasm/edgegrad-single.mjs";

type Single<Files> = Pick<Required<Files>, "single" & keyof Files>;

export const kLoaders: Single<typeof all.kLoaders> = {
  single: () => Promise.resolve({ default: create }),
};

/** There is nothing to import again. */
export const importAt: typeof all.importAt = (address) => Promise.reject(new Error(address));

export const kWasmFiles: Single<typeof all.kWasmFiles> = {
  single: () => new URL("../wasm/edgegrad-single.wasm", import.meta.url).href,
};

export const kPartFiles: typeof all.kPartFiles = {};

export const kWorkers: typeof all.kWorkers = {};

export const webGpuScript: typeof all.webGpuScript = () =>
  new URL("../wasm/edgegrad-webgpu.js", import.meta.url).href;
