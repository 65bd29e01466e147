// An object like navigator.gpu for init({ gpu }), which keeps the device that it gives.

import * as webgpu from "webgpu";
import { preferSoftwareAdapter } from "./software_adapter.mjs";

preferSoftwareAdapter();
Object.assign(globalThis, webgpu.globals);
// Kept: a device whose instance is collected takes the process with it.
const instance = webgpu.create([]);

export const gpu = {
  /** The device that was asked for last. */
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
