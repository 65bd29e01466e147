// Written by scripts/generating/native_functions.mjs (npm run generate). Do not edit.

/**
 * The functions that the module exports; runtime/bridge/native.ts explains their arguments and results. On error they return kFailed, except
 * those without a result. Booleans may be passed to C++; results are 1 or 0.
 */
export interface NativeFunctions {
  /** Sets whether warnings are repeated; returns the previous setting. */
  setWarnAlways(enabled: boolean): number;
  /** Connects the module's functions for warnings and stacks. */
  connectMessages(): void;
  anomalyMode(): number;
  setAnomalyMode(flags: number): void;
  /**
   * Runs backward(), or grad() with kCaptureGrads. Frame: targets, their gradients (0: implicit), inputs; `inputCount` -1 means all
   * leaves. A target or input is a tensor and -1, or a node and an output index. Returns the number of result handles, which are 0 for
   * unused inputs.
   */
  runGraph(outputCount: number, inputCount: number, flags: number): number;
  /**
   * Like runGraph, but on another thread or, without threads, in runPieces(). Calls the function `id` with the handles, or with
   * kFailed.
   */
  runGraphAsync(outputCount: number, inputCount: number, flags: number, id: number): number;
  /** Ends the asynchronous call whose outcome the function `id` gets. */
  cancelGraph(id: number): number;
  /** Runs pending work of runGraphAsync() on this thread for about `milliseconds`; returns 1 if more is left, else 0. */
  runPieces(milliseconds: number): number;
  setRequiresGrad(handle: number, value: boolean): number;
  /** Returns a new handle, or 0. Also writes whether the gradient is sparse. */
  grad(handle: number): number;
  setGrad(handle: number, value: number): number;
  base(handle: number): number;
  /** Like detach, but with a separate version counter. */
  data(handle: number): number;
  detach(handle: number): number;
  detachInPlace(handle: number): number;
  retainGrad(handle: number): number;
  queueCallback(id: number): number;
  /** Holds a value until the running backward call has ended, even if it fails. */
  keepWithCall(id: number): number;
  /** Returns the number of the running backward call, or -1. */
  graphTaskId(): number;
  /** Returns 0 inside a backward call for given inputs, else 1. */
  isCheckpointValid(): number;
  gradFnName(handle: number): string;
  /** Releases what a JavaScript function threw, after takeError() has returned its number. */
  dropThrown(): void;
  /** Reserves room for `words` in this thread's frame and returns the frame's address. */
  frame(words: number): number;
  takeError(): string;
  /**
   * Starts recording the work of this thread, for a function of the tensors in the frame; writes handles of copies of these. Returns
   * the handle of the recording.
   */
  beginCapture(count: number): number;
  /** Ends the recording; the function's results are in the frame. */
  endCapture(handle: number, count: number): number;
  /** Aborts the recording, which cannot be used then. */
  stopCapture(handle: number): void;
  /** Replays a recording with the tensors in the frame; returns the number of result handles. */
  callCaptured(handle: number, count: number): number;
  /** Marks a tensor as replaced by another one: functions that were captured with it are outdated. */
  outdate(handle: number): void;
  /** Calls a function now and each time the recording in progress is replayed. */
  runLive(id: number): number;
  /**
   * Starts a call of a custom Function. Frame: arguments (0: not a tensor), then the name in UTF-8. `id` identifies the call in the
   * functions below. `flags`: 1 for once differentiable, 2 for a Function with a jvp. Returns the node, and writes whether an argument
   * has a tangent: then setFunctionJvp() must follow, and forward run between hideDualLevel() and showDualLevel().
   */
  beginFunction(id: number, argumentCount: number, nameLength: number, flags: number): number;
  /** Sets the function that computes the tangents of the results; it is released by endFunction(). */
  setFunctionJvp(id: number, jvp: number): number;
  /** Ends forward. Frame: what forward returned; writes the results, -1 for a tensor that is returned unchanged. */
  endFunction(id: number, outputCount: number): number;
  saveForBackward(id: number, count: number): number;
  saveForForward(id: number, count: number): number;
  markDirty(id: number, count: number): number;
  markNonDifferentiable(id: number, count: number): number;
  setMaterializeGrads(id: number, value: boolean): number;
  savedTensors(id: number): number;
  needsInputGrad(id: number, i: number): number;
  /** Removes the hook with this callback, if it is still registered. */
  removeHook(id: number): void;
  /** Returns 1 if the running backward call will call this hook of a tensor, else 0. */
  hookWillRun(id: number): number;
  registerHook(handle: number, id: number): number;
  registerPostAccumulateGradHook(handle: number, id: number): number;
  registerNodePrehook(handle: number, id: number): number;
  registerNodeHook(handle: number, id: number): number;
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
  /** True when a call into this module has ended without returning. */
  hasFailed(): number;
  /** Throws the JavaScript engine's error for a stack overflow unless there is room for a call that must be ended by another one. */
  reserveStack(): void;
  /** Writes a handle of the node and its address; 0 for a leaf. */
  gradFn(handle: number): number;
  /** Like gradFn, but for a leaf writes its accumulator. */
  gradientNode(handle: number): number;
  /** Like gradientNode, but also writes the output's index; fails for a tensor that requires no gradient. */
  gradientEdge(handle: number): number;
  /** Returns the leaf of an accumulator, or 0. */
  nodeVariable(handle: number): number;
  /** Writes the handle, address and index of every edge; returns the number of words. */
  nextFunctions(handle: number): number;
  /** Writes for each slot of a gradient its dtype, device, number of dimensions and sizes; returns the number of words. */
  inputMetadata(handle: number): number;
  /** Writes the sequence number and the topological number. */
  nodeNumbers(handle: number): number;
  /** Returns the number of the object stored with the node, or 0. */
  nodeMetadata(handle: number): number;
  setNodeMetadata(handle: number, id: number): number;
  nodeName(handle: number): string;
  /** Returns the stack at which a node was made in anomaly mode. */
  forwardStack(handle: number): string;
  sharedParts(): number;
  allocatePart(size: number): number;
  requestPart(part: number): void;
  failWithoutPart(text: number, size: number): void;
  /** Starts a profile and returns its number. */
  startProfiler(): number;
  /** Returns the time in microseconds on the clock of the profile's events. */
  profilerNow(): number;
  /** Ends the profile with this number. */
  stopProfiler(first: number): number;
  /** Returns the events of the last profile that has ended, one per line. */
  profiled(): string;
  /** Pushes hooks on saved tensors; bindings/saved_tensors.cpp describes their arguments and results. */
  pushSavedTensorHooks(packId: number, unpackId: number): number;
  popSavedTensorHooks(): void;
  enableSavedTensorHooks(): void;
  savedTensor(handle: number, i: number): number;
  /** Writes all saved tensors of a node; returns their number. */
  nodeSavedTensors(handle: number): number;
  registerSavedHooks(handle: number, i: number, packId: number, unpackId: number): number;
  disableSavedTensorHooks(message: string): number;
  /** Returns the names of the saved tensors, one per line. */
  savedNames(handle: number): string;
  /** Returns the saved numbers, one per line, with a tab between name and value. */
  savedNumbers(handle: number): string;
  /**
   * Runs an op on the frame's words; returns the number of result handles. A handle is negated if this thread has another handle of
   * the same tensor.
   */
  invoke(op: number, words: number, flags: number): number;
  /** Returns an uninitialized row-major tensor; its shape is in the frame. */
  createTensor(dtype: number, ndim: number): number;
  /** Returns the tensor on a device. */
  toDevice(handle: number, type: number): number;
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
  manualSeed(high: number, low: number): void;
  /** Returns the state of the random number generator in use on this thread, as a tensor of bytes. */
  rngState(): number;
  setRngState(handle: number): number;
  /** Makes the factories called next on this thread create tensors on the device with this code; -1 ends that. */
  useFactoryDevice(code: number): void;
  /** Makes this thread use a separate generator, whose state is then set, or the global one again. */
  useOwnGenerator(own: boolean): void;
  /** Writes the numbers of tensors, storages, bytes, peak bytes, cached bytes, graph nodes and handles. */
  memory(): number;
  setThreads(count: number): number;
  features(): number;
  threadCount(): number;
  /** Identifies the format of what this module exchanges with TypeScript: kBorderHash of generated/border.ts. */
  borderHash(): number;
  /** Allows other threads to call functions of this one. */
  joinThread(): void;
  /** Starts a thread for eg.spawn() and returns its number. */
  startThread(): number;
  /**
   * Called by bindings/worker.js when this thread will run no function for others any more. The threads that wait for one may include
   * the main thread, whose event loop cannot be notified while it waits.
   */
  closeInbox(): void;
  /** Called by bindings/worker.js when its thread ends normally. */
  leaveThread(): void;
  /**
   * Called by bindings/worker.js around what other threads have asked this one to do. Returns false if this thread is about to be
   * terminated.
   */
  beginMessages(): number;
  endMessages(): void;
  /** Tells a started module how many were started before it, so that its handles are others. */
  setEngineNumber(number: number): void;
  /** Transfers a handle to a thread of startThread(), with which it is released; 0 stands for any other thread. */
  giveHandle(handle: number, thread: number): void;
  /** Reports that a thread has ended unexpectedly or is about to: other threads then stop waiting for its functions. */
  threadDied(thread: number): void;
  /** Refuses the calls of a thread from now on. Returns whether the thread is inside a call; -1 if it has not begun or has ended. */
  stopThread(number: number): number;
  /** Notes that nothing of a thread can be freed, because it may still run. */
  loseThread(thread: number): void;
  /** Writes the bytes of the stacks of threads that have ended, and how many handles of theirs are left. */
  endedThreads(): number;
  /** Frees what a terminated thread held. Returns 1 if its memory can be freed. */
  freeThread(thread: number): number;
  /** Releases all handles of a thread, which must not be using them any more. */
  releaseHandlesOf(thread: number): void;
  /** Executes all recorded commands. Must be called on the player's thread. */
  gpuPlay(): void;
  /** Registers the WebGPU device, which is opened at its first use, or rejected if it is not allowed. */
  connectGpu(): void;
  /**
   * Opens the WebGPU device unless it is open; then calls the function `answer`, with kFailed if that failed, and with kRefused if
   * what init() was given cannot be used.
   */
  openGpu(answer: number): number;
  /** Makes the GPU's thread close the device, and waits for it, but only for a limited time because the process is about to end. */
  closeGpu(): void;
  gpuIsLost(): number;
  /** Calls the function `answer` with a tensor of the same values on the CPU, or with kFailed. */
  readLater(handle: number, answer: number): number;
  /**
   * Calls `listener` with kFailed at every loss, after which the error is that of takeError(), instead of this thread's previous one;
   * 0 only removes that.
   */
  whenGpuLost(listener: number): number;
  /**
   * Writes the number of the block of a packed tensor on the device, the first byte and the number of bytes of its elements. With
   * `isWritten`, the tensor gets a new version.
   */
  gpuPlace(handle: number, isWritten: boolean): number;
  /** Returns the address of the counters that the player writes after every batch. */
  gpuStatsAddress(): number;
  /** Writes the counters of the player, which are those of webgpuStats; returns 0 without a device. */
  gpuStats(): number;
  gpuPlayWhenQuiet(): void;
  /** Writes the bytes in use, their maximum so far, and the number of buffers; returns 0 without a device. */
  gpuMemory(): number;
  gpuOpened(supported: string, adapter: string, maxBlockBytes: number, hasClock: boolean): void;
  gpuFailed(reason: string, isRefused: boolean): void;
  /** The state changes before readers learn of the loss, because they may call init() at once. */
  gpuLost(reason: string): void;
  gpuClosed(): void;
  gpuFinishRead(ticket: number, kind: string, message: string): void;
  /** Allows a WebGPU device. `url` is the script of its player, which runs on the main thread or on a separate one. */
  allowGpu(url: string, playsOnMainThread: boolean): void;
  /** Returns why the device could not be opened. */
  gpuFailure(): string;
  /** Returns the adapter as JSON; "" without a device. */
  gpuAdapter(): string;
}
