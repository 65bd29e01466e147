// A WebGPU device in Node, on the adapter that npm's `webgpu` finds; if Chromium is installed, that is its
// software renderer.

import { preferSoftwareAdapter } from "./software_adapter.mjs";

/** What the kernels use where it is there. */
const kFeatures = ["shader-f16"];

let instance;

/** Returns `{ device, gpu }`, or `{ reason }` if there is no device. */
export async function openDevice() {
  preferSoftwareAdapter();
  let webgpu;
  try {
    webgpu = await import("webgpu");
  } catch (error) {
    return { reason: `npm's webgpu cannot be loaded: ${error.message}` };
  }
  Object.assign(globalThis, webgpu.globals);
  // Stored because the process crashes if the instance of a device in use is garbage-collected.
  instance ??= webgpu.create([]);
  const adapter = await instance.requestAdapter();
  if (!adapter) return { reason: "WebGPU has no adapter here (chromium and libvulkan1 have one)" };
  const requiredFeatures = kFeatures.filter((name) => adapter.features.has(name));
  return { device: await adapter.requestDevice({ requiredFeatures }), gpu: instance };
}

/** Runs shaders on arrays; caches pipelines by their text. */
export class Runner {
  #device;
  #pipelines = new Map();

  constructor(device) {
    this.#device = device;
  }

  /** The number of different shaders so far. */
  get pipelines() {
    return this.#pipelines.size;
  }

  /**
   * Binds `inputs`, then `stores` arrays of `count` elements of `bytes`, then `constants` unless it is empty, in group 0. Returns the
   * contents of the stored arrays.
   */
  async run(text, workgroupSize, { inputs, stores, count, bytes = 4, constants }) {
    const device = this.#device;
    const { STORAGE, COPY_DST, COPY_SRC, UNIFORM, MAP_READ } = GPUBufferUsage;
    const filled = (data, usage) => {
      const buffer = device.createBuffer({ size: Math.max(16, data.byteLength), usage });
      device.queue.writeBuffer(buffer, 0, data);
      return buffer;
    };
    const size = bytes * count;
    const reads = inputs.map((data) => filled(data, STORAGE | COPY_DST));
    const writes = Array.from({ length: stores }, () =>
      device.createBuffer({ size, usage: STORAGE | COPY_SRC }),
    );
    const uniforms = constants.length ? [filled(constants, UNIFORM | COPY_DST)] : [];
    const staging = writes.map(() => device.createBuffer({ size, usage: MAP_READ | COPY_DST }));
    const pipeline = await this.#pipelineOf(text);
    const buffers = [...reads, ...writes, ...uniforms];
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(
      0,
      device.createBindGroup({
        layout: pipeline.getBindGroupLayout(0),
        entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
      }),
    );
    pass.dispatchWorkgroups(Math.ceil(count / workgroupSize));
    pass.end();
    writes.forEach((buffer, i) => {
      encoder.copyBufferToBuffer(buffer, 0, staging[i], 0, size);
    });
    device.queue.submit([encoder.finish()]);
    const results = [];
    for (const buffer of staging) {
      await buffer.mapAsync(GPUMapMode.READ);
      results.push(buffer.getMappedRange().slice(0));
    }
    for (const buffer of [...buffers, ...staging]) buffer.destroy();
    return results;
  }

  async #pipelineOf(text) {
    const known = this.#pipelines.get(text);
    if (known) return known;
    const device = this.#device;
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code: text });
    const pipeline = device.createComputePipeline({
      layout: "auto",
      compute: { module, entryPoint: "main" },
    });
    const error = await device.popErrorScope();
    if (error) throw new Error(`${error.message}\n${text}`);
    this.#pipelines.set(text, pipeline);
    return pipeline;
  }
}
