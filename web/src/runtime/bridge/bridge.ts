// The rest of the package reaches the started module through this file: its functions and this thread's call frame.
// Before init() every function throws NotInitialized, so callers need not check.

import { EdgeGradError, type ErrorCode, renamed } from "../errors/errors.js";
import { fromDescription } from "../errors/portable_error.js";
import { rejectAll } from "../threads/keep_alive.js";
import { dropAllValues, heldValue } from "./callbacks.js";
import { kFailed, type NativeFunctions, type NativeModule } from "./native.js";

// The module's names are those in NativeFunctions with this prefix.
const kPrefix = "eg_";

const kInitialFrameWords = 256;

/** The functions of the running module. */
export let native: NativeFunctions = notStarted();

// Words written before init() are discarded.
let frame: Float64Array = new Float64Array(kInitialFrameWords);
let memory: WebAssembly.Memory | null = null;

/** The running module. */
export let module: NativeModule | null = null;

// Marks that the address of the frame must be requested again.
const kUnknownFrame = new Float64Array(0);

/** Incremented when a module starts or stops; objects from an earlier epoch are invalid. */
export let epoch = 0;

const epochListeners: (() => void)[] = [];

/** Registers a function that is called whenever the epoch has changed. */
export function onEpoch(listener: () => void): void {
  epochListeners.push(listener);
}

function beginEpoch(): void {
  epoch++;
  for (const listener of epochListeners) listener();
}

/** True between init() and shutdown(). */
export function isStarted(): boolean {
  return memory !== null;
}

/** Makes a started module the current one. */
export function attach(started: NativeModule): void {
  module = started;
  module.failed = (isStopped) => {
    if (isStopped) throw new EdgeGradError("Internal", "[spawn] this worker is being terminated.");
    markFailed();
    throw engineFailed();
  };
  native = functionsOf(started) as NativeFunctions;
  memory = started.wasmMemory;
  beginEpoch();
  reserveFrame(kInitialFrameWords);
}

/** Releases the current module. */
export function detach(): void {
  native = notStarted();
  memory = null;
  module = null;
  dropAllValues();
  beginEpoch();
  frame = new Float64Array(kInitialFrameWords);
}

/** Throws the JavaScript engine's error for a stack overflow unless there is room for a call that must be ended by another one. */
export function reserveStack(): void {
  if (isStarted()) native.reserveStack();
}

/**
 * Learns whether the engine has failed, that is, whether a call into it has ended without returning (bindings/native_call.h). From
 * then on, every call throws Internal, and pending promises are rejected. Must be called from the event loop.
 */
export function lookForFailure(): void {
  if (isStarted() && native.hasFailed() !== 0) markFailed();
}

function markFailed(): void {
  native = throwing(engineFailed, kNeededAtEnd);
  rejectAll(engineFailed);
}

// Calls while an engine is stopped have no effect.
const kNeededAtEnd = [
  "release",
  "giveHandle",
  "threadDied",
  "stopThread",
  "freeThread",
  "loseThread",
  "releaseHandlesOf",
  "closeGpu",
];

function engineFailed(): EdgeGradError {
  return new EdgeGradError(
    "Internal",
    "[init] the engine has failed: a call into it ended without returning, by a stack overflow or a trap of its code, so its state " +
      "is unknown. Call `await shutdown()` and `await init()` to start another one.",
  );
}

/** Incremented on every use of the call frame, so that a writer can detect whether other code has used it in between. */
export let frameUses = 0;

/** Returns this thread's call frame; valid until the next native call. */
export function callFrame(): Float64Array {
  frameUses++;
  // When memory that is not shared grows, its views are detached.
  return frame.length === 0 ? reserveFrame(kInitialFrameWords) : frame;
}

/** Returns the call frame after making room for `words`; words written before are preserved. */
export function reserveFrame(words: number): Float64Array {
  const size = Math.max(words, kInitialFrameWords);
  const address = checked(native.frame(size));
  frame = new Float64Array(wasmBuffer(), address, size);
  return frame;
}

/** Returns the call frame with room for `words`. */
export function frameOf(words: number): Float64Array {
  const current = callFrame();
  return words <= current.length ? current : reserveFrame(words);
}

/** Returns a copy of the first words of the call frame, for callers whose next steps, such as making a tensor, use the frame. */
export function takeWords(count: number): number[] {
  return Array.from(frameOf(count).subarray(0, count));
}

/** Returns the module's memory as it is now; views on it are valid until the next native call. */
export function wasmBuffer(): ArrayBufferLike {
  if (memory === null) throw notInitialized();
  return memory.buffer;
}

/** Returns the result of a native call, or throws the error that it left. */
export function checked(result: number): number {
  if (result === kFailed) throw takeError();
  return result;
}

/** Like checked() in a call of `name`, with which an error message that names no function is prefixed. */
export function checkedFor(name: string, result: number): number {
  if (result === kFailed) throw takeErrorFor(name);
  return result;
}

/** Like takeError() in a call of `name`. */
export function takeErrorFor(name: string): unknown {
  const error = takeError();
  if (!EdgeGradError.isOne(error)) return error;
  const { message } = error;
  const isNamed = message.startsWith("[") && !message.startsWith(kOfAllocation);
  return isNamed ? error : renamed(error, name);
}

// The prefix of errors from Tensor::empty, which all ops call.
const kOfAllocation = "[empty] ";

const kAdvice = " Free tensors with dispose(), `using` or eg.scope().";

/** Returns the error to throw for the last native call that failed. */
export function takeError(): unknown {
  // The call may have moved the frame before it failed.
  frame = kUnknownFrame;
  const text = native.takeError();
  const end = text.indexOf("\n");
  const code = text.slice(0, end);
  if (code === "JsError") {
    const thrown = heldValue(Number(text.slice(end + 1)));
    native.dropThrown();
    return thrown;
  }
  // There was no memory even for the message.
  if (text === "") return new EdgeGradError("OutOfMemory", `out of memory.${kAdvice}`);
  const message = text.slice(end + 1);
  // Thrown on another thread, from which only a serialized copy can be passed.
  if (code === "JsCopy") return fromDescription(message);
  const needsAdvice = code === "OutOfMemory" && !message.includes("eg.scope");
  return new EdgeGradError(code as ErrorCode, needsAdvice ? message + kAdvice : message);
}

function notInitialized(): EdgeGradError {
  return new EdgeGradError(
    "NotInitialized",
    "edgegrad is not running. Call `await init()` once before anything else.",
  );
}

function notStarted(): NativeFunctions {
  return throwing(notInitialized, []);
}

// Functions that throw an error, except some, which return 0.
function throwing(errorOf: () => EdgeGradError, except: readonly string[]): NativeFunctions {
  const fail = () => {
    throw errorOf();
  };
  const ignore = () => 0;
  return new Proxy({} as NativeFunctions, {
    get: (_, name) => (except.includes(name as string) ? ignore : fail),
  });
}

/**
 * Returns the functions of a module; some are missing if it is from another build. Functions of numbers are
 * plain WebAssembly exports, functions of strings come from Embind. They are copied because both objects have
 * hundreds of other properties, which makes each look-up slow.
 */
export function functionsOf(module: NativeModule): Partial<NativeFunctions> {
  const own = [module.wasmExports ?? {}, module]
    .flatMap((functions) => Object.entries(functions))
    .filter(([name]) => name.startsWith(kPrefix))
    .map(([name, fn]) => [name.slice(kPrefix.length), fn]);
  return Object.fromEntries(own);
}
