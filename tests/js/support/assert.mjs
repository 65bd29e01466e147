// Assertions on numbers and errors.

import assert from "node:assert/strict";
import { EdgeGradError } from "edgegrad";

/** Expected numbers have the digits that matter in single precision, or all of them for doubles. */
const kSingle = 1e-6;
const kDouble = 1e-9;

/**
 * Asserts that two lists of numbers are equal within atol + rtol * |expected|. Small numbers count as large ones do, and a zero
 * is a zero: where terms cancel, a test gives the `atol` that is left of them.
 */
export function assertClose(actual, expected, { rtol, atol = 0, what = "values" } = {}) {
  rtol ??= actual instanceof Float64Array ? kDouble : kSingle;
  const a = [...actual].map(Number);
  const e = [...expected].map(toNumber);
  assert.equal(a.length, e.length, `${what}: number of elements`);
  const wrong = a.findIndex((value, i) => !isClose(value, e[i], rtol, atol));
  if (wrong >= 0) assert.fail(`${what}[${wrong}]: ${a[wrong]}, expected ${e[wrong]}`);
}

/** Asserts that a tensor has the elements, in row-major order, and if given the shape. */
export function assertTensor(tensor, expected, { shape, ...tolerance } = {}) {
  if (shape) assert.deepEqual(tensor.shape, shape);
  assertClose(tensor.dataSync(), expected, tolerance);
}

/** Asserts that `fn` throws (or rejects with) an EdgeGradError with this code and a matching text. */
export function assertThrows(fn, code, text = /./) {
  assert.throws(fn, (error) => isError(error, code, text));
}

/** Like assertThrows, for a promise. */
export function assertRejects(promise, code, text = /./) {
  return assert.rejects(promise, (error) => isError(error, code, text));
}

function isError(error, code, text) {
  assert.ok(error instanceof EdgeGradError, `expected an EdgeGradError, got ${error}`);
  assert.ok(error instanceof Error);
  assert.equal(error.code, code, error.message);
  assert.match(error.message, text);
  return true;
}

// Golden files spell what JSON cannot.
function toNumber(value) {
  if (typeof value !== "string") return Number(value);
  return { nan: Number.NaN, inf: Infinity, "-inf": -Infinity }[value];
}

function isClose(a, e, rtol, atol) {
  if (Object.is(a, e) || a === e) return true;
  return Math.abs(a - e) <= atol + rtol * Math.abs(e);
}
