// What the WebAssembly module offers, and the calling convention.
//
// Tensors and nodes cross the border as *handles*: whole numbers below 2^53, a slot and its generation. A
// handle owns one reference; releasing it twice is harmless, using it after that is `Disposed`.
// 0 means "none".
//
// Every thread has a *call frame*, an array of float64 words in the module's memory. TypeScript
// writes arguments to it and C++ writes results to it. An argument says by itself how long it is:
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
//   choice                   position in the list of the op table
//
// Functions and other JavaScript values cross as numbers too (runtime/callbacks.ts), which the callee
// owns from then on.
//
// Results are handles from the front of the frame on. A call that fails returns kFailed; takeError()
// then gives "Code\nmessage". C++ keeps no pointer into the frame across a call back to JavaScript.

/** What a native function returns after an error. */
export const kFailed = -1;

/** Flags of `invoke`. */
export const kInPlace = 1;

/** Flags of `runGraph`. */
export const kRetainGraphGiven = 1;
export const kRetainGraph = 2;
export const kCreateGraph = 4;
export const kAllowUnusedGiven = 8;
export const kAllowUnused = 16;
export const kMaterializeGrads = 32;
export const kGradsBatched = 64;
export const kCaptureGrads = 128;

/** Bits of `anomalyMode`. */
export const kAnomalyEnabled = 1;
export const kAnomalyCheckNan = 2;

/** Words of `info` before the shape and the strides. */
export const kInfoWords = 8;

/** Bits of the flags word of `info`. */
export const kRequiresGrad = 1;
export const kIsLeaf = 2;
export const kIsContiguous = 4;
export const kIsView = 8;
export const kRetainsGrad = 16;
export const kIsInference = 32;

/** Bits of `features`. */
export const kHasThreads = 1;
export const kHasSimd = 2;
export const kHasRelaxedSimd = 4;

/**
 * The functions the module exports; each returns kFailed on error unless it returns nothing. A boolean
 * may be given to C++, which answers 1 or 0.
 */
export interface NativeFunctions {
  /** Makes room for `words` in this thread's frame and returns its address. */
  frame(words: number): number;
  /** Runs an op on the frame's words; returns the number of result handles. */
  invoke(op: number, words: number, flags: number): number;
  takeError(): string;
  /** Lets go of what a JavaScript function threw, after takeError() has named it. */
  dropThrown(): void;

  /** Has the WebGPU device opened when it is first used, or refused. */
  connectGpu(): void;
  /** There may be a WebGPU device. Its player is at `url`; it plays on the main thread, or on one of its own. */
  allowGpu(url: string, playsOnMainThread: boolean): void;
  /** Opens the WebGPU device unless it is open; calls the function `answer` with kFailed or not. */
  openGpu(answer: number): number;
  gpuIsLost(): number;
  /** Has the thread of the GPU let go of it, and waits until it has. */
  closeGpu(): void;
  /** Why it could not be opened. */
  gpuFailure(): string;
  /** The adapter as JSON; "" without a device. */
  gpuAdapter(): string;
  /** Writes bytes in use, the most there were, and the number of buffers; 0 without a device. */
  gpuMemory(): number;
  /** Calls the function `answer` with a tensor of the same values on the CPU, or with kFailed. */
  readLater(handle: number, answer: number): number;
  /** Writes what the player has done: the numbers of webgpuStats; 0 without a device. */
  gpuStats(): number;
  /** The tensor on a device. */
  toDevice(handle: number, device: number): number;

  /** An uninitialised row-major tensor whose shape is in the frame. */
  createTensor(dtype: number, ndim: number): number;
  /** The address of a view's first element. */
  dataAddress(handle: number): number;
  release(handle: number): void;
  retain(handle: number): number;
  /** Makes a view of what nobody else has a tensor of its own. */
  ownResult(handle: number): number;
  /** Writes dtype, device, ndim, numel, offset, version (-1: none), outputNr, flags, shape..., strides... */
  info(handle: number): number;

  setRequiresGrad(handle: number, value: boolean): number;
  /** A new handle, or 0; writes the gradient's address. */
  grad(handle: number): number;
  /** Writes the gradient's address. */
  setGrad(handle: number, grad: number): number;
  base(handle: number): number;
  detach(handle: number): number;
  /** Like detach, but counts versions of its own. */
  data(handle: number): number;
  detachInPlace(handle: number): number;
  gradFnName(handle: number): string;
  /** Writes a handle of the node and its address; 0 for a leaf. */
  gradFn(handle: number): number;

  /** Like gradFn, but gives a leaf's accumulator. */
  gradientNode(handle: number): number;
  /** Like gradientNode, and writes the position there; an error for what requires no gradient. */
  gradientEdge(handle: number): number;
  /** The leaf of an accumulator, or 0. */
  nodeVariable(node: number): number;
  nodeName(node: number): string;
  /** Writes handle, address and position of every edge; returns the number of words. */
  nextFunctions(node: number): number;
  /** Writes sequence number and topological number. */
  nodeNumbers(node: number): number;
  /** The number of the object kept with the node, or 0. */
  nodeMetadata(node: number): number;
  setNodeMetadata(node: number, value: number): number;
  /** Where a node made in anomaly mode was made. */
  forwardStack(node: number): string;

  /**
   * Runs backward(), or grad() with kCaptureGrads. Frame: targets, their gradients (0: implicit), inputs;
   * `inputCount` -1 means all leaves. A target or input is a tensor and -1, or a node and a position.
   * Returns the number of handles (0: unused input).
   */
  runGraph(count: number, inputCount: number, flags: number): number;
  /**
   * Like runGraph, but on another thread or, without threads, in runPieces(): calls the function `answer`
   * with handles, or with kFailed.
   */
  runGraphAsync(count: number, inputCount: number, flags: number, answer: number): number;
  /** Runs what runGraphAsync() left to this thread for so long; 1 when there is more, else 0. */
  runPieces(milliseconds: number): number;
  registerHook(handle: number, callback: number): number;
  registerPostAccumulateGradHook(handle: number, callback: number): number;
  registerNodeHook(node: number, callback: number): number;
  registerNodePrehook(node: number, callback: number): number;
  /** 1 when the running backward call will call this hook of a tensor, else 0. */
  hookWillRun(callback: number): number;
  /**
   * Begins to write down what this thread does: for a function of the tensors in the frame, of which it writes
   * handles of copies. Returns the handle of what is captured.
   */
  beginCapture(count: number): number;
  /** Ends that; the frame has what the function returned. */
  endCapture(captured: number, count: number): number;
  /** Ends that, too; what was captured is of no use. */
  stopCapture(captured: number): void;
  /** Plays it with the tensors in the frame; returns the number of handles. */
  callCaptured(captured: number, count: number): number;
  /** Calls a function, now and each time that what is captured now is played. */
  runLive(callback: number): number;
  /** Says that another tensor takes the place of this one: functions that were captured with it are outdated. */
  outdate(handle: number): void;
  /** Takes the hook with this callback out of its list, if it is still there. */
  removeHook(callback: number): void;
  retainGrad(handle: number): number;
  queueCallback(callback: number): number;
  /** The number of the running backward call, or -1. */
  graphTaskId(): number;
  /** Holds a value until the running backward call has ended, however it ends. */
  keepWithCall(value: number): number;
  anomalyMode(): number;
  setAnomalyMode(flags: number): void;
  /** Sends warnings and questions for a stack to the module from now on. */
  connectMessages(): void;
  /** Makes warnings come each time; returns what was set before. */
  setWarnAlways(enabled: boolean): number;
  /** Begins a recording and returns its number; ends it; returns the events of the last one that has ended, a line each. */
  startProfiler(): number;
  stopProfiler(first: number): number;
  profiled(): string;
  isGradEnabled(): number;
  setGradEnabled(enabled: boolean): void;
  isInferenceModeEnabled(): number;
  pushInferenceMode(enabled: boolean): void;
  popInferenceMode(): void;
  /** The code of the dtype of floats that are given none. */
  defaultDtype(): number;
  setDefaultDtype(dtype: number): void;
  /** Sets the dtype that autocast rounds to, float32 for none; returns what was set before. */
  setAutocast(dtype: number): number;
  enterDualLevel(): number;
  exitDualLevel(): number;
  makeDual(primal: number, tangent: number): number;
  /** Writes primal and tangent, or 0. */
  unpackDual(handle: number): number;

  /** Hooks on saved tensors; see bindings/saved_tensors.cpp for what they take and answer. */
  pushSavedTensorHooks(pack: number, unpack: number): number;
  popSavedTensorHooks(): void;
  disableSavedTensorHooks(message: string): number;
  enableSavedTensorHooks(): void;
  /** A line per saved tensor. */
  savedNames(node: number): string;
  savedTensor(node: number, i: number): number;
  /** A line per number, a tab between name and value. */
  savedNumbers(node: number): string;
  registerSavedHooks(node: number, i: number, pack: number, unpack: number): number;

  /**
   * Frame: arguments (0: no tensor), then the name's bytes in UTF-8; `backward` stands for the node from
   * here on. Returns the node.
   */
  beginFunction(
    backward: number,
    count: number,
    nameLength: number,
    onceDifferentiable: boolean,
  ): number;
  /** Frame: what forward returned; writes the results, -1 for a tensor as it was given. */
  endFunction(backward: number, count: number): number;
  saveForBackward(backward: number, count: number): number;
  markDirty(backward: number, count: number): number;
  markNonDifferentiable(backward: number, count: number): number;
  setMaterializeGrads(backward: number, value: boolean): number;
  savedTensors(backward: number): number;
  needsInputGrad(backward: number, argument: number): number;

  manualSeed(high: number, low: number): void;
  /** Writes tensors, storages, bytes, peak bytes, cached bytes, graph nodes, handles. */
  memory(): number;
  /** The random number generator's state, as a tensor of bytes; of the one in use on this thread. */
  rngState(): number;
  setRngState(handle: number): number;
  /** Lets this thread draw from a generator of its own, whose state is set first, or again from the common one. */
  useOwnGenerator(own: boolean): void;
  setThreads(count: number): number;
  threadCount(): number;
  features(): number;
  /** Identifies the format of what this module exchanges with TypeScript: kBorderHash of generated/border.ts. */
  borderHash(): number;

  /** Lets other threads call functions of this one. */
  joinThread(): void;
  /** Starts a thread for eg.spawn() and returns its number. */
  startThread(): number;
  /** Has a handle belong to a thread, with which it goes: to one of startThread(), or 0 for any other. */
  giveHandle(handle: number, thread: number): void;
  /** Says that a thread ended unasked, or is about to: nobody waits for its functions any more. */
  threadDied(thread: number): void;
  /** Releases what belongs to a thread; only when it can use that no longer. */
  releaseHandlesOf(thread: number): void;
}

/** A started module; bridge.ts says where it has NativeFunctions. */
export interface NativeModule {
  readonly wasmExports?: WebAssembly.Exports;
  readonly wasmMemory: WebAssembly.Memory;
  /** Ends all threads, after which nothing holds the module; only where there are any. */
  stopThreads?(): Promise<unknown>;
  /** Forgets a worker that was ended from outside. */
  forgetWorker?(worker: ThreadWorker): void;
  /** Emscripten's threads; only where there are any. */
  readonly PThread?: {
    /** Workers by the number of their thread. */
    readonly pthreads: Readonly<Record<number, ThreadWorker>>;
    terminateAllThreads(): void;
    /** Workers that wait to become threads; the next thread takes the last one. */
    readonly unusedWorkers: ThreadWorker[];
    /** Constructs one that waits. */
    allocateUnusedWorker(): void;
    loadWasmModuleToWorker(worker: ThreadWorker): Promise<unknown>;
  };
  /** Called by C++; see runtime/call_function.ts and runtime/callbacks.ts. */
  callFunction?: (id: number, count: number) => number;
  functionName?: (id: number) => string;
  /** Returns what a function threw as text, for other threads. */
  describeThrown?: (id: number) => string;
  dropValue?: (id: number) => void;
  /** Called by C++; see runtime/messages.ts. */
  showWarning?: (message: string) => number;
  captureStack?: () => string;
  /** An object like navigator.gpu that init() was given, for the player on this thread. */
  gpu?: object;
  /** The player, where it plays on this thread. */
  readonly gpuPlayer?: { close(): Promise<void> };
}

/** A worker of a page, or one of Node, which has other events. */
export interface ThreadWorker {
  addEventListener?(type: string, listener: (event: WorkerEvent) => void): void;
  on?(type: "error", listener: (error: Error) => void): void;
  on?(type: "exit", listener: (code: number) => void): void;
  postMessage(message: unknown, transfer: readonly unknown[]): void;
  /** In Node, resolves when it has ended. */
  terminate(): unknown;
  /** Set where its thread was asked to end: called when that has ended in good order, after which nothing uses the worker. */
  onLeft?: () => void;
}

/** Of a message or an error; a script that could not be loaded has no text. */
export interface WorkerEvent {
  readonly data?: unknown;
  readonly message?: string;
  preventDefault(): void;
}

/** What a module's start takes. */
export interface ModuleOptions {
  /** Threads to start at once; a page's main thread cannot start one and wait for it. */
  poolSize: number;
  /** Constructs a worker that runs the module's script, which waits there to become a thread. */
  makeWorker?: () => ThreadWorker;
  /** In a worker that somebody else constructed: it is to become a thread. */
  isThread?: boolean;
  /** There: what bindings/worker.js knows of the package. */
  host?: object;
  /** There: called when the script takes messages. */
  threadListens?: () => void;
  locateFile?: (file: string) => string;
  /** The .wasm file's content, instead of its place. */
  wasmBinary?: Uint8Array;
  printErr?: (text: string) => void;
}

/** The default export of a module file. */
export type ModuleFactory = (options: ModuleOptions) => Promise<NativeModule>;
