// Every op in half precision equals the op in float32 with the result rounded: for its first sample, and for gradients.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";
import { callOp, opTable, samplesOf } from "../support/op_samples.mjs";

const kEps = { float16: 2 ** -10, bfloat16: 2 ** -7 };

// The results of these do not depend on the values of their operands.
const kUnset = new Set(["empty", "emptyLike"]);
// These draw numbers with all digits of the dtype, or all of its numbers.
const kOtherDigits = new Set(["rand", "randLike", "random_"]);
// Its scales are float32.
const kOtherDTypes = new Set(["quantize"]);

const numbersOf = (tensor) => [...tensor.detach().dataSync()].map(Number);
const isFloat = (value) => value instanceof eg.Tensor && value.isFloatingPoint();

describe("an op of half precision is the rounded op of float32", () => {
  for (const op of opTable.filter(({ kind, js }) => kind !== "internal" && !kUnset.has(js)))
    for (const dtype of ["float16", "bfloat16"])
      test(`${op.js} ${dtype}`, () => eg.scope(() => check(op, dtype)));
});

function check(op, dtype) {
  const [sample] = samplesOf(op);
  const args = sample?.make("float32");
  if (!args?.flat().some(isFloat)) return;
  const convert = (to) => (value) => {
    if (Array.isArray(value)) return value.map(convert(to));
    if (!isFloat(value)) return value;
    return value.detach().to(dtype).to(to).requiresGrad_(value.requiresGrad);
  };
  const halves = args.map(convert(dtype));
  const singles = args.map(convert("float32"));
  const found = callOp(op, halves);
  const expected = callOp(op, singles);
  assert.equal(found.length, expected.length);
  found.forEach((result, i) => {
    const wanted = expected[i];
    assert.deepEqual(result.shape, wanted.shape);
    const isRounded = wanted.dtype === "float32" && !kOtherDTypes.has(op.js);
    assert.equal(result.dtype, isRounded ? dtype : wanted.dtype);
    if (!kOtherDTypes.has(op.js) && !kOtherDigits.has(op.js))
      assertRounded(result, wanted, dtype, 1, "result");
  });
  if (!op.hasGradientOfItsOwn) checkGradients(halves, found, singles, expected, dtype);
}

function checkGradients(halves, found, singles, expected, dtype) {
  const leavesOf = (args) => args.flat().filter((arg) => isFloat(arg) && arg.requiresGrad);
  const leaves = leavesOf(halves);
  const wanted = leavesOf(singles);
  found.forEach((result, i) => {
    if (!isFloat(result) || !result.requiresGrad) return;
    const options = { allowUnused: true, retainGraph: true };
    const own = eg.autograd.grad(result, leaves, {
      ...options,
      gradOutputs: [eg.onesLike(result)],
    });
    const other = eg.autograd.grad(expected[i], wanted, {
      ...options,
      gradOutputs: [eg.onesLike(expected[i])],
    });
    own.forEach((gradient, k) => {
      assert.equal(gradient === null, other[k] === null);
      if (gradient === null) return;
      assert.equal(gradient.dtype, dtype);
      // Saved tensors are rounded, and a gradient may be a sum over several paths.
      assertRounded(gradient, other[k], dtype, 8, "gradient");
    });
  });
}

// Within this many rounding steps of the largest number: sums lose digits of their terms.
function assertRounded(found, expected, dtype, steps, what) {
  const a = numbersOf(found);
  const e = numbersOf(expected);
  const largest = Math.max(...e.filter(Number.isFinite).map(Math.abs), 0);
  a.forEach((value, i) => {
    if (Object.is(value, e[i]) || value === e[i]) return;
    const size = what === "gradient" ? Math.max(Math.abs(e[i]), largest) : Math.abs(e[i]);
    const allowed = steps * Math.max(size * kEps[dtype], 2 ** -24);
    assert.ok(Math.abs(value - e[i]) <= allowed, `${what}[${i}]: ${value}, expected ${e[i]}`);
  });
}
