// Provides WebGPU in Node.js in the way browsers do, for libraries that expect it there.

let gpu; // retained, because the process crashes if the GPU object of a device is collected

/** Sets up the globals that a page has: `navigator.gpu` and the WebGPU types. */
export async function offerWebGpu() {
  const { create, globals } = await import("webgpu");
  Object.assign(globalThis, globals);
  gpu ??= create([]);
  // Node 20 has no navigator.
  globalThis.navigator ??= { userAgent: "Node.js" };
  Object.defineProperty(globalThis.navigator, "gpu", { value: gpu, configurable: true });
}

/** Resolves to the name of the adapter that every library uses. */
export async function nameOfAdapter() {
  const { description, vendor } = (await gpu.requestAdapter()).info;
  return description || vendor;
}
