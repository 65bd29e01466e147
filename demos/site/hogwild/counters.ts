// Counters that all workers share: the number of steps, and whether to stop.

export type Counters = Int32Array<ArrayBufferLike>;

const kTaken = 0;
const kStopped = 1;

/** Creates the counters, in shared memory if it is available. */
export function makeCounters(): Counters {
  const Buffer = globalThis.SharedArrayBuffer ?? ArrayBuffer;
  return new Int32Array(new Buffer(8));
}

/** Claims one of `total` steps; returns false if none is left, or all workers should stop. */
export function takeStep(counters: Counters, total: number): boolean {
  return Atomics.load(counters, kStopped) === 0 && Atomics.add(counters, kTaken, 1) < total;
}

export function stepsTaken(counters: Counters, total: number): number {
  return Math.min(total, Atomics.load(counters, kTaken));
}

export function stopSteps(counters: Counters): void {
  Atomics.store(counters, kStopped, 1);
}
