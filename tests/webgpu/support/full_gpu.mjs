// A GPU whose memory is full when a test says so: createBuffer() then fails as WebGPU lets it fail.

import * as webgpu from "webgpu";
import { replacing } from "./replacing.mjs";
import { preferSoftwareAdapter } from "./software_adapter.mjs";

const kImpossible = 2 ** 50; // bytes

/** Whether there is a GPU for the tests, or why not. */
export const skip = preferSoftwareAdapter() ? false : "there is no software renderer";

Object.assign(globalThis, webgpu.globals);
// Stored because the process crashes if the instance of a device in use is garbage-collected.
const instance = webgpu.create([]);

/** Which calls of createBuffer() fail, counted from the last reset(): `fails(call)`; and how many there were. */
export const memory = {
  calls: 0,
  fails: () => false,
  reset(fails = () => false) {
    this.calls = 0;
    this.fails = fails;
  },
};

let real;
let current;

/** An object like navigator.gpu for init(). Its devices share one, so that shaders are compiled once. */
export const gpu = {
  async requestAdapter(options) {
    const adapter = await instance.requestAdapter(options);
    const { features, limits, info } = adapter;
    const requestDevice = async (descriptor) => {
      real ??= await adapter.requestDevice(descriptor);
      current = makeDevice();
      return current.device;
    };
    return { features, limits, info, requestDevice };
  },
};

/** Loses the current device. */
export function lose() {
  current.lose();
}

function makeDevice() {
  const buffers = new Set();
  let end;
  const lost = new Promise((resolve) => {
    end = resolve;
  });
  const lose = () => {
    for (const buffer of buffers) buffer.destroy();
    end({ reason: "destroyed", message: "The test has lost it." });
  };
  const createBuffer = (descriptor) => {
    if (!memory.fails(++memory.calls)) {
      const buffer = real.createBuffer(descriptor);
      buffers.add(buffer);
      return buffer;
    }
    if (descriptor.mappedAtCreation) throw new RangeError("The memory is full.");
    return real.createBuffer({ ...descriptor, size: kImpossible });
  };
  const device = replacing(real, {
    lost: () => lost,
    destroy: () => lose,
    createBuffer: () => createBuffer,
  });
  return { device, lose };
}
