// Finding and starting a WebAssembly build.

import { type Download, downloadAhead, takeDownload } from "./download.js";
import { EdgeGradError } from "./errors.js";
import type { ModuleOptions, NativeModule } from "./native.js";
import { nextTask } from "./next_task.js";
import type { Parts } from "./parts.js";
import { pathOf } from "./paths.js";
import { allocateSharedMemory } from "./shared_memory.js";
import type { Variant } from "./variant.js";
import { locate, type WasmUrl, wasmFilesOf } from "./wasm_files.js";
import { ThreadsFailure, WorkerFailure, Workers } from "./workers.js";

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
  readonly meanwhile: () => void;
}

/**
 * Loads and starts a variant. Throws ThreadsFailure when it has threads, and they are not available. @internal
 */
export async function loadModule(loading: Loading): Promise<LoadedModule> {
  const { variant, wasmUrl } = loading;
  if (variant === "single") return { ...(await start(loading, 0)), workers: null };
  const script = scriptAt(wasmUrl, `edgegrad-${variant}.mjs`);
  try {
    return await startWithWorkers(loading, new Workers(variant, script));
  } catch (error) {
    // A program that passes the location of the .wasm file may still rely on a bundler for the workers' script.
    if (script === undefined || !(error instanceof WorkerFailure)) throw error;
    return await startWithWorkers(loading, new Workers(variant, undefined));
  }
}

async function startWithWorkers(loading: Loading, workers: Workers): Promise<LoadedModule> {
  const helpers = loading.threads - 1;
  // Node constructs them later because starting workers would compete with the threads that compile. A page cannot: its main
  // thread starts no worker while it waits.
  const isLater = globalThis.process?.getBuiltinModule !== undefined;
  const { module, parts } = await start(loading, isLater ? 0 : helpers, workers);
  try {
    if (isLater) addWorkers(module, helpers);
    if (helpers > 0) await workers.untilFirstRuns();
  } catch (error) {
    workers.stop();
    await module.stopThreads?.();
    throw error;
  }
  return { module, workers, parts };
}

function addWorkers({ PThread }: NativeModule, count: number): void {
  for (let i = 0; i < count; i++) PThread?.allocateUnusedWorker();
  for (const worker of PThread?.unusedWorkers ?? []) void PThread?.loadWasmModuleToWorker(worker);
}

async function start(
  { variant, wasmUrl, meanwhile }: Loading,
  poolSize: number,
  workers?: Workers,
): Promise<Omit<LoadedModule, "workers">> {
  let isStarting = true;
  const printed: string[] = [];
  const options: ModuleOptions = {
    poolSize,
    ...(workers && { makeWorker: () => workers.make(), wasmMemory: allocateSharedMemory() }),
    // Errors during the start are thrown below.
    printErr: (text) => {
      if (isStarting) printed.push(text);
      else console.error(text);
    },
  };
  try {
    const files = wasmFilesOf(variant, wasmUrl);
    if (wasmUrl !== undefined) await useWasmAt(files.first, wasmUrl, options);
    const download = takeDownload(variant, files);
    const [{ default: create }, isFound] = await Promise.all([download.script, download.isFound]);
    const isRead = globalThis.process?.getBuiltinModule !== undefined;
    const parts = isFound || isRead ? download.parts : null;
    if (parts !== null) options.readPart = (number) => parts.readNow(number);
    const failed = isFound ? instantiateFrom(download, options) : kNever;
    const created = create(options);
    created.catch(() => undefined);
    await nextTask();
    meanwhile();
    const module = await Promise.race([created, failed]);
    await parts?.addNeeded(module);
    return { module, parts };
  } catch (error) {
    workers?.stop();
    if (error instanceof ThreadsFailure) throw error;
    const reason = plainReason(printed[0] ?? (error instanceof Error ? error.message : error));
    throw new EdgeGradError(
      wasmUrl === undefined ? "Internal" : "InvalidArgument",
      `[init] the WebAssembly build "${variant}" could not be started: ${reason}. ${adviceFor(reason)}`,
      { cause: error },
    );
  } finally {
    isStarting = false;
  }
}

const kNever = new Promise<never>(() => undefined);

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

// The browser's own message, without Emscripten's additions for developers.
function plainReason(text: unknown): string {
  return String(text)
    .replace(/^(?:wasm streaming compile failed|failed to asynchronously prepare wasm): /, "")
    .replace(/^Aborted\((.*)\)\. Build with .*$/s, "$1")
    .replace(/\.$/, "");
}

function adviceFor(reason: string): string {
  if (/unsafe-eval|Content Security Policy/.test(reason)) {
    return "Add 'wasm-unsafe-eval' to script-src in the page's content security policy.";
  }
  return "Serve the package's folder dist/wasm beside its script, or pass its location as wasmUrl.";
}

/** Returns the address of a script beside the .wasm file, if `wasmUrl` determines it. @internal */
export function scriptAt(wasmUrl: WasmUrl | undefined, file: string): string | undefined {
  if (wasmUrl === undefined) return undefined;
  const url = locate(file, wasmUrl);
  if (url.endsWith(".wasm")) return undefined;
  const node = globalThis.process?.getBuiltinModule?.("node:url");
  if (node === undefined) return new URL(url, globalThis.location?.href).href;
  return /^\w+:\/\//.test(url) ? url : node.pathToFileURL(url).href;
}

async function useWasmAt(url: string, wasmUrl: WasmUrl, options: ModuleOptions): Promise<void> {
  const files = globalThis.process?.getBuiltinModule?.("node:fs/promises");
  if (files === undefined) {
    options.locateFile = (file) => locate(file, wasmUrl);
    return;
  }
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
