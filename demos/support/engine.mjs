// Starting the engine for the demos, and handling Ctrl-C.

import * as eg from "edgegrad";

const kNoDevice = `In Node.js, WebGPU requires the package "webgpu" (npm install webgpu) and a GPU with a Vulkan driver.
Without a GPU you can use a slow software driver: on Debian, run apt-get install chromium libvulkan1, and set
VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json in the environment.`;

/** Starts the engine and prints what it runs on. Returns false if the device is missing, after printing how to get one. */
export async function startEngine({ variant = "auto", threads, device = "cpu" }) {
  const webgpu = device === "webgpu" ? "required" : "off";
  try {
    await eg.init({ variant, webgpu, ...(threads !== undefined && { threads }) });
  } catch (error) {
    if (error.code !== "DeviceUnavailable") throw error;
    console.error(`${error.message}\n\n${kNoDevice}`);
    return false;
  }
  const runtime = eg.runtime();
  console.log(`edgegrad ${runtime.version}: ${runtime.variant}, ${runtime.threads} thread(s)`);
  if (runtime.webgpu) console.log(`WebGPU on ${nameOf(runtime.webgpu)}`);
  return true;
}

/** Returns an object whose `happened` becomes true after Ctrl-C, once the program returns to the event loop. */
export function watchInterrupt() {
  const interrupt = { happened: false };
  process.once("SIGINT", () => {
    interrupt.happened = true;
  });
  return interrupt;
}

/** The exit status of a program that was interrupted by Ctrl-C. */
export const kInterrupted = 130;

function nameOf({ vendor, architecture, description }) {
  return [description, vendor, architecture].filter((part) => part !== "").join(", ");
}
