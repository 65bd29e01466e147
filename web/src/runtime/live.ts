// Work of JavaScript that a captured function does anew each time it is called: what depends on numbers that
// JavaScript knows, as a learning rate is.

import { checked, native } from "./bridge.js";
import { holdValue, type WordFunction } from "./callbacks.js";

let capturing = false;

/** Returns what a captured function finds otherwise than when it was captured, for a message, or null. */
export type Guard = () => string | null;

let guards: Guard[] = [];

/** Has a captured function look, each time before it is called, whether it still can do what it did. */
export function addGuard(guard: Guard): void {
  guards.push(guard);
}

/** Returns the guards that were added since the last call. */
export function takeGuards(): readonly Guard[] {
  const taken = guards;
  guards = [];
  return taken;
}

/** True while this thread writes a function down (autograd/capture.ts). */
export function isCapturing(): boolean {
  return capturing;
}

/** Says that writing down begins or ends. */
export function setCapturing(value: boolean): void {
  capturing = value;
}

// A function as C++ holds it.
class LiveWork {
  readonly name = "live";
  readonly fn: WordFunction;

  constructor(work: () => void) {
    this.fn = () => {
      // Not while it is written down either: what it calls does not run live once more.
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

/** Calls `work` now and, while a function is being captured, whenever that is called. */
export function runLive(work: () => void): void {
  if (capturing) checked(native.runLive(holdValue(new LiveWork(work))));
  else work();
}
