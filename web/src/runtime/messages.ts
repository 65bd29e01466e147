// What C++ asks of the console: warnings, and where the program is.

import { withoutOwnFrames } from "./own_frames.js";

/** Deep enough for a program's own frames below those of the engine. */
const kStackFrames = 50;

/** Shows a warning of C++'s. */
export function showWarning(message: string): void {
  console.warn(message);
}

/** Returns the calling program's stack, innermost call first, without the engine's own frames. */
export function captureStack(): string {
  // Where there is no such limit, writing it changes nothing.
  const errors = Error as { stackTraceLimit?: number };
  const { stackTraceLimit } = errors;
  errors.stackTraceLimit = kStackFrames;
  const stack = new Error().stack ?? "";
  if (stackTraceLimit !== undefined) errors.stackTraceLimit = stackTraceLimit;
  const frames = stack.split("\n").filter((line) => line !== "" && line !== "Error");
  return withoutOwnFrames(frames).join("\n");
}
