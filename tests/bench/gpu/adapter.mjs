// WebGPU where browsers have it, for libraries that look for it there.

import { preferSoftwareAdapter } from "../../webgpu/support/software_adapter.mjs";

let gpu; // kept: a device whose GPU object is collected takes the process with it

/** Gives this process what a page has: `navigator.gpu` and the types of WebGPU. */
export async function offerWebGpu() {
  preferSoftwareAdapter();
  const { create, globals } = await import("webgpu");
  Object.assign(globalThis, globals);
  gpu ??= create([]);
  // Node 20 has no navigator.
  globalThis.navigator ??= { userAgent: "Node.js" };
  Object.defineProperty(globalThis.navigator, "gpu", { value: gpu, configurable: true });
}

/** The adapter that every library gets. */
export async function describeAdapter() {
  const { description, vendor } = (await gpu.requestAdapter()).info;
  return description || vendor;
}
