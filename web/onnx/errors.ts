// The errors of this add-on, which are those of the package.

import { EdgeGradError, type ErrorCode } from "edgegrad";

/** The most characters of a message: files choose the names in it. */
const kMostCharacters = 10_000;

/** Throws `[where] message`. */
export function fail(code: ErrorCode, where: string, message: string): never {
  const isLong = message.length > kMostCharacters;
  const text = isLong ? `${message.slice(0, kMostCharacters)}... (cut)` : message;
  throw new EdgeGradError(code, `[${where}] ${text}`);
}

/** Throws for a mode that an op does not have. */
export function unknownMode(name: string, mode: string): never {
  return fail("InvalidArgument", "OnnxModule", `the ${name} "${mode}" is not one of ONNX's.`);
}

/** Returns what a message says of a value that is of the wrong kind. */
export function described(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 60));
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "an array" : `an object of class ${value.constructor?.name}`;
}
