// The package as users import it, started with its WebGPU device.

import * as eg from "edgegrad";
import { seedFromEnvironment } from "../../js/support/seed.mjs";
import { preferSoftwareAdapter } from "./software_adapter.mjs";

/** For node:test: tests are skipped where there is no device. */
export const options = { skip: await start() };

export { eg };

// False, or why there is no device. Where Chromium's renderer is installed there has to be one.
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

/** What `fn` returns when it is given each device, with the same random numbers. */
export async function onBoth(fn) {
  const results = [];
  for (const device of ["cpu", "webgpu"]) {
    eg.manualSeed(7);
    results.push(await fn(device));
  }
  const [cpu, gpu] = results;
  return { cpu, gpu };
}

/** Returns what the engine warns of while `fn` runs. */
export async function warningsOf(fn) {
  const { warn } = console;
  const warnings = [];
  console.warn = (...words) => warnings.push(words.join(" "));
  try {
    await fn();
    // The device's own thread hands its warnings on through the event loop.
    await new Promise((resolve) => setTimeout(resolve, 50));
  } finally {
    console.warn = warn;
  }
  return warnings;
}
