// Errors that come from elsewhere without their class and code.

import { EdgeGradError, type ErrorCode } from "./errors.js";

/** A stack begins with the code (errors.ts). */
const kTitle = /^EdgeGradError \[([A-Z]\w*)\]: /;

/**
 * Returns an EdgeGradError with its code again, of an error that structured cloning or Comlink has sent from a worker or another page;
 * any other value is returned unchanged. `worker.onmessage = ({ data }) => { throw eg.errorFrom(data.error); }`.
 */
export function errorFrom<T>(value: T): T | EdgeGradError {
  if (EdgeGradError.isOne(value) || typeof value !== "object" || value === null) return value;
  const { name, message, stack, code, cause } = value as Partial<EdgeGradError>;
  const ofCause = (cause as { code?: unknown } | undefined)?.code;
  const named = name === "EdgeGradError" ? code : undefined;
  const found = named ?? kTitle.exec(String(stack))?.[1] ?? ofCause;
  if (typeof found !== "string" || !/^\[[\w.]+\] /.test(String(message))) return value;
  const given = cause === undefined || ofCause !== undefined ? undefined : { cause };
  const error = new EdgeGradError(found as ErrorCode, String(message), given);
  if (typeof stack === "string") error.stack = stack;
  return error;
}
