// The choice between CPU and WebGPU, where there is a GPU to choose.

import type { Device } from "edgegrad";

/** Fills a <select> with the devices that this browser has. */
export async function fillDevices(select: HTMLSelectElement): Promise<void> {
  const options = [new Option("CPU", "cpu")];
  if (await hasWebGpu()) options.push(new Option("WebGPU", "webgpu"));
  select.replaceChildren(...options);
  if (options.length === 1) select.title = "This browser offers no WebGPU adapter";
}

/** The device that is chosen. */
export function chosenDevice(select: HTMLSelectElement): Device {
  return select.value === "webgpu" ? "webgpu" : "cpu";
}

/** True where a GPU answers. */
export async function hasWebGpu(): Promise<boolean> {
  if (!("gpu" in navigator)) return false;
  return (await (navigator.gpu as GPU).requestAdapter()) !== null;
}
