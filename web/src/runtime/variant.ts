// The choice between the three WebAssembly builds.

import { kWorkers } from "../files.js";
import { fail } from "./errors.js";
import { nodeProcess } from "./node.js";

/** A build of the engine: threads and relaxed SIMD, threads and SIMD, or SIMD on one thread. */
export type Variant = (typeof kVariants)[number];

/** All builds, by their names. */
export const kVariants = ["relaxed", "simd", "single"] as const;

/** A module that only engines with relaxed SIMD accept. @internal */
// (func (result v128) (i8x16.relaxed_swizzle (i8x16.splat 1) (i8x16.splat 2)))
export const kRelaxedSimdModule = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 15, 1, 13, 0, 65, 1, 253, 15,
  65, 2, 253, 15, 253, 128, 2, 11,
]);

// True where several threads can share memory. A page can only do so when it is cross-origin isolated.
function hasThreads(): boolean {
  // Node has neither the property nor the restriction, and the workers of a module.
  const hasMemory =
    typeof SharedArrayBuffer === "function" && globalThis.crossOriginIsolated !== false;
  return hasMemory && (typeof Worker === "function" || nodeProcess() !== undefined);
}

// "edgegrad/single" contains no other build.
function isSingle(): boolean {
  return kWorkers.simd === undefined;
}

function hasRelaxedSimd(): boolean {
  return WebAssembly.validate(kRelaxedSimdModule);
}

/** Returns the variant to load; throws InvalidArgument in the name of `where` when the requested one cannot run here. */
export function chooseVariant(wanted: Variant | "auto", where = "init"): Variant {
  if (wanted === "auto") {
    if (isSingle() || !hasThreads()) return "single";
    return hasRelaxedSimd() ? "relaxed" : "simd";
  }
  if (wanted !== "single" && isSingle()) {
    fail(
      "InvalidArgument",
      where,
      `variant "${wanted}" is not in edgegrad/single: import "edgegrad", or leave variant out.`,
    );
  }
  if (wanted !== "single" && !hasThreads()) {
    fail(
      "InvalidArgument",
      where,
      `variant "${wanted}" needs threads, and so workers and shared memory. In a page they require the headers ` +
        "Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp. " +
        'Add them, or use variant "single" or "auto".',
    );
  }
  if (wanted === "relaxed" && !hasRelaxedSimd()) {
    fail(
      "InvalidArgument",
      where,
      'variant "relaxed" needs relaxed SIMD, which this JavaScript engine does not have. ' +
        'Use variant "simd" or "auto".',
    );
  }
  return wanted;
}

/** Returns the default number of threads. */
export function defaultThreads(): number {
  // Chromium's; in GiB, at most 8.
  const { deviceMemory } = (globalThis.navigator ?? {}) as { deviceMemory?: number };
  const isSmall = deviceMemory !== undefined && deviceMemory <= kSmallMemory;
  return Math.min(availableParallelism(), isSmall ? kThreadsOfSmall : kMaxDefaultThreads);
}

/** On a machine with at most so much memory, in GiB, there are at most so many threads by default: each needs a stack and a worker. */
const kSmallMemory = 4;
const kThreadsOfSmall = 4;

// The start-up time and memory of more threads than this do not pay off for small models.
const kMaxDefaultThreads = 8;

function availableParallelism(): number {
  const node = nodeProcess()?.getBuiltinModule("node:os");
  const available = node?.availableParallelism() ?? globalThis.navigator?.hardwareConcurrency;
  // Browsers and extensions that prevent fingerprinting report 0 or undefined.
  return Math.max(1, Math.floor(Number(available)) || 1);
}
