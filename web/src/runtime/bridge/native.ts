// The WebAssembly module, and the convention by which its functions (generated/native_functions.ts) are called.
//
// Tensors and nodes are passed as *handles*: whole numbers below 2^53 that encode a slot and its generation. A
// handle owns one reference. Releasing it twice is harmless; using it after that is a `Disposed` error.
// 0 means "none".
//
// Every thread has a *call frame*, an array of float64 words in the module's memory. TypeScript
// writes arguments to it and C++ writes results to it. The encoding of an argument determines its length:
//
//   tensor                   handle
//   tensor?                  handle, or 0
//   operand                  kind, value   (kind 0: tensor, else a scalar's kind)
//   operand?                 -1, or as operand
//   scalar                   kind, value   (1 float, 2 int, 3 bool; 4: int as high and low 32 bits)
//   tensors                  count, handles...
//   int number bool          value
//   int? number? scalar? ..  0, or 1 and the value
//   ints                     count, values...
//   ints?                    -1, or count, values...
//   dtype                    code (see tensor/dtype.ts)
//   dtype?                   -1, or code
//   choice                   index in the list of the op table
//
// Functions and other JavaScript values are also passed as numbers (runtime/bridge/callbacks.ts), of which the callee
// takes ownership.
//
// Results are handles at the front of the frame. A call that fails returns kFailed; takeError() then
// returns "Code\nmessage". C++ holds no pointer into the frame across a call back to JavaScript.

import type { ErrorCode } from "../../generated/border.js";

/** The result of a native function that failed. */
export const kFailed = -1;

/** The outcome of opening the device if the GPU or device that init() received cannot be used. */
export const kRefused = -2;

export type { NativeFunctions } from "../../generated/native_functions.js";

/** A started module; functionsOf() in bridge.ts finds its NativeFunctions. */
export interface NativeModule {
  readonly wasmExports?: WebAssembly.Exports;
  readonly wasmMemory: WebAssembly.Memory;
  /** Ends all threads, after which nothing references the module; only in builds with threads. */
  stopThreads?(): Promise<unknown>;
  /** Takes the bytes of a part of the engine; see runtime/start/parts.ts. */
  addPart?(number: number, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Whether the part with this number is there. */
  hasPart?(number: number): boolean;
  /** Frees the memory of a thread that was terminated. */
  freeThread?(thread: number): void;
  /** Removes a worker that was terminated from outside. */
  forgetWorker?(worker: ThreadWorker): void;
  /** Emscripten's threads; only in builds with threads. */
  readonly PThread?: {
    /** Workers by the number of their thread. */
    readonly pthreads: Readonly<Record<number, ThreadWorker>>;
    terminateAllThreads(): void;
    /** Idle workers that are to become threads; the next thread uses the last one. */
    readonly unusedWorkers: ThreadWorker[];
    /** Constructs an idle worker. */
    allocateUnusedWorker(): void;
    loadWasmModuleToWorker(worker: ThreadWorker): Promise<unknown>;
  };
  /** Once the engine has failed, C++ calls this in the place of every other function; throws. */
  failed?: (isStopped: boolean) => never;
  /** Called by C++; see runtime/bridge/call_function.ts and runtime/bridge/callbacks.ts. */
  callFunction?: (id: number, count: number, call: number) => number;
  functionName?: (id: number) => string;
  /** Returns what a function threw, serialized for other threads. */
  describeThrown?: (id: number) => string;
  dropValue?: (id: number) => void;
  /** Called by C++; see runtime/errors/messages.ts. */
  showWarning?: (message: string) => number;
  captureStack?: () => string;
  /** The object like navigator.gpu that was passed to init(), for the player on this thread. */
  gpu?: object;
  /** The page's own device that was passed to init(). */
  gpuDevice?: object;
  /** True once the engine was shut down: the player then answers no more. */
  isStopped?: boolean;
  /** The player, if it runs on this thread. */
  readonly gpuPlayer?: {
    close(): Promise<void>;
    /** What a page gives and takes; see webgpu/exchange.ts. */
    readonly exchange: Exchange;
  };
}

/** The parts of webgpu/exchange.ts that the layers above use; objects of WebGPU are only passed on. */
export interface Exchange {
  importBuffer(place: GpuPlace, op: string, source: object, offset: number): void;
  importPicture(
    place: GpuPlace,
    op: string,
    source: object,
    size: readonly [width: number, height: number, rowBytes: number],
  ): void;
  /** Implements Tensor.toGPUBuffer(). */
  lend(
    tensor: object,
    options: { readonly copy: boolean; readonly write: boolean },
    engine: {
      placeOf(where: string, tensor: never, isWritten: boolean): GpuPlace;
      fail(code: ErrorCode, where: string, message: string): never;
    },
  ): Promise<{
    readonly buffer: object;
    readonly offset: number;
    readonly size: number;
    readonly isView: boolean;
  }>;
  show(
    place: GpuPlace,
    context: object,
    size: readonly [width: number, height: number, rowBytes: number],
    isSure: boolean,
  ): Promise<boolean>;
}

/** Where the elements of a packed tensor are on the device. */
export interface GpuPlace {
  readonly block: number;
  readonly offset: number;
  readonly bytes: number;
}

/** A worker of a browser or of Node, which have different event APIs. */
export interface ThreadWorker {
  addEventListener?(type: string, listener: (event: WorkerEvent) => void): void;
  on?(type: "error", listener: (error: Error) => void): void;
  on?(type: "exit", listener: (code: number) => void): void;
  postMessage(message: unknown, transfer: readonly unknown[]): void;
  /** In Node, resolves when the worker has ended. */
  terminate(): unknown;
  /** Set when the thread was asked to end: called once it has ended normally and nothing uses the worker any more. */
  onLeft?: () => void;
  /** True when it is terminated because its thread has ended and no other one needs it. */
  readonly isDismissed?: boolean;
}

/** A message or error event; the event of a script that could not be loaded has no message. */
export interface WorkerEvent {
  readonly data?: unknown;
  readonly message?: string;
  preventDefault(): void;
}

/** The options for starting a module. */
export interface ModuleOptions {
  /** The number of workers to start immediately, because a page's main thread cannot start one and block until it runs. */
  poolSize: number;
  /** The host's timers and clock. */
  timers: object;
  /** Constructs a worker that runs the module's script and waits to become a thread. */
  makeWorker?: () => ThreadWorker;
  /** The most bytes that the memory may take. */
  memoryMaximum?: number;
  /** The memory of the module, if threads share it. */
  wasmMemory?: WebAssembly.Memory;
  /** True in a worker that the program constructed and that is to become a thread. */
  isThread?: boolean;
  /** In such a worker: the package's interface for bindings/worker.js. */
  host?: object;
  /** In such a worker: called when the script is ready to receive messages. */
  threadListens?: () => void;
  locateFile?: (file: string) => string;
  /** Instantiates the compiled module with its imports, and passes both to `receive`, instead of loading the .wasm file. */
  instantiateWasm?: (
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
  ) => object;
  /** Returns the bytes of a part of the engine at once; see runtime/start/parts.ts. */
  readPart?: (number: number) => Uint8Array<ArrayBuffer>;
  /** The content of the .wasm file, instead of its address. */
  wasmBinary?: Uint8Array;
  printErr?: (text: string) => void;
}

/** The default export of a module file. */
export type ModuleFactory = (options: ModuleOptions) => Promise<NativeModule>;
