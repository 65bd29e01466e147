// The errors of this add-on, which are those of the package.

import { EdgeGradError, type ErrorCode } from "edgegrad";

/** The limit on the length of a message: the names in it come from files. */
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

/** Describes a value of the wrong type for a message. */
export function described(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 60));
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "an array" : `an object of class ${value.constructor?.name}`;
}
