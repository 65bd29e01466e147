// JavaScript work that a captured function repeats each time it is called because it depends on numbers that are held in
// JavaScript, such as a learning rate.

import { checked, native } from "./bridge.js";
import { type FrameCallback, holdValue } from "./callbacks.js";

let capturing = false;

/** Returns a description of what has changed since a function was captured, for an error message, or null. */
export type Guard = () => string | null;

let guards: Guard[] = [];

/** Adds a check that runs before each call of the captured function: it reports whether the recording is still valid. */
export function addGuard(guard: Guard): void {
  guards.push(guard);
}

/** Returns the guards that were added since the last call. */
export function takeGuards(): readonly Guard[] {
  const taken = guards;
  guards = [];
  return taken;
}

/** True while this thread records a function (autograd/capture.ts). */
export function isCapturing(): boolean {
  return capturing;
}

/** Sets whether this thread is recording a function. */
export function setCapturing(value: boolean): void {
  capturing = value;
}

// The function in the form in which C++ holds it.
class LiveWork {
  readonly name = "live";
  readonly fn: FrameCallback;

  constructor(work: () => void) {
    this.fn = () => {
      // Also cleared during the recording itself, so that nested calls of runLive() run directly.
      const outer = capturing;
      capturing = false;
      try {
        work();
      } finally {
        capturing = outer;
      }
      return [];
    };
  }
}

/** Calls `work` now and, if a function is being captured, again on every call of the captured function. */
export function runLive(work: () => void): void {
  if (capturing) checked(native.runLive(holdValue(new LiveWork(work))));
  else work();
}
