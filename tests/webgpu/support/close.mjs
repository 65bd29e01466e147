// Compares the results of kernels with the expected ones.

import assert from "node:assert/strict";

/** Asserts that every number is within a relative and an absolute error. */
export function assertClose(
  actual,
  expected,
  { relative = 2e-5, absolute = 1e-6, title = "" } = {},
) {
  assert.equal(actual.length, expected.length, title);
  const wrong = actual.findIndex((value, i) => {
    const right = expected[i];
    if (Object.is(value, right) || value === right) return false;
    return !(Math.abs(value - right) <= absolute + relative * Math.abs(right));
  });
  assert.equal(wrong, -1, `${title} [${wrong}]: ${actual[wrong]}, not ${expected[wrong]}`);
}

/** Pseudo-random numbers between -1 and 1, the same in every run. */
export function randoms(count, seed = 1) {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.fround(state / 2 ** 31 - 1);
  });
}

export const range = (count, value = (i) => i) => Array.from({ length: count }, (_, i) => value(i));
