// The workers of the engine's threads. They run the script of a module, which finds out by itself that it is a thread.

import { EdgeGradError } from "./errors.js";
import type { ThreadWorker } from "./native.js";
import type { Variant } from "./variant.js";

// Bundlers take the script along when they see exactly this expression, with nothing but literals in it. `name` and, in
// Node, `workerData` are what the script knows itself by; execArgv: a thread must not inherit what only the main script
// can take, such as --input-type.
const kWorkers: Partial<Record<Variant, () => Worker>> = {
  relaxed: () =>
    // @ts-expect-error: workerData and execArgv are Node's.
    // biome-ignore format: Bundlers look for it on one line.
    new Worker(new URL("./wasm/edgegrad-relaxed.mjs", import.meta.url), { type: "module", name: "em-pthread-relaxed", workerData: "em-pthread", execArgv: [] }),
  simd: () =>
    // @ts-expect-error: as above.
    // biome-ignore format: as above.
    new Worker(new URL("./wasm/edgegrad-simd.mjs", import.meta.url), { type: "module", name: "em-pthread-simd", workerData: "em-pthread", execArgv: [] }),
};

/** Constructs a worker for a thread of this variant. @internal */
export function makeWorker(variant: Variant): ThreadWorker {
  const make = kWorkers[variant];
  if (make === undefined) throw new EdgeGradError("Internal", `"${variant}" has no threads.`);
  return make() as ThreadWorker;
}
