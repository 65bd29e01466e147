// How tests wait: for an event, a state or a message, never for a time.

import { setTimeout as sleep } from "node:timers/promises";

/** The most that a test waits for anything: only one that fails waits as long, also on a busy machine. */
export const kMost = 120_000; // ms
const kPause = 5; // ms

/**
 * Waits until `look()` returns something truthy, and resolves to that; it may return a promise. If that takes too long, the error says
 * what is `missing`: a text, or a function that returns a text (for example with the present state).
 */
export async function until(missing, look) {
  const end = performance.now() + kMost;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > end) throw late(missing);
    await sleep(kPause);
  }
}

/** Resolves as `promise` does, and rejects if that takes too long; `missing` as in until(). */
export async function soon(missing, promise) {
  const over = new AbortController();
  const limit = sleep(kMost, undefined, { signal: over.signal }).then(
    () => Promise.reject(late(missing)),
    () => undefined, // the promise has settled
  );
  try {
    return await Promise.race([promise, limit]);
  } finally {
    over.abort();
  }
}

function late(missing) {
  const what = typeof missing === "function" ? missing() : missing;
  return new Error(`after ${kMost / 1000} s there is still no ${what}`);
}
