// The invariants that hold for every program: which errors may occur, that a failing call changes nothing, and that the
// engine keeps working. Also findings are a trap, a crash, a call that takes too long, and a leak that grows with every run.

import { readFileSync } from "node:fs";

const kBorder = new URL("../../web/src/generated/border.ts", import.meta.url);
const [, codes] = /type ErrorCode =([^;]*);/.exec(readFileSync(kBorder, "utf8"));
const kCodes = new Set(Array.from(codes.matchAll(/"(\w+)"/g), ([, code]) => code));

// Codes that indicate a fault of the engine, for any call.
const kFaultCodes = ["Internal", "NotInitialized"];

/** Larger tensors are not reused by later calls, so that these do not take long. */
export const kMaxElements = 4096;

/** A call that computes for longer than this is a finding. */
export const kMaxSeconds = 10;

/** A problem: its kind, and a message. */
export class Problem {
  /** The line of the program that revealed it, if any. */
  line = null;

  constructor(kind, message) {
    this.kind = kind;
    this.message = message;
    /** True when the process cannot continue. */
    this.isFatal = kind === "trap" || kind === "broken engine";
  }
}

/** Returns the problem with an error, or null if it is a valid one. */
export function problemOfError(eg, error) {
  const text = `${error?.name}: ${error?.message}`;
  if (error instanceof WebAssembly.RuntimeError || error instanceof WebAssembly.Exception) {
    return new Problem("trap", text);
  }
  if (!(error instanceof eg.EdgeGradError)) {
    const where = thrownAt(error);
    // JavaScript itself rejects calling a class without `new`.
    const isOwn = where.includes("eval at ") || /^Class constructor/.test(error?.message);
    return isOwn ? null : new Problem("raw error", `${text} ${where}`);
  }
  if (!kCodes.has(error.code)) return new Problem("unknown code", `${error.code}: ${text}`);
  if (kFaultCodes.includes(error.code)) return new Problem(error.code, text);
  if (!/^\[[\w.]+\] \S/.test(error.message)) return new Problem("no caller named", error.message);
  return null;
}

// Returns the innermost stack frame that is not JavaScript's own. The lines of programs are evaluated; errors thrown by
// the lines themselves are not findings.
function thrownAt(error) {
  const frames = String(error?.stack ?? "").match(/^\s+at .*$/gm) ?? [];
  return (frames.find((frame) => !frame.endsWith("(<anonymous>)")) ?? "").trim();
}

/** Returns the problem with a tensor that a call returned, or null; `mayReachOut` allows it to use more storage than its base. */
export function problemOfTensor(eg, tensor, mayReachOut = false) {
  const { shape, strides, numel, offset } = tensor;
  if (shape.length > 64) return new Problem("bad tensor", `it has ${shape.length} dimensions`);
  const product = shape.reduce((count, size) => count * BigInt(size), 1n);
  if (product !== BigInt(numel) || shape.some((size) => size < 0)) {
    return new Problem("bad tensor", `shape [${shape}], numel ${numel}`);
  }
  if (numel === 0 || !tensor.isView || mayReachOut) return null;
  return eg.scope(() => {
    const { base } = tensor;
    const [low, high] = extentOf(tensor);
    const end = extentOf(base)[1];
    if (low >= 0n && high <= end) return null;
    const where = `shape [${shape}], strides [${strides}], offset ${offset}`;
    return new Problem("out of bounds", `${where} in a storage of ${end} bytes`);
  });
}

const kBytes = { float32: 4, float64: 8, int32: 4, int64: 8, uint8: 1, bool: 1, complex64: 8 };

// Returns the first byte of the storage that a tensor uses, and the one after the last.
function extentOf({ shape, strides, offset, dtype }) {
  let [low, high] = [BigInt(offset), BigInt(offset) + 1n];
  shape.forEach((size, dim) => {
    const reach = BigInt(strides[dim]) * BigInt(size - 1);
    if (reach < 0n) low += reach;
    else high += reach;
  });
  const bytes = BigInt(kBytes[dtype] ?? 16);
  return [low * bytes, high * bytes];
}

/** Returns a tensor's description and elements; the elements are null if there are too many to compare. */
export function snapshot(tensor) {
  if (tensor.disposed) return { meta: "disposed", data: null };
  const { shape, strides, offset, dtype, requiresGrad, isInference } = tensor;
  const version = isInference ? -1 : tensor.version;
  const meta = `${dtype} [${shape}] strides [${strides}] offset ${offset} version ${version} requiresGrad ${requiresGrad}`;
  return { meta, data: tensor.numel <= kMaxElements ? tensor.dataSync() : null };
}

/** Returns the difference between two snapshots, or null. */
export function difference(before, after) {
  if (before.meta !== after.meta) return `${before.meta}, then ${after.meta}`;
  if (before.data === null || after.data === null) return null;
  const i = before.data.findIndex((value, k) => !Object.is(value, after.data[k]));
  return i < 0 ? null : `element ${i} was ${before.data[i]}, then ${after.data[i]}`;
}

/** Returns the problem with the engine after an error, or null. */
export function problemOfEngine(eg) {
  try {
    const sum = eg.scope(() => eg.tensor([1, 2, 3]).mul(2).sum().item());
    if (sum !== 12) return new Problem("broken engine", `2 * (1 + 2 + 3) is ${sum}`);
  } catch (error) {
    return new Problem("broken engine", String(error));
  }
  return null;
}

/** Returns the problem that a call has not restored a mode, or null. */
export function problemOfModes(eg) {
  if (!eg.isGradEnabled()) return new Problem("mode left on", "grad mode is off");
  if (eg.isInferenceModeEnabled()) return new Problem("mode left on", "inference mode is on");
  return null;
}

/** Tensors that programs have no access to: a change in them is an out-of-bounds write. */
export class Canaries {
  #known;

  constructor(eg) {
    this.tensors = [4, 16, 64, 250, 1000, 4000, 16000].map((count) =>
      eg.scope(() => eg.keep(eg.arange(count).add(0.5))),
    );
    this.#known = this.#read();
  }

  problem() {
    for (const [i, bytes] of this.#read().entries()) {
      if (bytes.equals(this.#known[i])) continue;
      const at = bytes.findIndex((byte, k) => byte !== this.#known[i][k]);
      return new Problem(
        "canary",
        `changed byte ${at} of ${bytes.length} of a tensor that no program has access to`,
      );
    }
    return null;
  }

  #read() {
    return this.tensors.map((tensor) => Buffer.from(tensor.dataSync().buffer));
  }
}

const kHeld = ["tensors", "storages", "cpuBytes", "graphNodes", "jsHandles"];

/** Returns what the engine holds: one count for each of kHeld. */
export function held(eg) {
  const memory = eg.memory();
  return kHeld.map((name) => memory[name]);
}

/** Returns whether the engine holds more of anything. */
export function hasGrown(before, after) {
  return after.some((count, i) => count > before[i]);
}

/** Returns what the engine holds, as text. */
export function textOfHeld(counts) {
  return counts.map((count, i) => `${kHeld[i]} ${count}`).join(" ");
}
