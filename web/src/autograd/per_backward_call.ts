// State that a hook stores per backward call. Several calls may run at the same time, even on the same graph.

import { checked, native } from "../runtime/bridge/bridge.js";
import { Droppable, holdValue } from "../runtime/bridge/callbacks.js";

/** A value for each backward call, by the call's number. It is removed when the call ends, even if it fails. */
export class PerBackwardCall<T> {
  readonly #calls = new Map<number, T>();

  /** Returns the value for the running call, or undefined. */
  get(): T | undefined {
    return this.#calls.get(native.graphTaskId());
  }

  /** Sets the value for the running call. */
  set(known: T): void {
    const call = native.graphTaskId();
    if (!this.#calls.has(call)) {
      checked(native.keepWithCall(holdValue(new CallEntry(this.#calls, call))));
    }
    this.#calls.set(call, known);
  }
}

// Held by a backward call, whose end removes the entry.
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
