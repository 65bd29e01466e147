// The engine in one line, as pages show it.

import type { RuntimeInfo } from "edgegrad";

/** Says on what a page computes: "WebGPU (vendor)", or the CPU with its threads and variant. */
export function runtimeText(runtime: RuntimeInfo, device: string): string {
  const { threads, variant, webgpu } = runtime;
  if (device === "webgpu" && webgpu !== null) {
    return `WebGPU (${webgpu.description || webgpu.vendor || "adapter without a name"})`;
  }
  if (variant === "single") return "CPU, 1 thread (this page is not cross-origin isolated)";
  const simd = variant === "relaxed" ? "relaxed SIMD" : "SIMD";
  return `CPU, ${threads} ${threads === 1 ? "thread" : "threads"}, ${simd}`;
}
