// The functions that threads.html runs in engine workers.

import * as eg from "edgegrad";

export function accumulate(w, count) {
  for (let i = 0; i < count; i++) eg.scope(() => w.sum().backward());
  return typeof document;
}

export function fail() {
  throw new RangeError("in the worker");
}
