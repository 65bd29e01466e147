// The errors of add-ons, which are those of the package.

import { EdgeGradError, type ErrorCode } from "edgegrad";

/** The limit on the length of a message: the names in it may come from files. */
const kMostCharacters = 10_000;

/** The limit on the length of a value in a message. */
const kMostOfValue = 60;

/** Throws `[where] message`. */
export function fail(code: ErrorCode, where: string, message: string): never {
  const isLong = message.length > kMostCharacters;
  const text = isLong ? `${message.slice(0, kMostCharacters)}... (cut)` : message;
  throw new EdgeGradError(code, `[${where}] ${text}`);
}

/** Throws InvalidArgument for an argument that is not what was expected. */
export function refuse(where: string, name: string, expected: string, got: unknown): never {
  return fail("InvalidArgument", where, `${name}: expected ${expected}, got ${describe(got)}.`);
}

/** Describes a value for a message. */
export function describe(value: unknown): string {
  if (typeof value === "function") return "a function";
  if (typeof value === "string") return cut(JSON.stringify(value));
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.length > kMostOfValue ? "an array" : cut(jsonOf(value));
  const name = value.constructor?.name ?? "Object";
  return name === "Object" ? cut(jsonOf(value)) : `an object of class ${name}`;
}

function jsonOf(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    // It contains a bigint or itself.
    return Array.isArray(value) ? "an array" : "an object";
  }
}

function cut(text: string): string {
  return text.length > kMostOfValue ? `${text.slice(0, kMostOfValue - 3)}...` : text;
}
