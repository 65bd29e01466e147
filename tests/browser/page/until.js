// How pages wait for a state: those that fail say what is missing, before the test gives them up.

const kMost = 90_000; // ms
const kPause = 5; // ms

/** Waits until `look()` returns something truthy, and resolves to that; it may return a promise. `missing` says what that is. */
export async function until(missing, look) {
  const end = performance.now() + kMost;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > end)
      throw new Error(`after ${kMost / 1000} s there is still no ${missing}`);
    await new Promise((resolve) => setTimeout(resolve, kPause)); // timer: looks again
  }
}
