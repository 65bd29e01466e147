// Waiting that an AbortSignal can end.

/** Resolves after some milliseconds, or as soon as the signal is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}

/** A reusable wake-up signal: wake() ends the current wait, or the next one if nobody is waiting. */
export class WakeSignal {
  #rung = false;
  #ring = () => {};

  /** Ends the current or the next wait. */
  wake(): void {
    this.#rung = true;
    this.#ring();
  }

  /** Resolves when woken, after some milliseconds, or when the signal is aborted. */
  async wait(ms: number, signal?: AbortSignal): Promise<void> {
    if (!this.#rung) {
      const stop = new AbortController();
      const abort = () => stop.abort();
      signal?.addEventListener("abort", abort);
      this.#ring = abort;
      if (signal?.aborted) abort();
      await sleep(ms, stop.signal);
      signal?.removeEventListener("abort", abort);
      this.#ring = () => {};
    }
    this.#rung = false;
  }
}
