// The one kind of error this package throws.

import { hideOwnFrames } from "./own_frames.js";

/** The codes of `EdgeGradError`. */
export type ErrorCode =
  | "NotInitialized"
  | "InvalidArgument"
  | "ShapeMismatch"
  | "DtypeMismatch"
  | "DeviceMismatch"
  | "IndexOutOfRange"
  | "NonScalarBackward"
  | "NoGradPath"
  | "GraphFreed"
  | "ModifiedInPlace"
  | "LeafInPlace"
  | "ViewInPlace"
  | "UnusedInput"
  | "InvalidGradient"
  | "InferenceTensor"
  | "NotDifferentiable"
  | "AnomalyNan"
  | "OutOfMemory"
  | "DeviceUnavailable"
  | "DeviceLost"
  | "WouldBlock"
  | "Disposed"
  | "Internal";

/** A failure of edgegrad: `code` is for programs, `message` for people. */
export class EdgeGradError extends Error {
  /** Always "EdgeGradError". */
  override readonly name = "EdgeGradError";

  readonly #isOwn = true;

  /** True for such an error; whatever else a user may throw, it is not touched. @internal */
  static isOne(value: unknown): value is EdgeGradError {
    return typeof value === "object" && value !== null && #isOwn in value;
  }

  constructor(
    /** What kind of failure it is. */
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    // Error itself throws at what has no text.
    super(typeof message === "string" ? message : describe(message), options);
    // A stack that tells the maintainers where the package itself is wrong stays whole.
    if (code !== "Internal") hideOwnFrames(this, EdgeGradError);
  }
}

/** Throws `[where] message`. */
export function fail(code: ErrorCode, where: string, message: string): never {
  throw new EdgeGradError(code, `[${where}] ${message}`);
}

/** Returns an error of another function's, `[other] message`, as one of `where`. */
export function renamed(error: EdgeGradError, where: string): EdgeGradError {
  const message = error.message.replace(/^\[[\w.]+\] /, "");
  return new EdgeGradError(error.code, `[${where}] ${message}`);
}

/** Runs a function that is made of others: an error of one of them is its own. */
export function calledAs<T>(name: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw EdgeGradError.isOne(error) ? renamed(error, name) : error;
  }
}

/** Returns the message about an argument that is not what was expected. */
export function refusal(name: string, expected: string, value: unknown): string {
  const got = value === undefined ? "nothing" : describe(value);
  return `${name}: expected ${expected}, got ${got}.`;
}

/** Returns the sentence for a module where a function is expected, after a space; nothing for other values. */
export function adviceForModules(value: unknown): string {
  const isCallable = typeof (value as { call?: unknown } | null | undefined)?.call === "function";
  return isCallable ? " Of a module, pass (...inputs) => module.call(...inputs)." : "";
}

/** Returns a short description of a value for an error message, whatever the value is. */
export function describe(value: unknown): string {
  try {
    return described(value);
  } catch {
    // Its getters, or the traps of a proxy, throw.
    return `${typeof value === "function" ? "a function" : "an object"} that cannot be described`;
  }
}

function described(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return shortened(JSON.stringify(value));
  if (typeof value === "function") return "a function";
  if (typeof value !== "object") return `${typeof value} ${shortened(String(value))}`;
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) {
    return shortened(`[${value.map(String).join(", ")}]`);
  }
  return `an object of class ${classNameOf(value)}`;
}

function classNameOf(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? name : "Object";
}

function shortened(text: string): string {
  return text.length <= kMaxLength ? text : `${text.slice(0, kMaxLength)}...`;
}

const kMaxLength = 80;
