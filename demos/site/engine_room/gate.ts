// Synchronizes threads that start at the same moment, and one that waits for the others.

const kArrived = 0;
const kOpen = 1;
const kDone = 2;
// After this time in milliseconds the waiting thread continues, because other threads may need it to run their JavaScript.
const kLongest = 2000;

/** Three numbers in shared memory. */
export type Gate = Int32Array<SharedArrayBuffer>;

export function makeGate(): Gate {
  return new Int32Array(new SharedArrayBuffer(12));
}

/** In a worker: waits until the gate opens, and calls `work`. */
export function passGate(gate: Gate, work: () => void): void {
  Atomics.add(gate, kArrived, 1);
  // Spins rather than sleeps: waking up would take longer than a small backward.
  while (Atomics.load(gate, kOpen) === 0);
  try {
    work();
  } finally {
    Atomics.add(gate, kDone, 1);
    Atomics.notify(gate, kDone);
  }
}

/** Resolves when `count` workers wait at the gate. */
export async function untilArrived(gate: Gate, count: number): Promise<void> {
  while (Atomics.load(gate, kArrived) < count) await new Promise((turn) => setTimeout(turn, 5));
}

export function openGate(gate: Gate): void {
  Atomics.store(gate, kOpen, 1);
}

/** Blocks until `count` workers have finished. */
export function waitUntilDone(gate: Gate, count: number): void {
  const end = performance.now() + kLongest;
  for (let done = Atomics.load(gate, kDone); done < count; done = Atomics.load(gate, kDone)) {
    if (performance.now() > end) return;
    Atomics.wait(gate, kDone, done, kLongest);
  }
}
