// Errors that cross from one thread to another. They are serialized as text because C++ carries them.

import { describe, EdgeGradError, type ErrorCode } from "./errors.js";

interface Description {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly code?: string | undefined;
}

/** Serializes an error, or whatever else was thrown; never throws. */
export function describeError(error: unknown): string {
  return JSON.stringify(descriptionOf(error));
}

function descriptionOf(error: unknown): Description {
  try {
    if (error instanceof Error) {
      const { name, message, stack, code } = error as Error & { code?: unknown };
      return {
        name: textOf(name),
        message: textOf(message),
        stack: typeof stack === "string" ? stack : undefined,
        code: typeof code === "string" ? code : undefined,
      };
    }
    if (typeof error !== "object") return { name: "Error", message: String(error) };
  } catch {
    // A getter or a proxy trap of the value throws.
  }
  return { name: "Error", message: describe(error) };
}

// Error classes of the user may store any value in these properties.
function textOf(value: unknown): string {
  return typeof value === "object" || typeof value === "function" ? describe(value) : String(value);
}

/** Recreates an error from the text that describeError() returned. */
export function fromDescription(text: string): Error {
  const { name, message, stack, code } = JSON.parse(text) as Description;
  const error =
    name === "EdgeGradError"
      ? new EdgeGradError(code as ErrorCode, message)
      : Object.assign(new Error(message), { name });
  if (stack !== undefined) error.stack = stack;
  return error;
}
