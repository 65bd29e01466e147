// The choice between CPU and WebGPU, if there is a GPU.

import type { Device } from "edgegrad";

/** Fills a <select> with the devices that this browser supports. */
export async function fillDevices(select: HTMLSelectElement): Promise<void> {
  const options = [new Option("CPU", "cpu")];
  if (await hasWebGpu()) options.push(new Option("WebGPU", "webgpu"));
  select.replaceChildren(...options);
  if (options.length === 1) select.title = "This browser has no WebGPU adapter";
}

/** The selected device. */
export function chosenDevice(select: HTMLSelectElement): Device {
  return select.value === "webgpu" ? "webgpu" : "cpu";
}

/** True if there is a WebGPU adapter. */
export async function hasWebGpu(): Promise<boolean> {
  if (!("gpu" in navigator)) return false;
  return (await (navigator.gpu as GPU).requestAdapter()) !== null;
}
