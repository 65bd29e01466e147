// Numbers that all workers share: how many steps were taken, and whether to stop.

export type Counters = Int32Array<ArrayBufferLike>;

const kTaken = 0;
const kStopped = 1;

/** In shared memory where there is any. */
export function makeCounters(): Counters {
  const Buffer = globalThis.SharedArrayBuffer ?? ArrayBuffer;
  return new Int32Array(new Buffer(8));
}

/** Takes one of `total` steps; false when none is left, or all were told to stop. */
export function takeStep(counters: Counters, total: number): boolean {
  return Atomics.load(counters, kStopped) === 0 && Atomics.add(counters, kTaken, 1) < total;
}

export function stepsTaken(counters: Counters, total: number): number {
  return Math.min(total, Atomics.load(counters, kTaken));
}

export function stopSteps(counters: Counters): void {
  Atomics.store(counters, kStopped, 1);
}
