// What a hook knows about the backward calls that are running: several may be at once, also over one graph.

import { checked, native } from "../runtime/bridge.js";
import { Droppable, holdValue } from "../runtime/callbacks.js";

/** Something of each backward call, by the call's number; it goes with the call, also with one that fails. */
export class PerCall<T> {
  readonly #calls = new Map<number, T>();

  /** Returns what is known about the call that is running now, if anything is. */
  get(): T | undefined {
    return this.#calls.get(native.graphTaskId());
  }

  /** Remembers something about the call that is running now. */
  set(known: T): void {
    const call = native.graphTaskId();
    if (!this.#calls.has(call)) {
      checked(native.keepWithCall(holdValue(new CallEntry(this.#calls, call))));
    }
    this.#calls.set(call, known);
  }
}

// Held by a backward call; its end takes the entry out.
class CallEntry extends Droppable {
  constructor(
    private readonly calls: Map<number, unknown>,
    private readonly call: number,
  ) {
    super();
  }

  override onDrop(): void {
    this.calls.delete(this.call);
  }
}
