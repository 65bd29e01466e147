// The functions of complex numbers. Shaders have only float32; their results must match the CPU, which computes in double.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { describe as describeOp, functionOf } from "./support/cpu_ops.mjs";
import { formulas } from "./support/formula_shader.mjs";
import { elementwise } from "./support/kernel_fields.mjs";
import { kLargest } from "./support/operands.mjs";
import { options, playing } from "./support/playing.mjs";

// Zeros, tiny and huge numbers, the branch points and their neighbors, the points where exponentials overflow, and infinity.
const kMagnitudes = [
  0,
  1e-30,
  1e-10,
  1e-3,
  0.3,
  0.5,
  0.99999994,
  1,
  1.0000001,
  2,
  3.7,
  10,
  21,
  85,
  88,
  1e4,
  1e10,
  1e20,
  3e38,
  Infinity,
].map(Math.fround);
const kParts = kMagnitudes.flatMap((x) => [x, -x]);
const isFiniteNumber = (z) => z.every(Number.isFinite);
const kNumbers = kParts
  .flatMap((re) => kParts.map((im) => [re, im]))
  .filter((z) => z.some(Number.isFinite));
const kNoNumbers = kParts.filter(Number.isFinite).flatMap((x) => [
  [NaN, x],
  [x, NaN],
]);

/** Combines every number with different ones as the other operands. */
function columnsOf(numbers, operands) {
  return Array.from({ length: operands }, (_, k) =>
    numbers.map((_, i) => numbers[(i * [1, 7, 13][k] + 5 * k) % numbers.length]),
  );
}

const isComplex = (dtype) => dtype.startsWith("complex");

async function bothOf(name, columns) {
  const { op, isMask } = describeOp(name, columns.length);
  const count = columns[0].length;
  const tensors = columns.map((numbers, k) =>
    isMask[k]
      ? eg.tensor(numbers.map(([re]) => re > 0))
      : eg.tensor(Float32Array.from(numbers.flat()), { shape: [count, 2] }).viewAsComplex(),
  );
  const right = functionOf(name, op)(...tensors);
  const p = playing();
  const views = tensors.map((tensor, k) =>
    p.view(tensor.dtype, isMask[k] ? tensor.dataSync() : columns[k].flat()),
  );
  const out = p.empty(right.dtype, count);
  const formula = { op: name, constants: [1, 1, 1], compute: "complex128" };
  p.kernel(
    "elementwise",
    elementwise(
      { ...formula, result: right.dtype, shape: [count] },
      [out, ...views].map((view) => [view, [1]]),
    ),
  );
  const width = isComplex(right.dtype) ? 2 : 1;
  const found = await p.read({ ...out, count: width * count });
  const numbersOf = (array) =>
    Array.from({ length: count }, (_, i) =>
      Array.from(array.slice(width * i, width * (i + 1)), Number),
    );
  return { found: numbersOf(found), right: numbersOf(right.dataSync()) };
}

const largest = (z) => Math.max(...z.map(Math.abs).filter(Number.isFinite));
const minus = (a, b) => [a[0] - b[0], a[1] - b[1]];
// The parts of a product may be too large for float32, while the CPU computes in double.
const isTooLarge = (a, b) => Math.max(largest(a), 1) * largest(b) > kLargest / 4;

// The logarithm of base ** exponent.
function logOfPower([re, im], exponent) {
  const [x, y] = [Math.log(Math.hypot(re, im)), Math.atan2(im, re)];
  return [exponent[0] * x - exponent[1] * y, exponent[0] * y + exponent[1] * x];
}

// The error that is allowed in addition to the usual one, and the operands that are not tested.
const kExceptions = {
  // The exponential in the sine of a large imaginary part has the error of its exponent.
  sinc: {
    error: (z, size) => 3e-6 * largest(z) * size + 2e-7,
    exceptFor: (z) => !isFiniteNumber(z) || largest(z) > 25,
  },
  // A small difference of numbers of this size.
  tanhshrink: { error: (z) => 2e-7 * largest(z), exceptFor: (z) => !isFiniteNumber(z) },
  mul: { exceptFor: isTooLarge },
  square: { exceptFor: (z) => isTooLarge(z, z) },
  addcmul: { error: (x) => 1e-6 * largest(x), exceptFor: (_, a, b) => isTooLarge(a, b) },
  addcdiv: { error: (x) => 1e-6 * largest(x) },
  lerp: {
    error: (a, b) => 1e-6 * Math.max(largest(a), largest(b)),
    exceptFor: (a, b, weight) => isTooLarge(weight, minus(b, a)),
  },
  // An angle of many turns is rounded before it is reduced; the CPU multiplies infinities by zero.
  exp2: {
    error: ([, im], size) => 1e-7 * Math.abs(im) * size,
    exceptFor: (z) => !isFiniteNumber(z),
  },
  // An exponential has the absolute error of its logarithm, and the range of float32 is small.
  pow: {
    error: (a, b, size) => 4e-7 * Math.hypot(...logOfPower(a, b)) * size,
    exceptFor(a, b) {
      const [re, im] = logOfPower(a, b);
      return !(Math.abs(re) < 80 && Math.abs(im) < 1e6);
    },
  },
  // sigmoid(z) is denormal before it is multiplied.
  silu: { exceptFor: ([re]) => re < -80 },
  // Not tested: an infinite angle has no sine and cosine, so parts of the result are undefined.
  tan: { exceptFor: ([re]) => !Number.isFinite(re) },
  tanh: { exceptFor: ([, im]) => !Number.isFinite(im) },
};

// A few units in the last place of float32. The error is relative to the magnitude of the number, not to each part.
const kUsual = 1e-6;

const limited = (x) => Math.max(-kLargest, Math.min(kLargest, x));

function isClose(found, right, operands, { error = () => 0 }) {
  const size = limited(Math.hypot(...right.filter((part) => !Number.isNaN(part))));
  // A denormal number may be flushed to zero.
  const tolerance = kUsual * size + error(...operands, size) + 5e-38;
  return right.every((part, i) => {
    // For zero times infinity the CPU returns NaN, where the shader may return 0.
    if (Number.isNaN(part)) return Number.isNaN(found[i]) || found[i] === 0;
    return Math.abs(limited(found[i]) - limited(part)) <= tolerance;
  });
}

function differences(name, columns, { found, right }) {
  const exception = kExceptions[name] ?? {};
  return right.flatMap((expected, i) => {
    const operands = columns.map((numbers) => numbers[i]);
    // With several operands that include zeros and infinities, NaN may arise at different steps.
    const isAsked = operands.length === 1 || operands.every(isFiniteNumber);
    if (!isAsked || exception.exceptFor?.(...operands)) return [];
    if (isClose(found[i], expected, operands, exception)) return [];
    return [`${operands.map((z) => `(${z})`)}: ${found[i]}, not ${expected}`];
  });
}

const names = Object.keys(formulas).filter((name) => formulas[name].forms[0].forward.complex64);

describe("a function of complex numbers is that of the CPU:", options, () => {
  for (const name of names) {
    test(name, async () => {
      const { operands, isBool } = formulas[name];
      const columns = columnsOf(kNumbers, operands);
      const wrong = differences(name, columns, await bothOf(name, columns));
      assert.deepEqual(wrong.slice(0, 5), [], `${wrong.length} wrong`);
      const others = columnsOf(kNoNumbers, operands);
      const { found, right } = await bothOf(name, others);
      const haveNaN = (results) => results.map((parts) => parts.some(Number.isNaN));
      if (isBool) assert.deepEqual(found, right);
      else assert.deepEqual(haveNaN(found), haveNaN(right), "which results are NaN");
    });
  }
});
