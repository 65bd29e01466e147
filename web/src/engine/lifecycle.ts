// Starting and stopping the engine, and what it says about itself.
//
// A call of init() or shutdown() looks at once at the state that the calls before it leave behind, and what it finds there
// it belongs to, however long that takes. Engines follow one another; there are never two. A `EngineInstance` is one of them:
//
//   state     it has                  init()                                     shutdown()
//   none      no life                 begins a life -> starting                  does nothing
//   starting  `started` is pending    shares its start, or is refused for its    -> ending, once it has started
//   running   `started` has resolved  options, as checkSameOptions() says        -> ending
//   ending    `ended` is set          begins the next life, which starts when    waits for the same end
//                                     this one has ended -> starting
//
// A start that fails -> none: all calls of init() that share it reject with its error, and a shutdown() that waits for it
// resolves. An end takes back nothing: between shutdown() and the next start all that needs an engine is NotInitialized,
// and what was pending is rejected. A thread that joined somebody else's engine has a life without options, which only the
// thread that began it can end.

import { kOpTableHash } from "../generated/op_table_hash.js";
import { attach, callFrame, checked, detach, functionsOf, native } from "../runtime/bridge.js";
import { callFunction } from "../runtime/call_function.js";
import { describeThrown, dropValue, functionName } from "../runtime/callbacks.js";
import { EdgeGradError, fail } from "../runtime/errors.js";
import { rejectAll } from "../runtime/keep_alive.js";
import { type LoadedModule, loadModule } from "../runtime/load.js";
import { captureStack, showWarning } from "../runtime/messages.js";
import { kHasRelaxedSimd, kHasSimd, kHasThreads, type NativeModule } from "../runtime/native.js";
import { nextTask } from "../runtime/next_task.js";
import { chooseVariant, type Variant } from "../runtime/variant.js";
import { kVersion } from "../runtime/version.js";
import { WorkerFailure, type Workers } from "../runtime/workers.js";
import { allowGpu, closeGpu, gpuInfo, gpuMemory, openGpu, type WebGpuInfo } from "./gpu.js";
import {
  checkSameOptions,
  type InitOptions,
  type InitValues,
  readInitOptions,
} from "./init_options.js";

/** What `runtime` returns. */
export interface RuntimeInfo {
  /** The version of the package. */
  readonly version: string;
  /** The WebAssembly build that runs. */
  readonly variant: Variant;
  /** Threads of the CPU, the calling one included. */
  readonly threads: number;
  /** Whether the build has SIMD. */
  readonly simd: boolean;
  /** Whether the build has relaxed SIMD. */
  readonly relaxedSimd: boolean;
  /** Whether this page may share memory between threads; false in Node, which always may. */
  readonly crossOriginIsolated: boolean;
  /** The WebGPU device, or null while none is open. */
  readonly webgpu: WebGpuInfo | null;
}

/** What `memory` returns; bytes count tensor data, not the JavaScript heap. */
export interface MemoryInfo {
  /** Tensors, those that graphs keep too. */
  readonly tensors: number;
  /** Blocks of tensor data. */
  readonly storages: number;
  /** Bytes of tensor data on the CPU. */
  readonly cpuBytes: number;
  /** The most that cpuBytes has been. */
  readonly cpuPeakBytes: number;
  /** Bytes of tensor data on the GPU. */
  readonly gpuBytes: number;
  /** The most that gpuBytes has been. */
  readonly gpuPeakBytes: number;
  /** Blocks of memory on the GPU, those kept for later too. */
  readonly gpuBuffers: number;
  /** Recorded operations that are still there. */
  readonly graphNodes: number;
  /** Tensor objects of JavaScript that have not been freed. */
  readonly jsHandles: number;
}

interface EngineInstance {
  /** Null where another thread starts the engine. */
  readonly options: InitValues | null;
  readonly started: Promise<void>;
  /** Set by shutdown(). */
  ended: Promise<void> | null;
}

// The last that was begun.
let instance: EngineInstance | null = null;
let running: NativeModule | null = null;
let threadWorkers: Workers | null = null;
const stopListeners: (() => void)[] = [];

/**
 * What init() of the package does, but for what is above this layer (start.ts), which may do `meanwhile` what need not be
 * done before. @internal
 */
export async function startEngine(
  given: [options?: InitOptions],
  meanwhile: () => void,
): Promise<void> {
  const options = readInitOptions(given);
  if (instance === null || instance.ended !== null) {
    await begin(options, meanwhile).started;
    return;
  }
  const shared = instance;
  if (shared.options !== null) checkSameOptions(given, options, shared.options);
  await shared.started;
  const isRequired = options.webgpu === "required";
  if (shared.ended === null) await openGpu(isRequired);
  else if (isRequired) throw shutDownBefore("init");
}

function begin(options: InitValues, meanwhile: () => void): EngineInstance {
  const started = (async () => {
    await instance?.ended;
    await start(options, meanwhile);
  })().catch((error: unknown) => {
    if (instance === begun) instance = null;
    throw error;
  });
  const begun: EngineInstance = { options, started, ended: null };
  instance = begun;
  return begun;
}

async function start(options: InitValues, meanwhile: () => void): Promise<void> {
  const { threads, variant: wanted, webgpu } = options;
  const { variant, module, workers } = await load(chooseVariant(wanted), options, meanwhile);
  if (functionsOf(module).opTableHash?.() !== kOpTableHash) {
    workers?.stop();
    module.PThread?.terminateAllThreads();
    fail(
      "Internal",
      "init",
      `the script is edgegrad ${kVersion} but the WebAssembly file "${variant}" is of another build: serve the ` +
        "package's dist/index.js and dist/wasm together, and clear caches that hold an older one.",
    );
  }
  connect(module);
  threadWorkers = workers;
  try {
    checked(native.setThreads(variant === "single" ? 1 : threads));
    allowGpu(module, options);
    globalThis.process?.on?.("exit", closeGpu);
    await openGpu(webgpu === "required");
  } catch (error) {
    await stop(module);
    throw error;
  }
}

// Loads the variant or, where its workers cannot be had and nobody asked for it, the one without.
async function load(
  variant: Variant,
  { threads, wantsThreads, variant: wanted, wasmUrl }: InitValues,
  meanwhile: () => void,
): Promise<LoadedModule & { readonly variant: Variant }> {
  if (variant === "single" && wantsThreads) warnOfOneThread(threads);
  try {
    return { variant, ...(await loadModule({ variant, threads, wasmUrl, meanwhile })) };
  } catch (error) {
    if (wanted !== "auto" || !(error instanceof WorkerFailure)) throw error;
    console.warn(`${error.message} Until then there is one thread.`);
    const single = { variant: "single", threads: 1, wasmUrl, meanwhile } as const;
    return { variant: "single", ...(await loadModule(single)) };
  }
}

let hasWarned = false;

function warnOfOneThread(threads: number): void {
  if (hasWarned) return;
  hasWarned = true;
  console.warn(
    `[init] threads: ${threads} has no effect here: the variant "single" has one. Where there is shared memory "auto" ` +
      "takes one with threads; a page has it when it is served with the headers Cross-Origin-Opener-Policy: " +
      "same-origin and Cross-Origin-Embedder-Policy: require-corp.",
  );
}

let joined = (): void => {};

/** Takes part in an engine that another thread started. @internal */
export function joinModule(module: NativeModule): void {
  connect(module);
  expectModule();
  joined();
}

/** Has init() wait for joinModule(). @internal */
export function expectModule(): void {
  if (instance !== null) return;
  const started = new Promise<void>((resolve) => {
    joined = resolve;
  });
  instance = { options: null, started, ended: null };
}

/** True on a thread that called init() itself. @internal */
export function hasOwnEngine(): boolean {
  return instance !== null && instance.options !== null;
}

/** How many workers spawn() may keep busy. @internal */
export function spawnWorkers(): number {
  return instance?.options?.spawnWorkers ?? 1;
}

/** Returns the running module. @internal */
export function startedModule(): NativeModule {
  if (running === null) throw new EdgeGradError("NotInitialized", "edgegrad is not running.");
  return running;
}

/** Returns the workers of the engine's threads; only the thread that called init() has them. @internal */
export function startedWorkers(): Workers | null {
  return threadWorkers;
}

/** Has `listener` called once, when the engine stops. @internal */
export function addStopListener(listener: () => void): void {
  stopListeners.push(listener);
}

function connect(module: NativeModule): void {
  module.callFunction = callFunction;
  module.functionName = functionName;
  module.describeThrown = describeThrown;
  module.dropValue = dropValue;
  module.showWarning = showWarning;
  module.captureStack = captureStack;
  running = module;
  attach(module);
  native.connectMessages();
  native.joinThread();
}

async function stop(module: NativeModule): Promise<void> {
  for (const listener of stopListeners.splice(0)) listener();
  rejectAll(shutDownBefore);
  leaveThreads();
  running = null;
  threadWorkers?.stop();
  threadWorkers = null;
  globalThis.process?.off?.("exit", closeGpu);
  closeGpu();
  void module.gpuPlayer?.close();
  detach();
  // Threads that sleep would stay: a page has no end at which they go.
  await module.stopThreads?.();
}

// Where a thread has died, or the module has trapped, they are only ended, which follows.
function leaveThreads(): void {
  if (threadWorkers?.failure != null) return;
  try {
    native.setThreads(1);
  } catch {}
}

function shutDownBefore(caller: string): EdgeGradError {
  const text = `[${caller}] the engine was shut down before this had ended.`;
  return new EdgeGradError("Internal", text);
}

/**
 * Stops the engine: its threads end, all tensors are void, and what is pending is rejected. An init() that follows, at
 * once too, starts another. Only on the thread that called init().
 */
export async function shutdown(): Promise<void> {
  if (instance === null) return;
  if (instance.options === null) {
    fail(
      "InvalidArgument",
      "shutdown",
      "an engine worker only takes part in the engine. Call it on the thread that called init().",
    );
  }
  instance.ended ??= end(instance);
  await instance.ended;
}

async function end(ending: EngineInstance): Promise<void> {
  const hasStarted = await ending.started.then(
    () => true,
    () => false,
  );
  // Who waited for the start is told of it while there is an engine.
  await nextTask();
  if (hasStarted && running !== null) await stop(running);
  if (instance === ending) instance = null;
}

/** Returns what is running and on what. */
export function runtime(): RuntimeInfo {
  const features = native.features();
  return {
    version: kVersion,
    variant: variantOf(features),
    threads: native.threadCount(),
    simd: (features & kHasSimd) !== 0,
    relaxedSimd: (features & kHasRelaxedSimd) !== 0,
    crossOriginIsolated: globalThis.crossOriginIsolated === true,
    webgpu: gpuInfo(),
  };
}

function variantOf(features: number): Variant {
  if ((features & kHasThreads) === 0) return "single";
  return (features & kHasRelaxedSimd) === 0 ? "simd" : "relaxed";
}

/** Returns how much the engine holds now. */
export function memory(): MemoryInfo {
  checked(native.memory());
  const [
    tensors = 0,
    storages = 0,
    cpuBytes = 0,
    cpuPeakBytes = 0,
    ,
    graphNodes = 0,
    jsHandles = 0,
  ] = callFrame();
  return {
    tensors,
    storages,
    cpuBytes,
    cpuPeakBytes,
    ...gpuMemory(),
    graphNodes,
    jsHandles,
  };
}
