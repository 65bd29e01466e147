// Yielding to the event loop regularly: finalizers of the garbage collector, timers, the drawing of a page
// and Ctrl-C all need it to run.

import { now } from "../runtime/host/host.js";
import { nextTask } from "../runtime/host/next_task.js";

/** The time between two visits, in milliseconds. */
const kInterval = 10;

/** Yields to the event loop if the last visit was long enough ago. */
export class EventLoopVisits {
  #last = now();

  /** Yields to the event loop if a visit is due. */
  async whenDue(): Promise<void> {
    if (now() - this.#last < kInterval) return;
    await nextTask();
    this.#last = now();
  }
}
