// The player on the engine's GPU thread: opens the device, and tells the engine (bindings/webgpu.cpp).

import { openDevice } from "./device";
import { dtypes as kDTypes } from "./dtype";
import { asPlayerError, type PlayerError } from "./errors";
import type { SupportedDTypes } from "./kernels/kernel";
import { supported, supportedFormulas } from "./kernels/table";
import { Player, type PlayerStats } from "./player";

/** What the player needs of the engine's module. */
export interface EngineModule {
  readonly wasmMemory: WebAssembly.Memory;
  readonly wasmExports: { eg_gpuStatsAddress(): number };
  /** What init() was given instead of navigator.gpu. */
  readonly gpu?: GPU;
  gpuPlayer?: { play(words: Uint32Array): void; close(): Promise<void> };
  eg_gpuOpened(supported: string, adapter: string, maxBlockBytes: number, hasClock: boolean): void;
  eg_gpuFailed(reason: string): void;
  eg_gpuLost(reason: string): void;
  eg_gpuFinishRead(ticket: number, kind: string, message: string): void;
}

/** Opens a device and plays on it from then on. */
export async function start(module: EngineModule): Promise<void> {
  try {
    const opened = await openDevice(module.gpu ?? (await findGpu()));
    if (opened === undefined)
      throw new Error(
        "WebGPU found no adapter: there is no GPU that it can use, or no driver for it (on Linux, one for Vulkan).",
      );
    const player = new Player(opened.device, {
      memory: () => new Uint8Array(module.wasmMemory.buffer),
      readDone: (ticket, error) =>
        module.eg_gpuFinishRead(ticket, error?.kind ?? "", error ? messageOf(error) : ""),
      lost: (message) => module.eg_gpuLost(message),
    });
    module.gpuPlayer = {
      play(words) {
        player.play(words);
        writeStats(module, player.stats);
      },
      close: () => player.close(),
    };
    const { maxBufferBytes, maxBindingBytes, features } = opened.adapter;
    const most = Math.min(maxBufferBytes, maxBindingBytes);
    const hasClock = features.includes("timestamp-query");
    module.eg_gpuOpened(supportedLines(), JSON.stringify(opened.adapter), most, hasClock);
  } catch (error) {
    module.eg_gpuFailed(asPlayerError(error, "").message);
  }
}

function writeStats({ wasmMemory, wasmExports }: EngineModule, stats: PlayerStats): void {
  const { submits, dispatches, pipelines, bindGroups, buffersCreated, readbacks } = stats;
  const words = new Uint32Array(wasmMemory.buffer, wasmExports.eg_gpuStatsAddress(), 6);
  words.set([submits, dispatches, pipelines, bindGroups, buffersCreated, readbacks]);
}

function messageOf({ op, message }: PlayerError): string {
  return `[${op || "webgpu"}] ${message}`;
}

// Kept: a device whose GPU object is collected takes Node's process with it.
let nodeGpu: GPU | undefined;

async function findGpu(): Promise<GPU> {
  const { gpu } = globalThis.navigator ?? {};
  if (gpu !== undefined) return gpu;
  if (globalThis.process?.versions?.node === undefined)
    throw new Error("this browser has no WebGPU, or the page is not a secure context.");
  try {
    const { create, globals } = await import("webgpu");
    Object.assign(globalThis, globals);
    nodeGpu ??= create([]);
    return nodeGpu;
  } catch (error) {
    const { message } = asPlayerError(error, "");
    throw new Error(`Node.js has no WebGPU of its own: npm install webgpu. (${message})`);
  }
}

// As GpuSupport::read (bindings/gpu_support.h) takes it.
function supportedLines(): string {
  const kernels = Object.entries(supported).map(([name, dtypes]) => `${name} ${bitsOf(dtypes)}`);
  return [...kernels, ...supportedFormulas.map((name) => `=${name}`)].join("\n");
}

function bitsOf(dtypes: SupportedDTypes): string {
  const lists = "all" in dtypes ? [dtypes.all] : dtypes.views;
  const bits = lists.map((list) =>
    list.reduce((sum, dtype) => sum + 2 ** kDTypes.indexOf(dtype), 0),
  );
  return ("all" in dtypes ? ["*", ...bits] : bits).join(" ");
}
