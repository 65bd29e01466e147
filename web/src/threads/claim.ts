// A word of shared memory that decides who gets a task after it has been sent: the worker, which then runs it, or the main thread,
// which takes it back because the worker has ended or the call was aborted. The worker's half is in bindings/worker.js.

/** The word, which is sent with the task. */
export type Claim = Int32Array;

const kOpen = 0;
// The worker sets 1.
const kTakenBack = 2;

/** Returns the word of a task that nobody has claimed. */
export function openClaim(): Claim {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Takes a task back, which then never begins; returns false if it has begun. */
export function takeBack(claim: Claim): boolean {
  return Atomics.compareExchange(claim, 0, kOpen, kTakenBack) === kOpen;
}
