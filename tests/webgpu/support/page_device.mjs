// A device that a page shares with the engine, and typical uses of it by the page.

import * as webgpu from "webgpu";
import { preferSoftwareAdapter } from "./software_adapter.mjs";

/** Whether there is a device for the tests, or why not. */
export const skip = preferSoftwareAdapter() ? false : "there is no software renderer";

Object.assign(globalThis, webgpu.globals);
// Stored because the process crashes if the instance of a device in use is garbage-collected.
const instance = webgpu.create([]);

/** Requests a device. */
export async function requestDevice(descriptor = {}) {
  const adapter = await instance.requestAdapter();
  return adapter.requestDevice(descriptor);
}

/** Returns a buffer of the page with this content. */
export function bufferOf(device, array, usage = 0) {
  const { STORAGE, COPY_SRC, COPY_DST } = GPUBufferUsage;
  const size = Math.ceil(array.byteLength / 4) * 4;
  const buffer = device.createBuffer({ size, usage: usage || STORAGE | COPY_SRC | COPY_DST });
  const bytes = new Uint8Array(size);
  bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  if (buffer.usage & COPY_DST) device.queue.writeBuffer(buffer, 0, bytes);
  return buffer;
}

/** Reads the floats of a binding by commands of the page. */
export async function floatsOf(device, { buffer, offset = 0, size = buffer.size }) {
  const { MAP_READ, COPY_DST } = GPUBufferUsage;
  const staging = device.createBuffer({ size, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, offset, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const values = [...new Float32Array(staging.getMappedRange().slice(0))];
  staging.destroy();
  return values;
}
