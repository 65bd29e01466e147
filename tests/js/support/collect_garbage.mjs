// Collecting garbage and waiting for finalizers.

import { gc } from "../../../scripts/testing/garbage_collector.mjs";
import { soon, until } from "../../support/until.mjs";

/** What a finalizer frees may have been all that kept something else alive, and finalizers run in no particular order. */
const kRounds = 3;

const registry = new FinalizationRegistry((finalized) => finalized());

// A function of its own, because the object must not be reachable from the stack during the collection.
function finalizationOfGarbage() {
  return new Promise((resolve) => registry.register({}, resolve));
}

/** Collects garbage and lets finalizers run, though some of them may run after this. */
export async function collectGarbageOnce() {
  const finalized = finalizationOfGarbage();
  gc();
  await soon("finalizer of an object that is garbage", finalized);
}

/** Collects garbage and lets all finalizers run. */
export async function collectGarbage() {
  for (let round = 0; round < kRounds; round++) await collectGarbageOnce();
}

/** Collects garbage until `look()` returns something truthy: other threads release what they hold when they come to it. As until(). */
export function untilCollected(missing, look) {
  return until(missing, async () => {
    await collectGarbage();
    return look();
  });
}
