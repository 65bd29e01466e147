// Every op in half precision equals the op in float32 with the result rounded: for its first sample, and for gradients.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";
import { callOp, functionOf, opTable, samplesOf } from "../support/op_samples.mjs";

const kEps = { float16: 2 ** -10, bfloat16: 2 ** -7 };

// The results of these do not depend on the values of their operands, or are complex32.
const kUnset = new Set(["empty", "emptyLike", "viewAsComplex", "complex"]);
// These draw numbers with all digits of the dtype, or all of its numbers.
const kOtherDigits = new Set(["rand", "randLike", "random_", "uniform_"]);
// Its scales are float32.
const kOtherDTypes = new Set(["quantize"]);

const numbersOf = (tensor) => [...tensor.detach().dataSync()].map(Number);
const isFloat = (value) => value instanceof eg.Tensor && value.isFloatingPoint();

describe("an op of half precision is the rounded op of float32", () => {
  for (const op of opTable.filter(({ kind, js }) => kind !== "internal" && !kUnset.has(js)))
    for (const dtype of ["float16", "bfloat16"])
      test(`${op.js} ${dtype}`, () => eg.scope(() => check(op, dtype)));
});

const isOperand = ({ type }) => type === "operand" || type === "operand?";

// In PyTorch too, these multiply and divide by the number itself.
const kExact = new Set(["mul", "div", "floorDivide", "lerp"]);

describe("numbers and 0-dim tensors beside half precision are rounded to it", () => {
  const takesOperands = ({ kind, args, isOfIntegers }) =>
    kind === "elementwise" && !isOfIntegers && args.filter(isOperand).length > 1;
  for (const op of opTable.filter(takesOperands))
    for (const dtype of ["float16", "bfloat16"])
      test(`${op.js} ${dtype}`, () => eg.scope(() => checkNumbers(op, dtype)));
});

function checkNumbers(op, dtype) {
  const count = op.args.filter(isOperand).length;
  const isMask = ({ name }) => name === "condition" || name === "mask";
  // Neighbors of the number, so that a comparison would tell it from its rounded value.
  const number = 0.3;
  const near = eg.tensor([0.2, number, 0.4, 0.9], { dtype });
  const exact = kExact.has(op.js);
  for (let position = 1; position < count; position++) {
    if (isMask(op.args[position])) continue;
    const call = (x, value) => {
      const operands = Array.from({ length: count }, (_, i) => {
        if (isMask(op.args[i])) return eg.tensor([true, false, true, false]);
        return i === position ? value : x;
      });
      return functionOf(op.js)(...operands);
    };
    const isLast = position === count - 1;
    const rounded = eg.tensor(number, { dtype }).float();
    const kept = exact && isLast ? eg.tensor(number) : rounded;
    const expected = call(near.float(), kept);
    const spellings = [number, eg.tensor(number), eg.tensor(number, { dtype: "float64" })];
    for (const spelling of spellings) {
      const found = call(near, spelling);
      assert.equal(found.dtype, expected.dtype === "bool" ? "bool" : dtype);
      assert.deepEqual(numbersOf(found), numbersOf(expected.to(found.dtype)));
    }
  }
}

test("limits, replacements and integers beside half precision are those of its dtype", () => {
  for (const dtype of ["float16", "bfloat16"]) {
    for (const number of [0.1, 0.2, 0.3, 0.7]) {
      const x = eg.tensor([number], { dtype }).requiresGrad_();
      assert.equal(x.hardshrink(number).item(), 0);
      assert.equal(x.clone().hardshrink_(number).item(), 0);
      x.hardshrink(number).sum().backward();
      assert.equal(x.grad.item(), 0);
      assert.deepEqual(numbersOf(eg.isin(x, number)), [1]);
      assert.deepEqual(numbersOf(x.detach().eq_(number)), [1]);
    }
    const { max } = eg.finfo(dtype);
    const wild = eg.tensor([Infinity, -Infinity, Number.NaN], { dtype });
    assert.deepEqual(numbersOf(wild.nanToNum()), [max, -max, 0]);
    assert.deepEqual(numbersOf(wild.clone().nanToNum_({ posinf: 2 })), [2, -max, 0]);
    // 2^11 + 1 and 2^8 + 1 are not numbers of these dtypes.
    const odd = dtype === "float16" ? 2049 : 257;
    const x = eg.tensor([odd - 1], { dtype });
    assert.deepEqual(numbersOf(x.eq(eg.tensor([odd], { dtype: "int64" }))), [1]);
    assert.deepEqual(numbersOf(x.lt(1e6)), [1]);
  }
});

test("what is written in place beside half precision keeps its memory and its gradient", () => {
  const x = eg.tensor([1, 2], { dtype: "float16" });
  const scale = eg.tensor(0.3, { requiresGrad: true });
  const y = x.clone();
  assert.equal(y.add_(scale), y);
  y.sum().backward();
  assert.equal(scale.grad.dtype, "float32");
  assert.equal(scale.grad.item(), 2);
  const counts = eg.tensor([1, 2], { dtype: "int64" });
  assert.throws(() => counts.add_(eg.tensor(0.5, { dtype: "float16" })), { code: "DtypeMismatch" });
  assert.deepEqual(numbersOf(counts), [1, 2]);
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
