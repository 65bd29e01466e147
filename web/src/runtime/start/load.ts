// Finding and starting a WebAssembly build.

import { kWasmFiles } from "../../files.js";
import type { ModuleOptions, NativeModule } from "../bridge/native.js";
import { EdgeGradError } from "../errors/errors.js";
import { kTimers } from "../host/host.js";
import { nextTask } from "../host/next_task.js";
import { nodeFiles, nodeProcess } from "../host/node.js";
import { allocateSharedMemory, kPageBytes } from "../threads/shared_memory.js";
import type { CreateWorker } from "../threads/worker_script.js";
import { WorkerFailure, Workers } from "../threads/workers.js";
import { addressed } from "./address.js";
import type { Variant } from "./builds.js";
import { type Download, downloadAhead, takeDownload } from "./download.js";
import { withModule } from "./given_module.js";
import type { Parts } from "./parts.js";
import { pathOf } from "./paths.js";
import { addressIn, adviceFor, faultOf, isOfMemory, plainReason } from "./start_failure.js";
import { wasmFilesOf } from "./wasm_files.js";
import { locate, type WasmUrl } from "./wasm_url.js";

/** A started module and the workers of its threads, if it has threads. */
export interface LoadedModule {
  readonly module: NativeModule;
  readonly workers: Workers | null;
  /** The parts that are loaded later; null if everything is loaded. */
  readonly parts: Parts | null;
}

/** What to load, and a function to run while the JavaScript engine compiles it. */
export interface Loading {
  readonly variant: Variant;
  readonly threads: number;
  readonly wasmUrl: WasmUrl | undefined;
  /** The WebAssembly file, if the program has passed it. */
  readonly wasmModule: WebAssembly.Module | undefined;
  /** The most bytes that the memory may take. */
  readonly memory: number;
  /** Constructs the workers, if the program does that itself. */
  readonly createWorker: CreateWorker | undefined;
  readonly meanwhile: () => void;
}

/**
 * Loads and starts a variant. Throws ThreadsFailure when it has threads, and they are not available. @internal
 */
export async function loadModule(loading: Loading): Promise<LoadedModule> {
  const { variant, wasmUrl, createWorker } = loading;
  if (variant === "single") return { ...(await start(loading, 0)), workers: null };
  const script = scriptAt(wasmUrl, `edgegrad-${variant}.mjs`);
  try {
    return await startWithWorkers(loading, new Workers(variant, script, createWorker));
  } catch (error) {
    // A program that passes the location of the .wasm file may still rely on a bundler for the workers' script.
    if (script === undefined || !(error instanceof WorkerFailure)) throw error;
    return await startWithWorkers(loading, new Workers(variant, undefined, createWorker));
  }
}

async function startWithWorkers(loading: Loading, workers: Workers): Promise<LoadedModule> {
  const helpers = loading.threads - 1;
  // Node constructs them later because starting workers would compete with the threads that compile. A page cannot: its main
  // thread starts no worker while it waits.
  const isLater = nodeProcess() !== undefined;
  const { module, parts } = await start(loading, isLater ? 0 : helpers, workers);
  try {
    if (isLater) addWorkers(module, helpers);
    if (helpers > 0) await workers.untilFirstRuns();
  } catch (error) {
    workers.stop();
    await module.stopThreads?.();
    throw await workers.withReason(error);
  }
  return { module, workers, parts };
}

function addWorkers({ PThread }: NativeModule, count: number): void {
  for (let i = 0; i < count; i++) PThread?.allocateUnusedWorker();
  for (const worker of PThread?.unusedWorkers ?? []) void PThread?.loadWasmModuleToWorker(worker);
}

async function start(
  { variant, wasmUrl, wasmModule, memory, meanwhile }: Loading,
  poolSize: number,
  workers?: Workers,
): Promise<Omit<LoadedModule, "workers">> {
  const files = wasmFilesOf(variant, wasmUrl);
  let isStarting = true;
  const printed: string[] = [];
  const options: ModuleOptions = {
    poolSize,
    timers: kTimers,
    // A size of 4 GiB would be 0 in 32 bits.
    memoryMaximum: Math.min(memory, 2 ** 32 - kPageBytes),
    ...(workers && { makeWorker: () => workers.make(), wasmMemory: allocateSharedMemory(memory) }),
    // Errors during the start are thrown below.
    printErr: (text) => {
      if (isStarting) printed.push(text);
      else console.error(text);
    },
  };
  try {
    if (wasmModule !== undefined) options.locateFile = (file) => file;
    else if (wasmUrl !== undefined) await useWasmAt(files.first ?? "", wasmUrl, options);
    else useOwnFile(variant, options);
    const download =
      wasmModule === undefined ? takeDownload(variant, files) : withModule(variant, wasmModule);
    const [{ default: create }, isFound] = await Promise.all([download.script, download.isFound]);
    const parts = isFound || nodeProcess() !== undefined ? download.parts : null;
    if (parts !== null) options.readPart = (number) => parts.readNow(number);
    // A promise of its own: race() adds to a promise that never settles something that is never removed.
    const failed = isFound
      ? instantiateFrom(download, options)
      : new Promise<never>(() => undefined);
    const created = create(options);
    for (const promise of [created, failed]) promise.catch(() => undefined);
    await nextTask();
    meanwhile();
    const module = await Promise.race([created, failed]);
    await parts?.addNeeded(module);
    return { module, parts };
  } catch (error) {
    workers?.stop();
    if (EdgeGradError.isOne(error)) throw (await workers?.withReason(error)) ?? error;
    const said = plainReason(printed[0] ?? (error instanceof Error ? error.message : error));
    const file = files.first;
    const isFetched = wasmModule === undefined && !isOfMemory(said);
    const reason = (await faultOf(addressIn(said) ?? (isFetched ? file : undefined))) ?? said;
    const isGiven = wasmUrl !== undefined || wasmModule !== undefined;
    throw new EdgeGradError(
      isOfMemory(said) ? "OutOfMemory" : isGiven ? "InvalidArgument" : "Internal",
      `[init] the WebAssembly build "${variant}" could not be started: ${reason}. ${adviceFor(reason, wasmModule)}`,
      { cause: error },
    );
  } finally {
    isStarting = false;
  }
}

// Makes the script use the downloaded module. Returns a promise that rejects if that fails.
function instantiateFrom({ compiled }: Download, options: ModuleOptions): Promise<never> {
  return new Promise((_, reject) => {
    options.instantiateWasm = (imports, receive) => {
      void (async () => {
        const module = (await compiled) as WebAssembly.Module;
        receive(await WebAssembly.instantiate(module, imports), module);
      })().catch(reject);
      return {};
    };
  });
}

/** Downloads a build ahead of loadModule(). */
export function preloadModule(variant: Variant, wasmUrl: WasmUrl | undefined): void {
  downloadAhead(variant, wasmFilesOf(variant, wasmUrl));
}

/** Returns the address of a script beside the .wasm file, if `wasmUrl` determines it. @internal */
export function scriptAt(wasmUrl: WasmUrl | undefined, file: string): string | undefined {
  if (wasmUrl === undefined) return undefined;
  const url = locate(file, wasmUrl);
  if (url.endsWith(".wasm")) return undefined;
  const node = nodeProcess()?.getBuiltinModule("node:url");
  if (node === undefined) return new URL(url, globalThis.location?.href).href;
  return /^\w+:\/\//.test(url) ? url : node.pathToFileURL(url).href;
}

// In Node. A bundler has copied the file to the address in files.ts, or not: then the script looks in its own folder.
function useOwnFile(variant: Variant, options: ModuleOptions): void {
  const files = nodeFiles();
  const address = addressed(kWasmFiles[variant]);
  if (files === undefined || !address?.startsWith("file:")) return;
  const file = new URL(address);
  if (files.existsSync(file)) options.wasmBinary = files.readFileSync(file);
  options.locateFile = (name) => new URL(`../${name}`, file).href;
}

async function useWasmAt(url: string, wasmUrl: WasmUrl, options: ModuleOptions): Promise<void> {
  const files = nodeProcess()?.getBuiltinModule("node:fs/promises");
  options.locateFile = (file) => locate(file, wasmUrl);
  if (files === undefined) return;
  // In Node, read before any thread starts: threads of a failed start would keep the process alive.
  const isRemote = /^https?:/.test(url);
  const bytes = isRemote ? await download(url) : await files.readFile(pathOf(url));
  if (!WebAssembly.validate(bytes))
    throw new Error(`${url} is not a WebAssembly module that this JavaScript engine supports`);
  options.wasmBinary = bytes;
}

async function download(url: string): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}
