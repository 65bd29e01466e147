// A one-line description of the engine for pages.

import type { RuntimeInfo } from "edgegrad";

/** Describes what a page computes on: "WebGPU (vendor)", or the CPU with its threads and variant. */
export function runtimeText(runtime: RuntimeInfo, device: string): string {
  const { threads, variant, webgpu } = runtime;
  if (device === "webgpu" && webgpu !== null) {
    return `WebGPU (${webgpu.description || webgpu.vendor || "unnamed adapter"})`;
  }
  if (variant === "single") return "CPU, 1 thread (this page is not cross-origin isolated)";
  const simd = variant === "relaxed" ? "relaxed SIMD" : "SIMD";
  return `CPU, ${threads} ${threads === 1 ? "thread" : "threads"}, ${simd}`;
}
