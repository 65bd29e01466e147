// What C++ needs from JavaScript for its messages: the console for warnings, and the program's stack.

import { holdValue } from "../bridge/callbacks.js";
import { type Frame, framesAbove, linesOf, withoutOwnFrames } from "./own_frames.js";

/** Enough to reach the program's own frames below those of the engine. */
const kStackFrames = 50;

/** Shows a warning from C++. Returns 0 or, if the console threw, the number of the held error. */
export function showWarning(message: string): number {
  try {
    console.warn(message);
    return 0;
  } catch (error) {
    return holdValue(error);
  }
}

/** Returns the calling program's stack, innermost call first, without the engine's own frames; "" if that cannot be read. */
export function captureStack(): string {
  try {
    const frames = framesAbove(captureStack, kStackFrames) ?? framesIn(String(new Error().stack));
    return linesOf(withoutOwnFrames(frames)).join("\n");
  } catch {
    // A program may have replaced what reads stacks.
    return "";
  }
}

function framesIn(stack: string): Frame[] {
  const lines = stack.split("\n").filter((line) => line !== "");
  return lines.map((line) => ({ line, ran: line }));
}
