// Yielding to the event loop regularly: finalizers of the garbage collector, timers, the drawing of a page
// and Ctrl-C all need it to run.

/** The time between two visits, in milliseconds. */
const kInterval = 10;

/** Yields to the event loop if the last visit was long enough ago. */
export class EventLoopVisits {
  #last = performance.now();

  /** Yields to the event loop if a visit is due. */
  async whenDue(): Promise<void> {
    if (performance.now() - this.#last < kInterval) return;
    await nextTask();
    this.#last = performance.now();
  }
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    // Browsers delay nested timers by at least 4 ms; messages have no such delay.
    if (typeof setImmediate === "function") setImmediate(resolve);
    else if (typeof MessageChannel === "function") postToSelf(resolve);
    else setTimeout(resolve, 0);
  });
}

function postToSelf(resolve: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(null);
}
