// The WebGPU device, as the engine's main thread sees it.

import { webGpuScript } from "../files.js";
import { callFrame, checked, native } from "../runtime/bridge.js";
import { holdFunction } from "../runtime/callbacks.js";
import { EdgeGradError } from "../runtime/errors.js";
import { untilSettled } from "../runtime/keep_alive.js";
import { scriptAt } from "../runtime/load.js";
import { kFailed, type NativeModule } from "../runtime/native.js";
import type { InitValues } from "./init_options.js";

/** The adapter that the WebGPU device runs on. */
export interface WebGpuInfo {
  /** Who made it; empty where the browser does not tell. */
  readonly vendor: string;
  /** Its family; empty where the browser does not tell. */
  readonly architecture: string;
  /** It in words; empty where the browser does not tell. */
  readonly description: string;
  /** Shaders may use subgroups. */
  readonly subgroups: boolean;
  /** Shaders may use 16-bit floats. */
  readonly f16: boolean;
}

/**
 * Says whether there may be a WebGPU device. What is given instead of navigator.gpu cannot leave its thread, so the main
 * thread plays on it. Nothing is opened yet. @internal
 */
export function allowGpu(module: NativeModule, { webgpu, gpu, wasmUrl }: InitValues): void {
  native.connectGpu();
  if (webgpu === "off") return;
  const isGiven = gpu !== undefined && gpu !== (globalThis.navigator as { gpu?: object })?.gpu;
  if (isGiven) module.gpu = gpu;
  native.allowGpu(scriptAt(wasmUrl, "edgegrad-webgpu.js") ?? webGpuScript(), isGiven);
}

/**
 * Lets go of the GPU before its thread ends: in Node that would take the process with it while the GPU is at work. @internal
 */
export function closeGpu(): void {
  if (globalThis.process?.versions?.node !== undefined) native.closeGpu();
}

/** Opens the device if it is wanted, or was there and is lost; throws DeviceUnavailable where there is none. @internal */
export async function openGpu(isWanted: boolean): Promise<void> {
  const isOpen = native.gpuAdapter() !== "";
  if (isOpen || !(isWanted || native.gpuIsLost() === 1)) return;
  await untilSettled<void>("init", (resolve, reject) => {
    const answer = holdFunction(([outcome]) => {
      if (outcome !== kFailed) resolve();
      else reject(new EdgeGradError("DeviceUnavailable", `[init] ${native.gpuFailure()}`));
      return [];
    });
    checked(native.openGpu(answer));
  });
}

/** What the WebGPU device has done since it was opened. */
export interface WebGpuStats {
  /** Lists of commands handed to the GPU. */
  readonly submits: number;
  /** Runs of a shader. */
  readonly dispatches: number;
  /** Shaders compiled. */
  readonly pipelines: number;
  /** Connections made of memory to shaders. */
  readonly bindGroups: number;
  /** Blocks of memory asked of the GPU. */
  readonly buffersCreated: number;
  /** Reads of data from the GPU. */
  readonly readbacks: number;
}

/** Returns what the WebGPU device has done since it was opened; null where it was not. */
export function webgpuStats(): WebGpuStats | null {
  if (native.gpuStats() === 0) return null;
  const [
    submits = 0,
    dispatches = 0,
    pipelines = 0,
    bindGroups = 0,
    buffersCreated = 0,
    readbacks = 0,
  ] = callFrame();
  return { submits, dispatches, pipelines, bindGroups, buffersCreated, readbacks };
}

/** Bytes and buffers on the WebGPU device. @internal */
export function gpuMemory() {
  const count = native.gpuMemory();
  const [gpuBytes = 0, gpuPeakBytes = 0, gpuBuffers = 0] = count === 0 ? [] : callFrame();
  return { gpuBytes, gpuPeakBytes, gpuBuffers };
}

/** The adapter; null where the device was not opened. @internal */
export function gpuInfo(): WebGpuInfo | null {
  const text = native.gpuAdapter();
  if (text === "") return null;
  const { vendor, architecture, description, features } = JSON.parse(text);
  const subgroups = features.includes("subgroups");
  return { vendor, architecture, description, subgroups, f16: features.includes("shader-f16") };
}
