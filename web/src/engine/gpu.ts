// Opening, closing and querying the WebGPU device from the engine's main thread.

import { webGpuScript } from "../files.js";
import { callFrame, checked, native } from "../runtime/bridge/bridge.js";
import { holdFunction } from "../runtime/bridge/callbacks.js";
import { kFailed, kRefused, type NativeModule } from "../runtime/bridge/native.js";
import { EdgeGradError, fail } from "../runtime/errors/errors.js";
import { processHere } from "../runtime/host/node.js";
import { addressed } from "../runtime/start/address.js";
import { addressOfAttempt } from "../runtime/start/import_again.js";
import { scriptAt } from "../runtime/start/load.js";
import { addressIn } from "../runtime/start/start_failure.js";
import { untilSettled } from "../runtime/threads/keep_alive.js";
import type { InitValues } from "./init_options.js";

/** The adapter that the WebGPU device runs on. */
export interface WebGpuInfo {
  /** The vendor; empty where the browser does not reveal it. */
  readonly vendor: string;
  /** The GPU architecture; empty where the browser does not reveal it. */
  readonly architecture: string;
  /** A description of the adapter; empty where the browser does not reveal it. */
  readonly description: string;
  /** Whether shaders can use subgroups. */
  readonly subgroups: boolean;
  /** Whether shaders can use 16-bit floats. */
  readonly f16: boolean;
}

/** How often the player's script could not be loaded. */
let failedDownloads = 0;
/** Tells the engine where the script is, for the next attempt. */
let locateScript = (): void => undefined;

/**
 * Tells the engine whether it may use a WebGPU device; does not open one yet. An object passed instead of navigator.gpu cannot
 * be sent to another thread, so the main thread then replays the recorded commands. @internal
 */
export function allowGpu(module: NativeModule, { webgpu, gpu, wasmUrl }: InitValues): void {
  native.connectGpu();
  if (webgpu === "off") return;
  const isGiven = gpu !== undefined && gpu !== (globalThis.navigator as { gpu?: object })?.gpu;
  if (isGiven) module.gpu = gpu;
  const isOwn = typeof webgpu === "object";
  if (isOwn) module.gpuDevice = webgpu.device;
  const address = scriptAt(wasmUrl, "edgegrad-webgpu.js") ?? addressed(webGpuScript) ?? "";
  locateScript = () => {
    const isAgain = failedDownloads > 0 && address.startsWith("http");
    native.allowGpu(
      isAgain ? addressOfAttempt(address, failedDownloads) : address,
      isGiven || isOwn,
    );
  };
  locateScript();
}

/** Whether init() has to open the device. @internal */
export function requiresGpu({ webgpu }: InitValues): boolean {
  return webgpu === "required" || typeof webgpu === "object";
}

/** Takes a page's device in the place of one that is lost; throws if the running engine has another one. @internal */
export function useOtherDevice(module: NativeModule | null, { webgpu }: InitValues): void {
  if (typeof webgpu !== "object" || module === null || module.gpuDevice === webgpu.device) return;
  if (module.gpuDevice === undefined || native.gpuIsLost() === 0)
    fail(
      "InvalidArgument",
      "init",
      "webgpu.device: the engine runs with another device. Call `await shutdown()` first.",
    );
  module.gpuDevice = webgpu.device;
}

/**
 * Closes the GPU before its thread ends. In Node the process would crash if that thread ended while the GPU is busy. @internal
 */
export function closeGpu(): void {
  if (processHere()?.versions?.node !== undefined) native.closeGpu();
}

/** Opens the device if it is requested, or if it was open and has been lost; rejects with DeviceUnavailable if there is none. @internal */
export async function openGpu(isWanted: boolean): Promise<void> {
  const isOpen = native.gpuAdapter() !== "";
  const wasLost = native.gpuIsLost() === 1;
  if (isOpen || !(isWanted || wasLost)) return;
  const advice = wasLost
    ? " The device was lost before, and after repeated crashes a browser may block WebGPU: reload the page."
    : "";
  await untilSettled<void>("init", (resolve, reject) => {
    const answer = holdFunction(([outcome]) => {
      if (outcome === kFailed && addressIn(native.gpuFailure()) !== undefined) {
        failedDownloads++;
        locateScript();
      }
      if (outcome === kRefused)
        reject(new EdgeGradError("InvalidArgument", `[init] ${native.gpuFailure()}`));
      else if (outcome === kFailed)
        reject(new EdgeGradError("DeviceUnavailable", `[init] ${native.gpuFailure()}${advice}`));
      else resolve();
      return [];
    });
    checked(native.openGpu(answer));
  });
}

/** Counters of the WebGPU device since it was opened. */
export interface WebGpuStats {
  /** Command buffers submitted to the GPU. */
  readonly submits: number;
  /** Shader dispatches. */
  readonly dispatches: number;
  /** Compute pipelines created. */
  readonly pipelines: number;
  /** Bind groups created. */
  readonly bindGroups: number;
  /** GPU buffers created. */
  readonly buffersCreated: number;
  /** Transfers of data from the GPU to the CPU. */
  readonly readbacks: number;
  /** Bytes of tensors that were transferred from the CPU to the GPU. */
  readonly bytesWritten: number;
  /** Bytes of tensors that were transferred from the GPU to the CPU. */
  readonly bytesRead: number;
}

/** Returns the counters of the WebGPU device since it was opened; null if it is not open. */
export function webgpuStats(): WebGpuStats | null {
  if (native.gpuStats() === 0) return null;
  const [
    submits = 0,
    dispatches = 0,
    pipelines = 0,
    bindGroups = 0,
    buffersCreated = 0,
    readbacks = 0,
    bytesWritten = 0,
    bytesRead = 0,
  ] = callFrame();
  return {
    submits,
    dispatches,
    pipelines,
    bindGroups,
    buffersCreated,
    readbacks,
    bytesWritten,
    bytesRead,
  };
}

/** Returns the bytes and buffers on the WebGPU device. @internal */
export function gpuMemory() {
  const count = native.gpuMemory();
  const [gpuBytes = 0, gpuPeakBytes = 0, gpuBuffers = 0] = count === 0 ? [] : callFrame();
  return { gpuBytes, gpuPeakBytes, gpuBuffers };
}

/** Returns the adapter; null if the device is not open. @internal */
export function gpuInfo(): WebGpuInfo | null {
  const text = native.gpuAdapter();
  if (text === "") return null;
  const { vendor, architecture, description, features } = JSON.parse(text);
  const subgroups = features.includes("subgroups");
  return { vendor, architecture, description, subgroups, f16: features.includes("shader-f16") };
}
