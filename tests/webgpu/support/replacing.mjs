// A WebGPU device with some properties replaced.

/** Returns a device with other properties; each is made from the device. */
export function replacing(device, replaced) {
  return new Proxy(device, {
    get: (target, name) => {
      if (name in replaced) return replaced[name](target);
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Of a device that poses as hardware, for which kernels choose other shaders. */
export const kAsHardware = { adapterInfo: () => ({ isFallbackAdapter: false }) };

/** The same, compiling at once: in Node.js, waiting for a shader of a software adapter takes as much time again as compiling it. */
export const kAsQuickHardware = {
  ...kAsHardware,
  createComputePipelineAsync: (device) => async (given) => device.createComputePipeline(given),
};
