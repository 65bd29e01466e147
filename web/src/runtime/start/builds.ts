// The WebAssembly builds, and what they need of a JavaScript engine.

import { nodeProcess } from "../host/node.js";

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

/** Returns whether several threads can share memory here. A page can only do so when it is cross-origin isolated. @internal */
export function hasThreads(): boolean {
  // Node has neither the property nor the restriction, and the workers of a module.
  const hasMemory =
    typeof SharedArrayBuffer === "function" && globalThis.crossOriginIsolated !== false;
  return hasMemory && (typeof Worker === "function" || nodeProcess() !== undefined);
}

/** Returns whether the build with relaxed SIMD can run here. @internal */
export function hasRelaxedSimd(): boolean {
  return WebAssembly.validate(kRelaxedSimdModule);
}

/** Returns the fastest build that can run here. @internal */
export function fastestVariant(): Variant {
  if (!hasThreads()) return "single";
  return hasRelaxedSimd() ? "relaxed" : "simd";
}
