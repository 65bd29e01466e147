// The functions that the stress fuzzer runs on other threads.

import * as eg from "edgegrad";
import { collectGarbageOnce } from "../../js/support/collect_garbage.mjs";
import { Problem } from "../oracle.mjs";
import { Random } from "../random.mjs";
import { kActions } from "./actions.mjs";

/** Runs an action on this thread; resolves to its problem, { kind, message }, or null. */
export async function act(name, seed, { device, shared, weight }) {
  try {
    await kActions[name]({ eg, device, shared, weight }, new Random(seed));
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { kind: error.kind, message: error.message };
  }
}

/** Collects this thread's garbage; calls at the same time go to as many threads as there are for them. */
export function collect() {
  return collectGarbageOnce();
}
