// Letting the event loop run now and then: the garbage collector's finalizers, timers, a page's
// drawing and Ctrl-C all wait for it.

/** Time between two visits. */
const kInterval = 10;

/** Returns to the event loop when the last visit was long enough ago. */
export class EventLoopVisits {
  #last = performance.now();

  /** Waits for a turn of the event loop if one is due. */
  async whenDue(): Promise<void> {
    if (performance.now() - this.#last < kInterval) return;
    await nextTask();
    this.#last = performance.now();
  }
}

function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    // Timers of pages wait 4 ms at least; a message does not.
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
