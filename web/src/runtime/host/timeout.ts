// Timeouts for answers that arrive through the event loop. While this thread computes, no answer can arrive, and afterwards timers
// that are overdue go off before messages that have waited as long. So such time does not count.

import { unref } from "../threads/keep_alive.js";
import { kTimers } from "./host.js";

/** A timeout consists of periods of this length. A period that ends late, because this thread was busy, counts as one. */
const kPeriod = 1000; // ms

/** The timers of a host. */
export type Timers = Pick<typeof globalThis, "setTimeout" | "clearTimeout">;

/**
 * Calls `then` after a time in which the event loop has run; returns a function that cancels this. Does not keep a process of Node
 * alive. A script of its own, which is evaluated later than the package, passes the timers that the package has taken.
 */
export function startTimeout(
  time: number,
  then: () => void,
  { setTimeout, clearTimeout }: Timers = kTimers,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (left: number) => {
    if (left <= 0) {
      then();
      return;
    }
    const period = Math.min(left, kPeriod);
    timer = setTimeout(() => wait(left - period), period);
    unref(timer);
  };
  wait(time);
  return () => clearTimeout(timer);
}
