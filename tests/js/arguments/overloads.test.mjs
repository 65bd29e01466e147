// Elementwise ops with special arguments: div with a rounding mode, clamp with tensors, bitwise ops on bool.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";

const kDouble = { dtype: "float64" };
const leaf = (data) => eg.tensor(data, { ...kDouble, requiresGrad: true });
const isCode = (code) => (error) => error instanceof eg.EdgeGradError && error.code === code;

describe("div", () => {
  test("keeps integers where it rounds", () => {
    const x = eg.tensor([7n, -7n]);
    assert.deepEqual(x.div(2, { roundingMode: "floor" }).arraySync(), [3, -4]);
    assert.deepEqual(eg.div(x, 2n, "trunc").arraySync(), [3, -3]);
    assert.equal(x.div(2, { roundingMode: "trunc" }).dtype, "int64");
    assert.equal(x.div(2, { roundingMode: null }).dtype, "float32");
    assert.deepEqual(x.div(2).arraySync(), [3.5, -3.5]);
    assert.throws(() => x.div(0, { roundingMode: "trunc" }), isCode("InvalidArgument"));
    assert.throws(() => x.div(2, { roundingMode: "ceil" }), isCode("InvalidArgument"));
  });

  test("rounds floats and has no slope then", () => {
    const x = leaf([7.5, -7.5]);
    const y = x.div(2, { roundingMode: "trunc" });
    assert.deepEqual(y.arraySync(), [3, -3]);
    y.sum().backward();
    assert.deepEqual(x.grad.arraySync(), [0, 0]);
    assert.deepEqual(eg.tensor([1, -1]).div(0, "trunc").arraySync(), [Infinity, -Infinity]);
  });

  test("writes over its first operand", () => {
    const x = eg.tensor([7n, -7n]);
    assert.equal(x.div_(2, { roundingMode: "floor" }), x);
    assert.deepEqual(x.arraySync(), [3, -4]);
    assert.throws(() => x.div_(2), isCode("DtypeMismatch"));
    assert.deepEqual(eg.tensor([1, 3]).div_(2).arraySync(), [0.5, 1.5]);
  });
});

describe("clamp", () => {
  test("takes tensors and numbers as limits, each with its gradient", () => {
    const [x, min, max] = [leaf([-3, 0, 3]), leaf([-1, -1, -1]), leaf([1])];
    const y = eg.clamp(x, min, max);
    assert.deepEqual(y.arraySync(), [-1, 0, 1]);
    y.mul(eg.tensor([1, 2, 4], kDouble))
      .sum()
      .backward();
    assert.deepEqual(x.grad.arraySync(), [0, 2, 0]);
    assert.deepEqual(min.grad.arraySync(), [1, 0, 0]);
    assert.deepEqual(max.grad.arraySync(), [4]);
    assert.deepEqual(x.clamp({ max }).arraySync(), [-3, 0, 1]);
    assert.deepEqual(x.clamp(null, 2).arraySync(), [-3, 0, 2]);
    assert.deepEqual(x.clamp(-1, max).arraySync(), [-1, 0, 1]);
    assert.equal(eg.tensor([1n, 5n]).clamp(eg.tensor([2.5, 2.5])).dtype, "float32");
  });

  test("writes over its first operand", () => {
    const x = eg.tensor([-3, 0, 3]);
    assert.equal(x.clamp_(eg.tensor([-1, 1, -1]), 2), x);
    assert.deepEqual(x.arraySync(), [-1, 1, 2]);
    assert.deepEqual(x.clamp_({ max: 1 }).arraySync(), [-1, 1, 1]);
  });

  test("clamp_ with a limit that is refused leaves its operand as it was", () => {
    for (const min of [0, eg.tensor([0, 0, 0])]) {
      const x = eg.tensor([-1, 2, 3]);
      assert.throws(() => x.clamp_(min, eg.tensor([1, 2])), isCode("ShapeMismatch"));
      assert.deepEqual(x.arraySync(), [-1, 2, 3]);
      assert.equal(x.version, 0);
    }
  });
});

describe("bits", () => {
  test("of bools are one, of bytes eight", () => {
    assert.deepEqual(eg.tensor([true, false]).bitwiseNot().arraySync(), [false, true]);
    assert.deepEqual(eg.tensor(Uint8Array.of(5)).bitwiseNot().arraySync(), [250]);
    assert.deepEqual(eg.tensor([5n]).bitwiseNot_().arraySync(), [-6]);
    const mask = eg.tensor([true, false]);
    assert.deepEqual(mask.bitwiseNot_().arraySync(), [false, true]);
    assert.deepEqual(mask.bitwiseXor(true).arraySync(), [true, false]);
    assert.equal(eg.tensor([6n]).bitwiseAnd(3).dtype, "int64");
  });

  test("are no business of floats", () => {
    for (const name of ["bitwiseAnd", "bitwiseLeftShift", "gcd"])
      assert.throws(() => eg.tensor([1.5])[name](1), isCode("DtypeMismatch"));
  });
});
