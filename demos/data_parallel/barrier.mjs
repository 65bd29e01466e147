// A barrier, at which threads wait until all have arrived.

const kWaiting = 0;
const kRound = 1;
// Spins this many times before sleeping: the others are rarely far behind, and waking up takes longer than spinning.
const kLooks = 20_000;

/** Makes a barrier for `count` threads; it can be sent to them. */
export function makeBarrier(count) {
  return { count, words: new Int32Array(new SharedArrayBuffer(8)) };
}

/** Returns when all threads have called this. */
export function meet({ count, words }) {
  const round = Atomics.load(words, kRound);
  if (Atomics.add(words, kWaiting, 1) === count - 1) {
    Atomics.store(words, kWaiting, 0);
    Atomics.add(words, kRound, 1);
    Atomics.notify(words, kRound);
    return;
  }
  for (let look = 0; look < kLooks; look++) if (Atomics.load(words, kRound) !== round) return;
  while (Atomics.load(words, kRound) === round) Atomics.wait(words, kRound, round);
}
