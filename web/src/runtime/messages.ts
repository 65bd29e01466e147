// What C++ asks of the console: warnings, and where the program is.

import { holdValue } from "./callbacks.js";
import { framesAbove, withoutOwnFrames } from "./own_frames.js";

/** Deep enough for a program's own frames below those of the engine. */
const kStackFrames = 50;

/** Shows a warning of C++'s; returns 0, or the number under which what the console threw stays here. */
export function showWarning(message: string): number {
  try {
    console.warn(message);
    return 0;
  } catch (error) {
    return holdValue(error);
  }
}

/** Returns the calling program's stack, innermost call first, without the engine's own frames. */
export function captureStack(): string {
  const frames = framesAbove(captureStack, kStackFrames) ?? String(new Error().stack).split("\n");
  return withoutOwnFrames(frames.filter((line) => line !== "")).join("\n");
}
