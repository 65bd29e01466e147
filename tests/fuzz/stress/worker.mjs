// The functions that the stress fuzzer runs on other threads.

import * as eg from "edgegrad";
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

/** Collects this thread's garbage, and stays busy long enough that each of several concurrent calls goes to a different thread. */
export async function collect() {
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 20));
}
