// Errors that cross from one thread to another: as text, since C++ carries them.

import { describe, EdgeGradError, type ErrorCode } from "./errors.js";

interface Description {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: string | undefined;
}

/** Returns an error, or whatever else was thrown, as text. */
export function describeError(error: unknown): string {
  const description: Description =
    error instanceof Error
      ? { name: error.name, message: error.message, stack: error.stack, code: codeOf(error) }
      : { name: "Error", message: typeof error === "object" ? describe(error) : String(error) };
  return JSON.stringify(description);
}

/** Returns an error like the one that was described. */
export function fromDescription(text: string): Error {
  const { name, message, stack, code } = JSON.parse(text) as Description;
  const error =
    name === "EdgeGradError"
      ? new EdgeGradError(code as ErrorCode, message)
      : Object.assign(new Error(message), { name });
  if (stack !== undefined) error.stack = stack;
  return error;
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}
