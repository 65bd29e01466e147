// A limit for how many pieces are on their way at once, so that no server has to keep much for a slow receiver.

/** Lets a number of holders in at a time, in the order in which they came. */
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
