// The package as users import it, started with its WebGPU device.

import * as eg from "edgegrad";
import { seedFromEnvironment } from "../../js/support/seed.mjs";
import { preferSoftwareAdapter } from "./software_adapter.mjs";

/** For node:test: skips tests if there is no device. */
export const options = { skip: await start() };

export { eg };

// Resolves to false, or to the reason why there is no device. If Chromium's renderer is installed, there must be a device.
async function start() {
  const isSure = preferSoftwareAdapter();
  try {
    await eg.init({ webgpu: "required" });
    seedFromEnvironment(eg);
    return false;
  } catch (error) {
    if (isSure || error.code !== "DeviceUnavailable") throw error;
    return error.message;
  }
}

/** A tensor on the device. */
export function onGpu(data, settings = {}) {
  return eg.tensor(data, { device: "webgpu", ...settings });
}

/** A tensor on the device that requires its gradient. */
export function leaf(data) {
  return onGpu(data, { requiresGrad: true });
}

/** Returns the results of `fn` for each device, with the same random numbers. */
export async function onBoth(fn) {
  const results = [];
  for (const device of ["cpu", "webgpu"]) {
    eg.manualSeed(7);
    results.push(await fn(device));
  }
  const [cpu, gpu] = results;
  return { cpu, gpu };
}

/** Returns the warnings that the engine gives while `fn` runs. */
export async function warningsOf(fn) {
  const { warn } = console;
  const warnings = [];
  console.warn = (...words) => warnings.push(words.join(" "));
  try {
    await fn();
    // What the device's thread has passed on before arrives before these values.
    await onGpu([1]).data();
  } finally {
    console.warn = warn;
  }
  return warnings;
}
