// Time that passes when a test says so: what a program does after seconds is tested at once, and on a slow machine, too.

/** Timers that wait at least this long follow the clock; shorter ones are a matter of the event loop. */
const kLong = 1000; // ms

/** Holds back the long timers that this thread starts from now on. */
export class Clock {
  #now = 0;
  #held = new Set();

  constructor() {
    const { setTimeout: start, clearTimeout: stop } = globalThis;
    globalThis.setTimeout = (fn, ms, ...args) => {
      if (!(ms >= kLong)) return start(fn, ms, ...args);
      const timer = { end: this.#now + ms, run: () => fn(...args), ref() {}, unref() {} };
      this.#held.add(timer);
      return timer;
    };
    globalThis.clearTimeout = (timer) => {
      if (!this.#held.delete(timer)) stop(timer);
    };
  }

  /** In how many milliseconds the long timers go off. */
  get waiting() {
    return Array.from(this.#held, ({ end }) => end - this.#now);
  }

  /** Lets time pass in which this thread computes: timers that are overdue then go off once, before any event is handled. */
  block(ms) {
    this.#now += ms;
    const overdue = [...this.#held].filter(({ end }) => end <= this.#now);
    for (const timer of overdue.sort((a, b) => a.end - b.end)) {
      if (this.#held.delete(timer)) timer.run();
    }
  }

  /** Lets time pass: long timers go off in their order. */
  advance(ms) {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#held].sort((a, b) => a.end - b.end);
      if (next === undefined || next.end > end) break;
      this.#held.delete(next);
      this.#now = next.end;
      next.run();
    }
    this.#now = end;
  }
}
