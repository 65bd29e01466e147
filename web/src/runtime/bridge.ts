// The started module as the rest of the package sees it: its functions and this thread's call frame.
// Before init() every function throws NotInitialized, so that no caller has to ask.

import { dropAllValues, heldValue } from "./callbacks.js";
import { EdgeGradError, type ErrorCode } from "./errors.js";
import { kFailed, type NativeFunctions, type NativeModule } from "./native.js";
import { fromDescription } from "./portable_error.js";

const kFunctions = [
  "frame",
  "invoke",
  "takeError",
  "dropThrown",
  "createTensor",
  "dataAddress",
  "release",
  "retain",
  "info",
  "setRequiresGrad",
  "grad",
  "setGrad",
  "base",
  "detach",
  "data",
  "detachInPlace",
  "gradFnName",
  "gradFn",
  "gradientNode",
  "gradientEdge",
  "nodeVariable",
  "nodeName",
  "nextFunctions",
  "nodeNumbers",
  "nodeMetadata",
  "setNodeMetadata",
  "forwardStack",
  "runGraph",
  "runGraphAsync",
  "registerHook",
  "registerPostAccumulateGradHook",
  "registerNodeHook",
  "registerNodePrehook",
  "hookWillRun",
  "removeHook",
  "retainGrad",
  "queueCallback",
  "graphTaskId",
  "graphTaskDepth",
  "anomalyMode",
  "setAnomalyMode",
  "connectMessages",
  "startProfiler",
  "stopProfiler",
  "isGradEnabled",
  "setGradEnabled",
  "isInferenceModeEnabled",
  "pushInferenceMode",
  "popInferenceMode",
  "enterDualLevel",
  "exitDualLevel",
  "makeDual",
  "unpackDual",
  "pushSavedTensorHooks",
  "popSavedTensorHooks",
  "disableSavedTensorHooks",
  "enableSavedTensorHooks",
  "savedNames",
  "savedTensor",
  "savedNumbers",
  "registerSavedHooks",
  "beginFunction",
  "endFunction",
  "saveForBackward",
  "markDirty",
  "markNonDifferentiable",
  "setMaterializeGrads",
  "savedTensors",
  "needsInputGrad",
  "manualSeed",
  "memory",
  "rngState",
  "setRngState",
  "setThreads",
  "threadCount",
  "features",
  "opTableHash",
  "joinThread",
  "startThread",
  "threadDied",
] as const satisfies readonly (keyof NativeFunctions)[];

const kInitialFrameWords = 256;

/** The functions of the running module. */
export let native: NativeFunctions = notStarted();

// Words written before init() go nowhere.
let frame: Float64Array = new Float64Array(kInitialFrameWords);
let memory: WebAssembly.Memory | null = null;

/** Counts the modules started so far; what belongs to an earlier one is void. */
export let epoch = 0;

/** True between init() and shutdown(). */
export function isStarted(): boolean {
  return memory !== null;
}

/** Makes a started module the one in use. */
export function attach(module: NativeModule): void {
  // The module object itself has hundreds of properties, which makes each look-up slow.
  native = functions((name) => module[name]);
  memory = module.wasmMemory;
  epoch++;
  reserveFrame(kInitialFrameWords);
}

/** Forgets the module in use. */
export function detach(): void {
  native = notStarted();
  memory = null;
  dropAllValues();
  epoch++;
  frame = new Float64Array(kInitialFrameWords);
}

/** Returns this thread's call frame; valid until the next native call. */
export function callFrame(): Float64Array {
  // Memory that grows detaches its views, unless it is shared.
  return frame.length === 0 ? reserveFrame(kInitialFrameWords) : frame;
}

/** Returns the call frame after making room for `words`; words written before stay. */
export function reserveFrame(words: number): Float64Array {
  const size = Math.max(words, kInitialFrameWords);
  const address = native.frame(size);
  frame = new Float64Array(wasmBuffer(), address, size);
  return frame;
}

/** Returns the call frame with room for `words`. */
export function frameOf(words: number): Float64Array {
  const current = callFrame();
  return words <= current.length ? current : reserveFrame(words);
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

/** Like checked() in a call of `name`: an error of the allocation it made is its own. */
export function checkedFor(name: string, result: number): number {
  if (result !== kFailed) return result;
  const error = takeError();
  if (!(error instanceof EdgeGradError) || !error.message.startsWith(kOfAllocation)) throw error;
  throw new EdgeGradError(error.code, `[${name}]${error.message.slice(kOfAllocation.length)}`);
}

// What errors of Tensor::empty, which all ops call, begin with.
const kOfAllocation = "[empty]";

/** Returns what the last failed native call has to be thrown as. */
export function takeError(): unknown {
  const text = native.takeError();
  const end = text.indexOf("\n");
  const code = text.slice(0, end);
  if (code === "JsError") {
    const thrown = heldValue(Number(text.slice(end + 1)));
    native.dropThrown();
    return thrown;
  }
  const message = text.slice(end + 1);
  // Thrown on another thread, from which only a description can come.
  if (code === "JsCopy") return fromDescription(message);
  const advice = " Free tensors with dispose(), `using` or eg.scope().";
  const needsAdvice = code === "OutOfMemory" && !message.includes("eg.scope");
  return new EdgeGradError(code as ErrorCode, needsAdvice ? message + advice : message);
}

function notInitialized(): EdgeGradError {
  return new EdgeGradError(
    "NotInitialized",
    "edgegrad is not running. Call `await init()` once before anything else.",
  );
}

function notStarted(): NativeFunctions {
  return functions(() => () => {
    throw notInitialized();
  });
}

function functions(pick: (name: keyof NativeFunctions) => unknown): NativeFunctions {
  return Object.fromEntries(
    kFunctions.map((name) => [name, pick(name)]),
  ) as unknown as NativeFunctions;
}
