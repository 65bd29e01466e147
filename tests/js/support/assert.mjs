// Assertions on numbers and errors.

import assert from "node:assert/strict";
import { EdgeGradError } from "edgegrad";

/** The tolerances: expected numbers have the significant digits of single precision, or those of doubles. */
const kSingle = 1e-6;
const kDouble = 1e-9;

/**
 * Asserts that two lists of numbers are equal within atol + rtol * |expected|. By default the tolerance is only relative, so a
 * zero must be exactly zero: where terms cancel, a test passes an `atol` for the remaining error.
 */
export function assertClose(actual, expected, { rtol, atol = 0, what = "values" } = {}) {
  rtol ??= actual instanceof Float64Array ? kDouble : kSingle;
  const a = [...actual].map(Number);
  const e = [...expected].map(toNumber);
  assert.equal(a.length, e.length, `${what}: number of elements`);
  const wrong = a.findIndex((value, i) => !isClose(value, e[i], rtol, atol));
  if (wrong >= 0) assert.fail(`${what}[${wrong}]: ${a[wrong]}, expected ${e[wrong]}`);
}

/** Asserts that a tensor has these elements, in row-major order, and optionally a shape. */
export function assertTensor(tensor, expected, { shape, ...tolerance } = {}) {
  if (shape) assert.deepEqual(tensor.shape, shape);
  assertClose(tensor.dataSync(), expected, tolerance);
}

/** Asserts that `fn` throws (or rejects with) an EdgeGradError with this code and a matching message. */
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

// Golden files contain strings for numbers that JSON cannot represent.
function toNumber(value) {
  if (typeof value !== "string") return Number(value);
  return { nan: Number.NaN, inf: Infinity, "-inf": -Infinity }[value];
}

function isClose(a, e, rtol, atol) {
  if (Object.is(a, e) || a === e) return true;
  return Math.abs(a - e) <= atol + rtol * Math.abs(e);
}

/** Asserts that a generated file is up to date; prints only the lines that differ. */
export function assertSameLines(written, wanted) {
  const difference = (from, other) => {
    const known = new Set(other.split("\n"));
    return from.split("\n").filter((line) => !known.has(line));
  };
  assert.deepEqual(
    { surplus: difference(written, wanted), missing: difference(wanted, written) },
    { surplus: [], missing: [] },
  );
  assert.equal(
    written.length,
    wanted.length,
    "the lines are the same, but not their order or number",
  );
}
