// Time that passes when a test says so: what a program does after seconds is tested at once, and on a slow machine, too. It must be
// imported before edgegrad, which takes the timers of that moment.

/** Timers that wait at least this long follow the clock; shorter ones are a matter of the event loop. */
const kLong = 1000; // ms

const { setTimeout: start, clearTimeout: stop } = globalThis; // timer: they are replaced
let clock = null;
globalThis.setTimeout = (fn, ms, ...args) => {
  if (clock === null || !(ms >= kLong)) return start(fn, ms, ...args);
  return clock.hold(() => fn(...args), ms);
};
globalThis.clearTimeout = (timer) => {
  if (!clock?.drop(timer)) stop(timer);
};

const { performance } = globalThis;
const { now } = performance;
let readClock = now;
performance.now = () => readClock.call(performance);

/** Makes `read` the clock that the engine reads until a test ends. */
export function holdClock(test, read) {
  readClock = read;
  test.after(() => {
    readClock = now;
  });
}

/** Runs `code` while the clock that the engine reads is `read`. */
export function withClock(read, code) {
  readClock = read;
  try {
    return code();
  } finally {
    readClock = now;
  }
}

/** Holds back the long timers that this thread starts from now on. */
export class Clock {
  #now = 0;
  #held = new Set();

  constructor() {
    clock = this;
  }

  /** Starts a timer that follows this clock. */
  hold(run, ms) {
    const timer = { end: this.#now + ms, run, ref() {}, unref() {} };
    this.#held.add(timer);
    return timer;
  }

  /** Stops a timer; false if it is none of this clock. */
  drop(timer) {
    return this.#held.delete(timer);
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
