// The options of init().

import { isPlainObject, readOptions } from "../arguments/read.js";
import {
  either,
  functionOf,
  type Options,
  oneOf,
  Rule,
  text,
  type Values,
} from "../arguments/rule.js";
import { signalRule } from "../arguments/signal.js";
import { fail } from "../runtime/errors/errors.js";
import type { AbortSignalLike } from "../runtime/host/abort.js";
import { kVariants } from "../runtime/start/builds.js";
import { chooseVariant, defaultThreads } from "../runtime/start/variant.js";
import { isWasmModule, kWasmModule } from "../runtime/start/wasm_source.js";
import type { WasmUrl } from "../runtime/start/wasm_url.js";
import {
  defaultMaximum,
  kLargestMaximum,
  kSmallestMaximum,
} from "../runtime/threads/shared_memory.js";
import type { CreateWorker } from "../runtime/threads/worker_script.js";

/** Each thread is a worker with a stack in the 4 GiB of WebAssembly memory; with more threads the process crashes. @internal */
export const kMaxThreads = 128;

const kThreads = new Rule<number>(`a whole number from 1 to ${kMaxThreads}`, (value) => {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= kMaxThreads;
});

const kOwnDevice = new Rule<OwnDevice>("an object { device } with a GPUDevice", (value) => {
  const names = isPlainObject(value) ? Object.keys(value as object) : [];
  const { device } = (value ?? {}) as Partial<OwnDevice>;
  return names.join() === "device" && typeof device === "object" && device !== null;
});

export const kInitOptions = {
  /** The number of CPU threads, including the calling one; default: that of the machine, at most 8. */
  threads: kThreads.optional(),
  /** The number of workers that run functions for `spawn` at the same time; default: the machine's cores, at most 8. */
  spawnWorkers: kThreads.optional(),
  /** The WebAssembly build to use; "auto" selects the fastest that the environment supports. */
  variant: oneOf("auto", ...kVariants).or("auto"),
  /**
   * Whether to use WebGPU: "required" opens the device in init(), which rejects with DeviceUnavailable if there is none; "auto"
   * opens it at the first use; "off" disables it. `{ device }` is a page's own GPUDevice, which the calling thread then drives as with
   * `gpu`; it is not destroyed.
   */
  webgpu: either(oneOf("auto", "off", "required"), kOwnDevice).or("auto"),
  /**
   * An object like navigator.gpu that provides devices; default: navigator.gpu, in Node the package `webgpu`. Any object other
   * than navigator.gpu cannot be sent to another thread: the calling thread then drives the GPU whenever it is idle, so only the
   * asynchronous functions can read tensors.
   */
  gpu: new Rule<object>("an object like navigator.gpu, with requestAdapter()", (value) => {
    return typeof (value as { requestAdapter?: unknown } | null)?.requestAdapter === "function";
  }).optional(),
  /**
   * What a page has loaded when init() resolves: "needed", what its modules ask for, so that it can train, or "all". The rest is
   * loaded after that; an op that needs it sooner waits for it. Elsewhere everything is always loaded.
   */
  preload: oneOf("needed", "all").or("needed"),
  /** The location of the .wasm file and the workers' script, if they are not beside the installed package. */
  wasmUrl: either(text, functionOf<Exclude<WasmUrl, string>>()).optional(),
  /**
   * Constructs each worker of the engine's threads from the address of its script and the options for it, for pages that allow workers only
   * in their own way, as with a policy of Trusted Types.
   */
  createWorker: functionOf<CreateWorker>().optional(),
  /**
   * The WebAssembly file itself, where it is imported or part of another file: a `WebAssembly.Module`, its bytes, a `Response` with
   * them or a promise of one of these. By default it is that of the variant "single", whose `variant` may be left out.
   */
  wasmModule: new Rule<object>(kWasmModule, isWasmModule).optional(),
  /**
   * How much memory the engine may take: `maximum` is a number of bytes from 32 MiB to 4 GiB, rounded down to whole pages of
   * 64 KiB; default 4 GiB, or less in a container with less memory. Where the system does not reserve that much for threads, less
   * is tried.
   */
  memory: new Rule<MemoryOptions>(
    "an object such as { maximum: 2 ** 28 }",
    isPlainObject,
  ).optional(),
  /** Ends the call: the promise rejects with the signal's reason, and a start that no other call waits for is abandoned. */
  signal: signalRule,
};

/** The option `webgpu` of `init` with a page's own device. */
export interface OwnDevice {
  /** A GPUDevice of the calling thread. */
  readonly device: object;
}

const kMemoryOptions = {
  maximum: new Rule<number>(
    `a number of bytes from ${kSmallestMaximum} to ${kLargestMaximum}`,
    (value) => (value as number) >= kSmallestMaximum && (value as number) <= kLargestMaximum,
  ).optional(),
};

/** The option `memory` of `init`. */
export interface MemoryOptions {
  /** The most bytes that the engine's memory may take. */
  readonly maximum?: number;
}

/** Options of `init`. */
export type InitOptions = Options<typeof kInitOptions>;

/** The complete options that an engine is started with. */
export type InitValues = Omit<Values<typeof kInitOptions>, "memory" | "signal"> & {
  /** The most bytes that the memory may take. */
  readonly memory: number;
  readonly threads: number;
  readonly spawnWorkers: number;
  /** True when more than one thread was requested explicitly. */
  readonly wantsThreads: boolean;
};

/** Returns the options of a call of init(), with defaults filled in, and its signal. */
export function readInitOptions(
  given: readonly unknown[],
): [options: InitValues, signal: AbortSignalLike | undefined] {
  const { threads, spawnWorkers, memory, signal, ...others } = readOptions(
    "init",
    kInitOptions,
    given,
  );
  const options = {
    memory: readOptions("init", kMemoryOptions, [memory]).maximum ?? defaultMaximum(),
    threads: threads ?? defaultThreads(),
    wantsThreads: (threads ?? 1) > 1,
    spawnWorkers: spawnWorkers ?? defaultThreads(),
    ...others,
  };
  return [options, signal];
}

/** Throws InvalidArgument when a later call of init() has options that differ from those of the running engine. */
export function checkSameOptions(
  given: readonly unknown[],
  wanted: InitValues,
  inForce: InitValues,
): void {
  const present = { ...inForce, variant: chooseVariant(inForce.variant) };
  for (const name of Object.keys(given[0] ?? {}) as (keyof InitValues)[]) {
    const [asked, has] = [wanted[name], present[name]];
    // Functions and objects are new at every call, so they cannot be compared.
    const isPlain = typeof asked === "string" || typeof asked === "number";
    if (!isPlain || asked === "auto" || asked === has) continue;
    // The device can be opened at any time.
    if (asked === "required" && has !== "off") continue;
    const started = typeof has === "object" ? "a device" : JSON.stringify(has);
    const message = `${name}: ${JSON.stringify(asked)} was requested, but the engine was started with ${started}.`;
    fail("InvalidArgument", "init", `${message} Call \`await shutdown()\` first to restart it.`);
  }
}
