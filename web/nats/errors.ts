// The errors of this add-on, which are those of the package.

import { EdgeGradError, type ErrorCode } from "edgegrad";

/** Throws `[where] message`. */
export function fail(code: ErrorCode, where: string, message: string): never {
  throw new EdgeGradError(code, `[${where}] ${message}`);
}

/** Throws InvalidArgument for an option that is not what was expected. */
export function refuse(where: string, option: string, expected: string, got: unknown): never {
  return fail("InvalidArgument", where, `${option}: expected ${expected}, got ${shown(got)}.`);
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  if (typeof value === "function") return "a function";
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "an array" : "an object";
  return String(value);
}
