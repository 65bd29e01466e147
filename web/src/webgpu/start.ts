// Starts the player on the engine's GPU thread: opens the device and reports to the engine (bindings/webgpu.cpp).

import { describe } from "../runtime/errors/errors.js";
import { camelCase } from "../runtime/host/spelling.js";
import type { Timers } from "../runtime/host/timeout.js";
import { adoptDevice, openDevice, Refusal } from "./device";
import { dtypes as kDTypes } from "./dtype";
import { reasonOf as messageOfThrown, type PlayerError } from "./errors";
import type { Exchange } from "./exchange";
import type { SupportedDTypes } from "./kernels/kernel";
import { supported, supportedFormulas } from "./kernels/table";
import { Player, type PlayerStats } from "./player";

/** The parts of the engine's module that the player uses. */
export interface EngineModule {
  readonly wasmMemory: WebAssembly.Memory;
  readonly wasmExports: { eg_gpuStatsAddress(): number; eg_gpuPlay(): void };
  /** The GPU that was passed to init() instead of navigator.gpu. */
  readonly gpu?: GPU;
  /** The timers that the host had when the package was imported; in a thread of the engine there are none. */
  readonly timers?: Timers;
  /** The page's own device, if it was passed to init(). */
  readonly gpuDevice?: GPUDevice;
  /** True once the engine was shut down, after which it must not be called. */
  readonly isStopped?: boolean;
  gpuPlayer?: { play(words: Uint32Array): void; close(): Promise<void>; exchange: Exchange };
  eg_gpuOpened(supported: string, adapter: string, maxBlockBytes: number, hasClock: boolean): void;
  eg_gpuFailed(reason: string, isRefused: boolean): void;
  eg_gpuLost(reason: string): void;
  eg_gpuFinishRead(ticket: number, kind: string, message: string): void;
}

/** Opens a device and installs a player for it in the module. */
export async function start(module: EngineModule): Promise<void> {
  try {
    const { gpuDevice } = module;
    const opened =
      gpuDevice === undefined
        ? await openDevice(module.gpu ?? (await findGpu()), module.timers)
        : await adoptDevice(gpuDevice);
    if (opened === undefined)
      throw new Error(
        "WebGPU found no adapter: there is no supported GPU, or its driver is missing (on Linux, a Vulkan driver).",
      );
    if (module.isStopped) {
      if (gpuDevice === undefined) opened.device.destroy();
      return;
    }
    const player = new Player(opened.device, {
      memory: () => new Uint8Array(module.wasmMemory.buffer),
      flush: () => module.wasmExports.eg_gpuPlay(),
      readDone(ticket, error) {
        if (module.isStopped) return;
        module.eg_gpuFinishRead(ticket, error?.kind ?? "", error ? messageOf(error) : "");
      },
      warn: (op, message) =>
        console.warn(
          `edgegrad: [${camelCase(op)}] ${message}. What was computed from it cannot be read, and optimizers leave out steps with it.`,
        ),
      lost(message) {
        if (!module.isStopped) module.eg_gpuLost(message);
      },
    });
    module.gpuPlayer = {
      play(words) {
        const written = () => writeStats(module, player.stats);
        const waits = player.play(words);
        if (waits === undefined) written();
        else void waits.then(written);
      },
      exchange: player.exchange,
      close: () => player.close(gpuDevice !== undefined),
    };
    const { maxBufferBytes, features } = opened.adapter;
    const hasClock = features.includes("timestamp-query");
    module.eg_gpuOpened(supportedLines(), JSON.stringify(opened.adapter), maxBufferBytes, hasClock);
  } catch (error) {
    if (!module.isStopped) module.eg_gpuFailed(reasonOf(error), error instanceof Refusal);
  }
}

// Whatever a GPU of the program has thrown.
function reasonOf(error: unknown): string {
  try {
    const message = error instanceof Error ? error.message : undefined;
    if (typeof message === "string" && message !== "") return message;
  } catch {}
  return `the GPU was not opened: ${describe(error)}.`;
}

const kStatsInOrder = [
  "submits",
  "dispatches",
  "pipelines",
  "bindGroups",
  "buffersCreated",
  "readbacks",
  "bytesWritten",
  "bytesRead",
] as const satisfies readonly (keyof PlayerStats)[];

function writeStats({ wasmMemory, wasmExports }: EngineModule, stats: PlayerStats): void {
  const address = wasmExports.eg_gpuStatsAddress();
  // In the order in which webgpuStats() reads them.
  const numbers = new Float64Array(wasmMemory.buffer, address, kStatsInOrder.length);
  numbers.set(kStatsInOrder.map((name) => stats[name]));
}

function messageOf({ op, message }: PlayerError): string {
  return `[${camelCase(op) || "webgpu"}] ${message}`;
}

// Kept reachable, because Node.js crashes when the GPU object of a device is garbage-collected.
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
    throw new Error(
      `Node.js has no built-in WebGPU: run npm install webgpu. (${messageOfThrown(error)})`,
    );
  }
}

// The supported kernels and formulas in the format of GpuSupport::read (bindings/gpu_support.h).
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
