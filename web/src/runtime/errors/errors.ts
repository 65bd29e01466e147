// The error class of this package, and helpers for its messages.

import type { ErrorCode } from "../../generated/border.js";
import { kThisCopy, otherCopyOf } from "./copy.js";
import { hideOwnFrames } from "./own_frames.js";

export type { ErrorCode } from "../../generated/border.js";

/** An error thrown by edgegrad: `code` is for programs, `message` for people. */
export class EdgeGradError extends Error {
  /** Always "EdgeGradError". */
  override readonly name = "EdgeGradError";

  readonly #isOwn = true;

  /** True for an EdgeGradError. Of any other value that a user may throw, no property is read. @internal */
  static isOne(value: unknown): value is EdgeGradError {
    return typeof value === "object" && value !== null && #isOwn in value;
  }

  constructor(
    /** The kind of failure. */
    readonly code: ErrorCode,
    message: string,
    // Not ErrorOptions, which the types of ES2020 do not have.
    options?: { cause?: unknown },
  ) {
    // The constructor of Error throws for a value that cannot be converted to a string.
    super(typeof message === "string" ? message : describe(message), options);
    // Internal errors keep the full stack, which shows maintainers where the package itself fails.
    const title = `EdgeGradError [${String(code)}]: ${this.message}`;
    if (code !== "Internal") hideOwnFrames(this, EdgeGradError, title);
    if (!this.stack?.startsWith(title)) nameCode(this, title);
  }
}

// Makes the stack begin with a title that has the code: structured cloning and Comlink keep no other property of an error. Firefox keeps
// the cause and not the stack.
function nameCode(error: EdgeGradError, title: string): void {
  const { stack = "", message, code } = error;
  const start = stack.indexOf(message);
  const isTitled = message !== "" && start !== -1 && !stack.slice(0, start).includes("\n");
  const rest = isTitled ? stack.slice(start + message.length) : `\n${stack}`;
  Object.defineProperty(error, "stack", {
    value: title + rest,
    writable: true,
    configurable: true,
  });
  if (!isTitled && error.cause === undefined) {
    Object.defineProperty(error, "cause", { value: { code }, writable: true, configurable: true });
  }
}

/** Throws `[where] message`. */
export function fail(code: ErrorCode, where: string, message: string): never {
  throw new EdgeGradError(code, `[${where}] ${message}`);
}

/** Returns a copy of an error whose message starts with `[where]` instead of the name of another function. */
export function renamed(error: EdgeGradError, where: string): EdgeGradError {
  const message = error.message.replace(/^\[[\w.]+\] /, "");
  return new EdgeGradError(error.code, `[${where}] ${message}`);
}

/** Runs the body of a composed function; errors of the functions it calls are reported under `name`. */
export function calledAs<T>(name: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw EdgeGradError.isOne(error) ? renamed(error, name) : error;
  }
}

/** Returns the message about an argument that is not what was expected. */
export function refusal(name: string, expected: string, value: unknown): string {
  if (value !== undefined) return `${name}: expected ${expected}, got ${describe(value)}.`;
  const advice = expected.startsWith("a tensor") ? kIndexAdvice : "";
  return `${name}: expected ${expected}, got nothing.${advice}`;
}

/** The end of a message about undefined where a tensor is expected: in JavaScript, brackets read no element. */
export const kIndexAdvice =
  " Brackets do not index a tensor: x[i] is undefined, x.at(i) the element.";

/** Returns advice, starting with a space, for a module passed where a function is expected; an empty string for other values. */
export function adviceForModules(value: unknown): string {
  const isCallable = typeof (value as { call?: unknown } | null | undefined)?.call === "function";
  return isCallable ? " For a module, pass (...inputs) => module.call(...inputs)." : "";
}

/**
 * Throws InvalidArgument in the name of an object that has the class of a module or optimizer, but not its private members: libraries
 * copy the enumerable properties of objects, or wrap objects in proxies. `instead` is what to use instead.
 */
export function refuseImitation(imitation: object, instead: string): never {
  const where = classNameOf(imitation);
  const message =
    "this is a copy or a proxy of the object, made by a library (as lodash or valtio), which has not all of it";
  fail("InvalidArgument", where, `${message}. Keep the object itself, or use ${instead}.`);
}

/** Returns a short description of a value for an error message, whatever the value is. */
export function describe(value: unknown): string {
  try {
    return described(value);
  } catch {
    // A getter or a proxy trap of the value throws.
    return `${typeof value === "function" ? "a function" : "an object"} that cannot be described`;
  }
}

function described(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return shortened(JSON.stringify(value));
  if (typeof value === "function") return "a function";
  if (typeof value !== "object") return `${typeof value} ${shortened(String(value))}`;
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) {
    return shortened(`[${value.map(String).join(", ")}]`);
  }
  return `an object of class ${classNameOf(value)}${whoseCopy(value)}`;
}

function whoseCopy(value: object): string {
  const other = otherCopyOf(value);
  if (other === undefined) return "";
  return (
    ` of another copy of edgegrad. Two are loaded, ${kThisCopy.name} and ${other.name}: keep one (npm dedupe, or the bundler's ` +
    "resolve.dedupe or resolve.alias)"
  );
}

function classNameOf(value: object): string {
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" ? name : "Object";
}

function shortened(text: string): string {
  return text.length <= kMaxLength ? text : `${text.slice(0, kMaxLength)}...`;
}

const kMaxLength = 80;
