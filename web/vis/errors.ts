// The errors of this add-on, which are those of the package.

import { EdgeGradError, type ErrorCode } from "edgegrad";

/** Throws `[where] message`. */
export function fail(code: ErrorCode, where: string, message: string): never {
  throw new EdgeGradError(code, `[${where}] ${message}`);
}

/** Throws InvalidArgument for an argument that is not what was expected. */
export function refuse(where: string, name: string, expected: string, got: unknown): never {
  return fail("InvalidArgument", where, `${name}: expected ${expected}, got ${shown(got)}.`);
}

/** Returns what a message calls a value. */
export function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  const kind = Array.isArray(value) ? "Array" : (value.constructor?.name ?? "object");
  return kind === "Object" ? "an object" : `an object of type ${kind}`;
}
