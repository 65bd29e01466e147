// What a process of the benchmark does: it opens a model, calls it, and prints the figures as JSON.

import { median } from "../clock.mjs";

const kWarmUp = 3;

/** The results that processes compare: some numbers of the first output. */
const kKept = 200;

/** Measures `open()`, and calls of the function that it resolves to, which returns numbers; prints the medians and the most memory. */
export async function measure(open, count) {
  const begin = performance.now();
  const call = await open();
  const load = performance.now() - begin;
  const times = [];
  let numbers = [];
  for (let i = 0; i < kWarmUp + count; i++) {
    const start = performance.now();
    numbers = await call();
    if (i >= kWarmUp) times.push(performance.now() - start);
  }
  const step = Math.max(1, Math.floor(numbers.length / kKept));
  const kept = Array.from(numbers).filter((_, i) => i % step === 0);
  // In kilobytes.
  const megabytes = process.resourceUsage().maxRSS / 1024;
  console.log(JSON.stringify({ load, call: median(times), megabytes, numbers: kept }));
  process.exit(0);
}
