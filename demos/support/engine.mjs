// The engine as the demos start it, and Ctrl-C.

import * as eg from "edgegrad";

const kNoDevice = `In Node.js WebGPU comes from the package "webgpu" (npm install webgpu), and needs a GPU with a Vulkan
driver. Without a GPU a software one does, slowly: on Debian, apt-get install chromium libvulkan1, and
VK_ICD_FILENAMES=/usr/lib/chromium/vk_swiftshader_icd.json in the environment.`;

/** Starts the engine and says what it runs on. False where there is no such device, after saying how to get one. */
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

/** Returns an object whose `happened` is true after Ctrl-C; the event loop tells of it, so return to that now and then. */
export function watchInterrupt() {
  const interrupt = { happened: false };
  process.once("SIGINT", () => {
    interrupt.happened = true;
  });
  return interrupt;
}

/** The exit status of a program that Ctrl-C ended. */
export const kInterrupted = 130;

function nameOf({ vendor, architecture, description }) {
  return [description, vendor, architecture].filter((part) => part !== "").join(", ");
}
