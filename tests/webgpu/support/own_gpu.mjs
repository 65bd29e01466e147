// An object like navigator.gpu for init({ gpu }), which stores the device that it returns.

import * as webgpu from "webgpu";
import { kAsQuickHardware, replacing } from "./replacing.mjs";
import { preferSoftwareAdapter } from "./software_adapter.mjs";

preferSoftwareAdapter();
Object.assign(globalThis, webgpu.globals);
// Stored because the process crashes if the instance of a device in use is garbage-collected.
const instance = webgpu.create([]);

export const gpu = {
  /** The device that was requested last. */
  device: undefined,
  async requestAdapter(options) {
    const adapter = await instance.requestAdapter(options);
    const requestDevice = async (descriptor) => {
      this.device = await adapter.requestDevice(descriptor);
      return this.device;
    };
    const { features, limits, info } = adapter;
    return { features, limits, info, requestDevice };
  },
};

/** The same, posing as hardware: kernels choose other shaders for that, and captured functions merge dispatches. */
export const gpuAsHardware = {
  async requestAdapter(options) {
    const adapter = await gpu.requestAdapter(options);
    const requestDevice = async (descriptor) =>
      replacing(await adapter.requestDevice(descriptor), kAsQuickHardware);
    return { ...adapter, requestDevice };
  },
};
