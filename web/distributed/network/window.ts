// Limits the pieces in flight, so that the server does not have to buffer much for a slow receiver.

/** A semaphore that admits waiters in first-in, first-out order. */
export class Window {
  readonly #waiting: (() => void)[] = [];

  constructor(private free: number) {}

  /** Runs a function when there is room. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.free++;
      else next();
    }
  }
}
