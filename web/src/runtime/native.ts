// The functions of the WebAssembly module, and the calling convention.
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
// Functions and other JavaScript values are also passed as numbers (runtime/callbacks.ts), of which the callee
// takes ownership.
//
// Results are handles at the front of the frame. A call that fails returns kFailed; takeError() then
// returns "Code\nmessage". C++ holds no pointer into the frame across a call back to JavaScript.

import type { ErrorCode } from "../generated/border.js";

/** The result of a native function that failed. */
export const kFailed = -1;

/** The outcome of opening the device with what init() was given, if that cannot be used. */
export const kRefused = -2;

/**
 * The functions that the module exports. On error they return kFailed, except those without a result. Booleans may be
 * passed to C++; results are 1 or 0.
 */
export interface NativeFunctions {
  /** Reserves room for `words` in this thread's frame and returns the frame's address. */
  frame(words: number): number;
  /**
   * Runs an op on the frame's words; returns the number of result handles. A handle is negated if this thread has another handle of
   * the same tensor.
   */
  invoke(op: number, words: number, flags: number): number;
  takeError(): string;
  /** True when a call into this module has ended without returning. */
  hasFailed(): number;
  /** Throws the JavaScript engine's error for a stack overflow unless there is room for a call that must be ended by another one. */
  reserveStack(): void;
  /** Releases what a JavaScript function threw, after takeError() has returned its number. */
  dropThrown(): void;

  /** Registers the WebGPU device, which is opened at its first use, or rejected if it is not allowed. */
  connectGpu(): void;
  /** Allows a WebGPU device. `url` is the script of its player, which runs on the main thread or on a separate one. */
  allowGpu(url: string, playsOnMainThread: boolean): void;
  /**
   * Opens the WebGPU device unless it is open; then calls the function `answer`, with kFailed if that failed, and with kRefused if what
   * init() was given cannot be used.
   */
  openGpu(answer: number): number;
  gpuIsLost(): number;
  /** Calls `listener` with kFailed at every loss, instead of this thread's previous one; 0 only removes that. */
  whenGpuLost(listener: number): number;
  /**
   * Writes the number of the block of a packed tensor on the device, the first byte and the number of bytes of its elements. With
   * `isWritten`, the tensor gets a new version.
   */
  gpuPlace(handle: number, isWritten: boolean): number;
  /** Plays the commands so far, on the thread of the player. */
  gpuPlay(): void;
  /** Makes the GPU's thread close the device, and waits for it. */
  closeGpu(): void;
  /** Returns why the device could not be opened. */
  gpuFailure(): string;
  /** Returns the adapter as JSON; "" without a device. */
  gpuAdapter(): string;
  /** Writes the bytes in use, their maximum so far, and the number of buffers; returns 0 without a device. */
  gpuMemory(): number;
  /** Calls the function `answer` with a tensor of the same values on the CPU, or with kFailed. */
  readLater(handle: number, answer: number): number;
  /** Writes the counters of the player, which are those of webgpuStats; returns 0 without a device. */
  gpuStats(): number;
  /** Returns the tensor on a device. */
  toDevice(handle: number, device: number): number;

  /** Returns an uninitialized row-major tensor; its shape is in the frame. */
  createTensor(dtype: number, ndim: number): number;
  /** Returns the address of a view's first element. */
  dataAddress(handle: number): number;
  /** Returns a number that tensors have in common while they share their memory. */
  storageAddress(handle: number): number;
  incrementVersion(handle: number): number;
  setVersion(handle: number, version: number): number;
  release(handle: number): void;
  retain(handle: number): number;
  /** Returns this thread's first handle of the tensor of a handle, which may be that handle. */
  firstHandle(handle: number): number;
  makeFirstHandle(handle: number): void;
  /** Turns a view whose base has no other user into a tensor that is not a view. */
  ownResult(handle: number): number;
  /** Writes dtype, device, ndim, numel, offset, version (-1: none), outputNr, flags, shape..., strides... */
  info(handle: number): number;

  setRequiresGrad(handle: number, value: boolean): number;
  /** Returns a new handle, or 0. */
  grad(handle: number): number;
  setGrad(handle: number, grad: number): number;
  base(handle: number): number;
  detach(handle: number): number;
  /** Like detach, but with a separate version counter. */
  data(handle: number): number;
  detachInPlace(handle: number): number;
  gradFnName(handle: number): string;
  /** Writes a handle of the node and its address; 0 for a leaf. */
  gradFn(handle: number): number;

  /** Like gradFn, but for a leaf writes its accumulator. */
  gradientNode(handle: number): number;
  /** Like gradientNode, but also writes the output's index; fails for a tensor that requires no gradient. */
  gradientEdge(handle: number): number;
  /** Returns the leaf of an accumulator, or 0. */
  nodeVariable(node: number): number;
  nodeName(node: number): string;
  /** Writes the handle, address and index of every edge; returns the number of words. */
  nextFunctions(node: number): number;
  /** Writes for each slot of a gradient its dtype, device, number of dimensions and sizes; returns the number of words. */
  inputMetadata(node: number): number;
  /** Writes the sequence number and the topological number. */
  nodeNumbers(node: number): number;
  /** Returns the number of the object stored with the node, or 0. */
  nodeMetadata(node: number): number;
  setNodeMetadata(node: number, value: number): number;
  /** Returns the stack at which a node was made in anomaly mode. */
  forwardStack(node: number): string;

  /**
   * Runs backward(), or grad() with kCaptureGrads. Frame: targets, their gradients (0: implicit), inputs;
   * `inputCount` -1 means all leaves. A target or input is a tensor and -1, or a node and an output index.
   * Returns the number of result handles, which are 0 for unused inputs.
   */
  runGraph(count: number, inputCount: number, flags: number): number;
  /**
   * Like runGraph, but on another thread or, without threads, in runPieces(). Calls the function `answer`
   * with the handles, or with kFailed.
   */
  runGraphAsync(count: number, inputCount: number, flags: number, answer: number): number;
  /** Runs pending work of runGraphAsync() on this thread for about `milliseconds`; returns 1 if more is left, else 0. */
  /** Ends the asynchronous call whose outcome the function `answer` gets. */
  cancelGraph(answer: number): number;
  runPieces(milliseconds: number): number;
  registerHook(handle: number, callback: number): number;
  registerPostAccumulateGradHook(handle: number, callback: number): number;
  registerNodeHook(node: number, callback: number): number;
  registerNodePrehook(node: number, callback: number): number;
  /** Returns 1 if the running backward call will call this hook of a tensor, else 0. */
  hookWillRun(callback: number): number;
  /**
   * Starts recording the work of this thread, for a function of the tensors in the frame; writes handles of copies of these.
   * Returns the handle of the recording.
   */
  beginCapture(count: number): number;
  /** Ends the recording; the function's results are in the frame. */
  endCapture(captured: number, count: number): number;
  /** Aborts the recording, which cannot be used then. */
  stopCapture(captured: number): void;
  /** Replays a recording with the tensors in the frame; returns the number of result handles. */
  callCaptured(captured: number, count: number): number;
  /** Calls a function now and each time the recording in progress is replayed. */
  runLive(callback: number): number;
  /** Marks a tensor as replaced by another one: functions that were captured with it are outdated. */
  outdate(handle: number): void;
  /** Removes the hook with this callback, if it is still registered. */
  removeHook(callback: number): void;
  retainGrad(handle: number): number;
  queueCallback(callback: number): number;
  /** Returns the number of the running backward call, or -1. */
  graphTaskId(): number;
  /** Returns 0 inside a backward call for given inputs, else 1. */
  isCheckpointValid(): number;
  /** Holds a value until the running backward call has ended, even if it fails. */
  keepWithCall(value: number): number;
  anomalyMode(): number;
  setAnomalyMode(flags: number): void;
  /** Connects the module's functions for warnings and stacks. */
  connectMessages(): void;
  /** Sets whether warnings are repeated; returns the previous setting. */
  setWarnAlways(enabled: boolean): number;
  /** Starts a profile and returns its number. */
  startProfiler(): number;
  /** Returns the time in microseconds on the clock of the profile's events. */
  profilerNow(): number;
  /** Ends the profile with this number. */
  stopProfiler(first: number): number;
  /** Returns the events of the last profile that has ended, one per line. */
  profiled(): string;
  isGradEnabled(): number;
  setGradEnabled(enabled: boolean): void;
  isInferenceModeEnabled(): number;
  pushInferenceMode(enabled: boolean): number;
  popInferenceMode(): void;
  /** Returns the code of the default dtype. */
  defaultDtype(): number;
  setDefaultDtype(dtype: number): void;
  /** Sets the dtype that autocast rounds to, float32 to disable it; returns the previous one. */
  setAutocast(dtype: number): number;
  enterDualLevel(): number;
  exitDualLevel(): number;
  /** Hides the dual level until showDualLevel(); such pairs can be nested. */
  hideDualLevel(): number;
  showDualLevel(): void;
  makeDual(primal: number, tangent: number): number;
  /** Writes the primal and the tangent, or 0. */
  unpackDual(handle: number): number;

  /** Pushes hooks on saved tensors; bindings/saved_tensors.cpp describes their arguments and results. */
  pushSavedTensorHooks(pack: number, unpack: number): number;
  popSavedTensorHooks(): void;
  disableSavedTensorHooks(message: string): number;
  enableSavedTensorHooks(): void;
  /** Returns the names of the saved tensors, one per line. */
  savedNames(node: number): string;
  savedTensor(node: number, i: number): number;
  /** Writes all saved tensors of a node; returns their number. */
  nodeSavedTensors(node: number): number;
  /** Returns the saved numbers, one per line, with a tab between name and value. */
  savedNumbers(node: number): string;
  registerSavedHooks(node: number, i: number, pack: number, unpack: number): number;

  /**
   * Starts a call of a custom Function. Frame: arguments (0: not a tensor), then the name in UTF-8. `backward` identifies the
   * call in the functions below. `flags`: 1 for once differentiable, 2 for a Function with a jvp. Returns the node, and writes
   * whether an argument has a tangent: then setFunctionJvp() must follow, and forward run without the dual level.
   */
  beginFunction(backward: number, count: number, nameLength: number, flags: number): number;
  /** Sets the function that computes the tangents of the results; it is released by endFunction(). */
  setFunctionJvp(backward: number, jvp: number): number;
  /** Ends forward. Frame: what forward returned; writes the results, -1 for a tensor that is returned unchanged. */
  endFunction(backward: number, count: number): number;
  saveForBackward(backward: number, count: number): number;
  saveForForward(backward: number, count: number): number;
  markDirty(backward: number, count: number): number;
  markNonDifferentiable(backward: number, count: number): number;
  setMaterializeGrads(backward: number, value: boolean): number;
  savedTensors(backward: number): number;
  needsInputGrad(backward: number, argument: number): number;

  manualSeed(high: number, low: number): void;
  /** Writes the numbers of tensors, storages, bytes, peak bytes, cached bytes, graph nodes and handles. */
  memory(): number;
  /** Returns the state of the random number generator in use on this thread, as a tensor of bytes. */
  rngState(): number;
  setRngState(handle: number): number;
  /** Makes this thread use a separate generator, whose state is then set, or the global one again. */
  useOwnGenerator(own: boolean): void;
  /** Makes the factories called next on this thread create tensors on the device with this code; -1 ends that. */
  useFactoryDevice(code: number): void;
  setThreads(count: number): number;
  threadCount(): number;
  features(): number;
  /** Identifies the format of what this module exchanges with TypeScript: kBorderHash of generated/border.ts. */
  borderHash(): number;

  /** Tells a started module how many were started before it, so that its handles are others. */
  setEngineNumber(number: number): void;
  /** Allows other threads to call functions of this one. */
  joinThread(): void;
  /** Starts a thread for eg.spawn() and returns its number. */
  startThread(): number;
  /** Transfers a handle to a thread of startThread(), with which it is released; 0 stands for any other thread. */
  giveHandle(handle: number, thread: number): void;
  /** Reports that a thread has ended unexpectedly or is about to: other threads then stop waiting for its functions. */
  threadDied(thread: number): void;
  /** Releases all handles of a thread, which must not be using them any more. */
  releaseHandlesOf(thread: number): void;
  /** Refuses the calls of a thread from now on. Returns whether it is inside of one; -1 for a thread that has not begun or has ended. */
  stopThread(thread: number): number;
  /** Frees what a terminated thread held. Returns 1 if its memory can be freed. */
  freeThread(thread: number): number;
  /** Notes that nothing of a thread can be freed, because it may still run. */
  loseThread(thread: number): void;
  /** Writes the bytes of the stacks of threads that have ended, and how many handles of theirs are left. */
  endedThreads(): number;
}

/** A started module; functionsOf() in bridge.ts finds its NativeFunctions. */
export interface NativeModule {
  readonly wasmExports?: WebAssembly.Exports;
  readonly wasmMemory: WebAssembly.Memory;
  /** Ends all threads, after which nothing references the module; only in builds with threads. */
  stopThreads?(): Promise<unknown>;
  /** Takes the bytes of a part of the engine; see runtime/parts.ts. */
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
  /** Called by C++ instead of what was called, once the engine has failed; throws. */
  failed?: (isStopped: boolean) => never;
  /** Called by C++; see runtime/call_function.ts and runtime/callbacks.ts. */
  callFunction?: (id: number, count: number, call: number) => number;
  functionName?: (id: number) => string;
  /** Returns what a function threw, serialized for other threads. */
  describeThrown?: (id: number) => string;
  dropValue?: (id: number) => void;
  /** Called by C++; see runtime/messages.ts. */
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
  /** Returns the bytes of a part of the engine at once; see runtime/parts.ts. */
  readPart?: (number: number) => Uint8Array<ArrayBuffer>;
  /** The content of the .wasm file, instead of its address. */
  wasmBinary?: Uint8Array;
  printErr?: (text: string) => void;
}

/** The default export of a module file. */
export type ModuleFactory = (options: ModuleOptions) => Promise<NativeModule>;
