// Work of JavaScript that a captured function does anew each time it is called: what depends on numbers that
// JavaScript knows, as a learning rate is.

import { checked, native } from "./bridge.js";
import { Droppable, holdValue, type WordFunction } from "./callbacks.js";

let capturing = false;

/** True while this thread writes a function down (autograd/capture.ts). */
export function isCapturing(): boolean {
  return capturing;
}

/** Says that writing down begins or ends. */
export function setCapturing(value: boolean): void {
  capturing = value;
}

// A function as C++ holds it.
class LiveWork extends Droppable {
  readonly name = "live";
  readonly fn: WordFunction;

  constructor(
    work: () => void,
    override readonly onDrop: () => void,
  ) {
    super();
    this.fn = () => {
      work();
      return [];
    };
  }
}

/** Calls `work` now and whenever what is being captured is called; `onDrop` when it never will be again. */
export function runLive(work: () => void, onDrop: () => void): void {
  checked(native.runLive(holdValue(new LiveWork(work, onDrop))));
}
