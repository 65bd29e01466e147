// Timing of a piece of work.

/**
 * Runs `work` repeatedly for at least `wanted` ms and resolves to the time of its fastest run in ms, the one least
 * disturbed by other processes.
 */
export async function bestTime(work, wanted) {
  let best = Number.POSITIVE_INFINITY;
  const start = performance.now();
  let now = start;
  do {
    const before = now;
    const result = work();
    if (result?.then) await result;
    now = performance.now();
    best = Math.min(best, now - before);
  } while (now - start < wanted);
  return best;
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Lets timers, finalizers and other tasks of the event loop run. */
export function nextTask() {
  return new Promise((resolve) => setImmediate(resolve));
}
