// AbortSignals for tests.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";

/** Reasons of a signal: any value will do. */
export const kReasons = [null, 0, "no more", Symbol("reason"), new TypeError("changed my mind")];

/** Asserts that a promise rejects with exactly this value. */
export async function assertRejectsWith(promise, reason) {
  let value;
  const hasRejected = await promise.then(
    (result) => {
      value = result;
      return false;
    },
    (error) => {
      value = error;
      return true;
    },
  );
  assert.deepEqual([hasRejected, value], [true, reason]);
}

/** Asserts that nothing listens to a signal any more. */
export function assertNoListeners(signal) {
  assert.equal(getEventListeners(signal, "abort").length, 0);
}

/** What the package uses of a signal, made by code that knows no AbortSignal, as in another realm. */
export class ForeignSignal {
  aborted = false;
  reason = undefined;
  listeners = new Set();

  addEventListener(_, listener) {
    this.listeners.add(listener);
  }

  removeEventListener(_, listener) {
    this.listeners.delete(listener);
  }

  abort(reason) {
    Object.assign(this, { aborted: true, reason });
    for (const listener of this.listeners) listener();
  }
}
