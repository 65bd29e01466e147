// Starting and stopping the engine, and the functions that report its state.
//
// A call of init() or shutdown() reads synchronously the state that the calls before it left, and applies to the engine that
// it finds there, however long it then waits. Engines run one after the other, never two at once. An `EngineInstance` is one
// of them:
//
//   state     recognized by           init()                                     shutdown()
//   none      no instance             creates an instance -> starting            has no effect
//   starting  `started` is pending    shares the start, or throws if its options -> ending, once it has started
//   running   `started` has resolved  differ (checkSameOptions())                -> ending
//   ending    `ended` is set          creates the next instance, which starts    waits for the same end
//                                     when this one has ended -> starting
//
// If a start fails, the state becomes none: all calls of init() that share it reject with its error, and a shutdown() that waits
// for it resolves. A shutdown cannot be canceled: until the next start, everything that needs an engine throws NotInitialized,
// and pending promises are rejected. A thread that joined another thread's engine has an instance without options, which only the
// thread that started the engine can stop.

import {
  kBorderHash,
  kBytesWord,
  kHandlesWord,
  kHasRelaxedSimd,
  kHasSimd,
  kHasThreads,
  kMemoryWords,
  kNodesWord,
  kPeakBytesWord,
  kStoragesWord,
  kTensorsWord,
} from "../generated/border.js";
import {
  attach,
  checked,
  detach,
  epoch,
  functionsOf,
  lookForFailure,
  native,
  takeWords,
} from "../runtime/bridge/bridge.js";
import { callFunction } from "../runtime/bridge/call_function.js";
import { describeThrown, dropValue, functionName } from "../runtime/bridge/callbacks.js";
import type { NativeModule } from "../runtime/bridge/native.js";
import { EdgeGradError, fail } from "../runtime/errors/errors.js";
import { captureStack, showWarning } from "../runtime/errors/messages.js";
import { type AbortSignalLike, throwIfAborted, unlessAborted } from "../runtime/host/abort.js";
import { nextTask } from "../runtime/host/next_task.js";
import { processHere } from "../runtime/host/node.js";
import type { Variant } from "../runtime/start/builds.js";
import { compileGiven, variantOfModule } from "../runtime/start/given_module.js";
import { type LoadedModule, loadModule } from "../runtime/start/load.js";
import { requireHost } from "../runtime/start/requirements.js";
import { chooseVariant } from "../runtime/start/variant.js";
import { kVersion } from "../runtime/start/version.js";
import { rejectAll, whilePending } from "../runtime/threads/keep_alive.js";
import { ThreadsFailure, type Workers } from "../runtime/threads/workers.js";
import {
  allowGpu,
  closeGpu,
  gpuInfo,
  gpuMemory,
  openGpu,
  requiresGpu,
  useOtherDevice,
  type WebGpuInfo,
} from "./gpu.js";
import {
  checkSameOptions,
  type InitOptions,
  type InitValues,
  readInitOptions,
} from "./init_options.js";

/** The result of `runtime`: the version, build and devices of the running engine. */
export interface RuntimeInfo {
  /** The version of the package. */
  readonly version: string;
  /** The running WebAssembly build. */
  readonly variant: Variant;
  /** The number of CPU threads, including the calling one. */
  readonly threads: number;
  /** Whether the build has SIMD. */
  readonly simd: boolean;
  /** Whether the build has relaxed SIMD. */
  readonly relaxedSimd: boolean;
  /** Whether this page is cross-origin isolated, so that threads can share memory; false in Node, where they always can. */
  readonly crossOriginIsolated: boolean;
  /** The WebGPU device, or null while none is open. */
  readonly webgpu: WebGpuInfo | null;
}

/** The result of `memory`. Bytes count tensor data, not the JavaScript heap. */
export interface MemoryInfo {
  /** The number of tensors, including those that graphs hold. */
  readonly tensors: number;
  /** The number of blocks of tensor data. */
  readonly storages: number;
  /** Bytes of tensor data on the CPU. */
  readonly cpuBytes: number;
  /** The maximum of cpuBytes so far. */
  readonly cpuPeakBytes: number;
  /** Bytes of tensor data on the GPU. */
  readonly gpuBytes: number;
  /** The maximum of gpuBytes so far. */
  readonly gpuPeakBytes: number;
  /** The number of GPU buffers, including those cached for reuse. */
  readonly gpuBuffers: number;
  /** The number of recorded operations that are alive. */
  readonly graphNodes: number;
  /** The number of tensor objects in JavaScript that have not been freed. */
  readonly jsHandles: number;
  /**
   * Bytes of the stacks of workers that have ended and cannot be freed before shutdown(): a worker was terminated while it ran a
   * function that C++ had called, or a browser did not tell whether it still runs.
   */
  readonly endedWorkerBytes: number;
  /** The number of tensor objects of such workers that have not been freed. */
  readonly endedWorkerHandles: number;
}

interface EngineInstance {
  /** Null if another thread started the engine. */
  readonly options: InitValues | null;
  readonly started: Promise<void>;
  /** Ends a start that nobody waits for any more; null in an AudioWorklet, where such a start is only ignored. */
  readonly abandoning: AbortController | null;
  /** The number of calls of init() that found this instance, without those that their signals have ended. */
  callers: number;
  /** Set by shutdown(), and when the start is abandoned. */
  ended: Promise<void> | null;
}

// The most recent instance.
let instance: EngineInstance | null = null;
let running: NativeModule | null = null;
let threadWorkers: Workers | null = null;
const stopListeners: (() => void)[] = [];

/**
 * Implements init() except for the work of the layers above (start.ts). `meanwhile` is called while the WebAssembly module
 * compiles. @internal
 */
export async function startEngine(
  given: [options?: InitOptions],
  meanwhile: () => void,
): Promise<void> {
  requireHost("init");
  const [options, signal] = readInitOptions(given);
  throwIfAborted(signal);
  const existing = instance?.ended === null ? instance : null;
  if (existing !== null && existing.options !== null) {
    checkSameOptions(given, options, existing.options);
  }
  const shared = existing ?? begin(options, meanwhile);
  shared.callers++;
  const leave = () => {
    shared.callers--;
    if (shared.callers === 0) abandon(shared, signal);
  };
  const started = existing === null ? shared.started : startedWithGpu(shared, options);
  await unlessAborted(signal, started, leave);
}

async function startedWithGpu(shared: EngineInstance, options: InitValues): Promise<void> {
  await shared.started;
  const isRequired = requiresGpu(options);
  if (shared.ended === null) {
    useOtherDevice(running, options);
    await openGpu(isRequired);
  } else if (isRequired) throw shutDownBefore("init");
}

function begin(options: InitValues, meanwhile: () => void): EngineInstance {
  const abandoning = typeof AbortController === "function" ? new AbortController() : null;
  const started = (async () => {
    await instance?.ended;
    throwIfAborted(abandoning?.signal);
    await start(options, meanwhile, abandoning?.signal);
  })().catch((error: unknown) => {
    if (instance === begun) instance = null;
    throw error;
  });
  const begun: EngineInstance = { options, started, abandoning, callers: 0, ended: null };
  instance = begun;
  return begun;
}

// What it waits for may never come, such as the answer of a server. The next start does not wait for that.
function abandon(abandoned: EngineInstance, signal: AbortSignalLike | undefined): void {
  if (abandoned.options === null) return;
  abandoned.abandoning?.abort(signal?.reason);
  abandoned.ended ??= end(abandoned);
}

async function start(
  options: InitValues,
  meanwhile: () => void,
  abandoned: AbortSignal | undefined,
): Promise<void> {
  const loading = loadBuild(options, meanwhile);
  const loaded = await unlessAborted(abandoned, loading, () => {
    loading.then(discard).catch(() => undefined);
  });
  const { variant, module, workers } = loaded;
  connect(module);
  native.setEngineNumber(epoch);
  threadWorkers = workers;
  try {
    checked(native.setThreads(variant === "single" ? 1 : options.threads));
    allowGpu(module, options);
    processHere()?.on?.("exit", closeGpu);
    await unlessAborted(abandoned, makeReady(loaded, options), () => undefined);
  } catch (error) {
    await stop(module);
    throw error;
  }
}

async function makeReady({ module, parts }: LoadedModule, options: InitValues): Promise<void> {
  stopListeners.push(() => parts?.stop());
  await openGpu(requiresGpu(options));
  if (options.preload === "all") await parts?.addOthers(module);
  else void parts?.addOthers(module).catch(warnOfParts);
}

// An op that needs the part fails for the same reason.
function warnOfParts(error: unknown): void {
  console.warn((error as Error).message);
}

type LoadedBuild = LoadedModule & { readonly variant: Variant };

async function loadBuild(options: InitValues, meanwhile: () => void): Promise<LoadedBuild> {
  const given =
    options.wasmModule === undefined ? undefined : await compileGiven(options.wasmModule);
  const { variant: wanted } = options;
  const chosen = given === undefined ? chooseVariant(wanted) : variantOfModule(given, wanted);
  const loaded = await load(chosen, given, options, meanwhile);
  if (functionsOf(loaded.module).borderHash?.() === kBorderHash) return loaded;
  await discard(loaded);
  fail(
    "Internal",
    "init",
    `the script is edgegrad ${kVersion} but the WebAssembly file "${loaded.variant}" is from another build: serve the ` +
      "package's dist/index.js and dist/wasm together, and clear caches that hold an older file.",
  );
}

// Stops a module that has been loaded and will not be used.
async function discard({ module, workers, parts }: LoadedModule): Promise<void> {
  workers?.stop();
  parts?.stop();
  await module.stopThreads?.();
  module.PThread?.terminateAllThreads();
}

// Loads the variant. If its threads are not available and it was not requested explicitly, loads "single" instead.
async function load(
  variant: Variant,
  wasmModule: WebAssembly.Module | undefined,
  { threads, wantsThreads, variant: wanted, wasmUrl, memory, createWorker }: InitValues,
  meanwhile: () => void,
): Promise<LoadedBuild> {
  if (variant === "single" && wantsThreads) warnOfOneThread(threads);
  try {
    const loading = { variant, threads, wasmUrl, wasmModule, memory, createWorker, meanwhile };
    return { variant, ...(await loadModule(loading)) };
  } catch (error) {
    if (wanted !== "auto" || !(error instanceof ThreadsFailure)) throw error;
    console.warn(`${error.message} Until then there is one thread.`);
    const single = { variant: "single", threads: 1, wasmModule: undefined } as const;
    const loading = { ...single, wasmUrl, memory, createWorker, meanwhile };
    return { variant: "single", ...(await loadModule(loading)) };
  }
}

let hasWarned = false;

function warnOfOneThread(threads: number): void {
  if (hasWarned) return;
  hasWarned = true;
  console.warn(
    `[init] threads: ${threads} has no effect: the variant "single" has one thread. With shared memory, "auto" ` +
      "selects a variant with threads. In a page this requires the headers Cross-Origin-Opener-Policy: " +
      "same-origin and Cross-Origin-Embedder-Policy: require-corp.",
  );
}

let resolveJoined = (): void => {};

/** Connects this thread to an engine that another thread started. @internal */
export function joinModule(module: NativeModule): void {
  connect(module);
  expectModule();
  resolveJoined();
}

/** Makes init() wait for joinModule(). @internal */
export function expectModule(): void {
  if (instance !== null) return;
  const started = new Promise<void>((resolve) => {
    resolveJoined = resolve;
  });
  instance = { options: null, started, abandoning: null, callers: 0, ended: null };
}

/** True on a thread that called init() itself. @internal */
export function hasOwnEngine(): boolean {
  return instance !== null && instance.options !== null;
}

/** Returns how many workers spawn() may use at the same time. @internal */
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

/** Registers `listener` to be called once, when the engine stops. @internal */
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
  whilePending(lookForFailure);
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
  processHere()?.off?.("exit", closeGpu);
  closeGpu();
  module.isStopped = true;
  // Nobody waits for its reads any more, and a device that cannot be closed is of no use to anybody.
  module.gpuPlayer?.close().catch(() => undefined);
  detach();
  // Sleeping threads would stay alive as long as the page.
  await module.stopThreads?.();
}

// Asks the threads to finish. After a thread has died or the module has trapped this is skipped or ignored: they are
// terminated afterwards.
function leaveThreads(): void {
  if (threadWorkers?.failure != null) return;
  try {
    native.setThreads(1);
  } catch {}
}

function shutDownBefore(caller: string): EdgeGradError {
  const text = `[${caller}] the engine was shut down before this call finished.`;
  return new EdgeGradError("Internal", text);
}

/**
 * Stops the engine: its threads end, all tensors become invalid, and pending promises are rejected. A later init(), even one
 * called immediately, starts a new engine. Only the thread that called init() may call this.
 */
export async function shutdown(): Promise<void> {
  if (instance === null) return;
  if (instance.options === null) {
    fail(
      "InvalidArgument",
      "shutdown",
      "an engine worker cannot stop the engine. Call shutdown() on the thread that called init().",
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
  // Code that awaits the start runs first, while the engine still exists.
  await nextTask();
  if (hasStarted && running !== null) await stop(running);
  if (instance === ending) instance = null;
}

/** Returns the version, build and devices of the running engine. */
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

/** Returns how much memory and how many objects the engine holds now. */
export function memory(): MemoryInfo {
  checked(native.memory());
  const words = takeWords(kMemoryWords);
  const [endedWorkerBytes = 0, endedWorkerHandles = 0] = takeWords(checked(native.endedThreads()));
  const word = (position: number) => words[position] ?? 0;
  return {
    tensors: word(kTensorsWord),
    storages: word(kStoragesWord),
    cpuBytes: word(kBytesWord),
    cpuPeakBytes: word(kPeakBytesWord),
    ...gpuMemory(),
    graphNodes: word(kNodesWord),
    jsHandles: word(kHandlesWord),
    endedWorkerBytes,
    endedWorkerHandles,
  };
}
