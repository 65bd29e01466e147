// The most memory that a call takes.

import { eg } from "./engine.mjs";

/** Returns the bytes that a synchronous function needs at most on the CPU, besides those that were there before. */
export function peakOf(fn) {
  // The peak is that of the whole process: a tensor as large as the rest makes what follows raise it.
  const { cpuPeakBytes, cpuBytes } = eg.memory();
  const room = eg.zeros([Math.max(cpuPeakBytes - cpuBytes, 1)], { dtype: "uint8" });
  const before = eg.memory().cpuPeakBytes;
  try {
    fn();
    return eg.memory().cpuPeakBytes - before;
  } finally {
    room.dispose();
  }
}
