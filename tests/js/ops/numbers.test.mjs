// Numbers combined with tensors: they do not affect the dtype of the result, and lose no digits.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";

const kDouble = { dtype: "float64" };
const kThird = 1 / 3;

function gradientOf(f, ...at) {
  const x = eg.tensor(at, { ...kDouble, requiresGrad: true });
  return eg.autograd.grad(f(x).sum(), [x])[0].dataSync()[0];
}

const isNear = (actual, expected) =>
  assert.ok(Math.abs(actual - expected) <= 4e-16 * Math.abs(expected), `${actual}, ${expected}`);

describe("numbers beside float64", () => {
  test("have gradients in double", () => {
    const x = 0.228;
    isNear(
      gradientOf((t) => t.pow(kThird), x),
      kThird * x ** (kThird - 1),
    );
    isNear(
      gradientOf((t) => eg.pow(kThird, t), x),
      kThird ** x * Math.log(kThird),
    );
    isNear(
      gradientOf((t) => t.lerp(1, 0.1), x),
      1 - 0.1,
    );
    isNear(
      gradientOf((t) => t.atan2(kThird), x),
      kThird / (x * x + kThird * kThird),
    );
    isNear(
      gradientOf((t) => t.hypot(kThird), x),
      x / Math.hypot(x, kThird),
    );
    isNear(
      gradientOf((t) => t.xlogy(kThird), x),
      Math.log(kThird),
    );
    isNear(
      gradientOf((t) => t.div(3), x),
      1 / 3,
    );
    const cube = eg.tensor([x], { dtype: "complex128", requiresGrad: true });
    const [g] = eg.autograd.grad(eg.real(cube.pow(kThird)).sum(), [cube]);
    isNear(g.dataSync()[0], kThird * x ** (kThird - 1));
  });

  test("have second derivatives and tangents in double", () => {
    const x = eg.tensor([0.228], { ...kDouble, requiresGrad: true });
    const [g] = eg.autograd.grad(x.pow(kThird).sum(), [x], { createGraph: true });
    const [h] = eg.autograd.grad(g.sum(), [x]);
    isNear(h.dataSync()[0], kThird * (kThird - 1) * 0.228 ** (kThird - 2));
    const [, tangent] = eg.func.jvp((t) => t.pow(kThird), [x.detach()], [eg.ones([1], kDouble)]);
    isNear(tangent.dataSync()[0], g.dataSync()[0]);
  });

  test("are compared and scaled in double", () => {
    const x = eg.tensor([0.1, 0.2], kDouble);
    assert.deepEqual(x.eq(0.1).arraySync(), [true, false]);
    assert.deepEqual(eg.isin(x, 0.1).arraySync(), [true, false]);
    isNear(eg.ldexp(x, 0.3).dataSync()[0], 0.1 * 2 ** 0.3);
    assert.equal(eg.ldexp(x, 200).dataSync()[0], 0.1 * 2 ** 200);
  });
});

test("a number never widens float32, and a fraction makes integers float32", () => {
  const x = eg.tensor([0.5], { requiresGrad: true });
  const y = x.pow(kThird);
  assert.equal(y.dtype, "float32");
  assert.equal(eg.autograd.grad(y.sum(), [x], { createGraph: true })[0].dtype, "float32");
  assert.equal(eg.tensor([1], { dtype: "int64" }).mul(0.5).dtype, "float32");
  assert.equal(eg.ldexp(eg.tensor([1]), 0.5).dtype, "float32");
  assert.deepEqual(eg.isin(eg.tensor([0.1]), 0.1).arraySync(), [true]);
});

test("whole numbers beside int64 keep their digits", () => {
  const one = eg.tensor([1], { dtype: "int64" });
  for (const n of [2n ** 24n + 1n, 2n ** 53n - 1n, 2n ** 60n + 1n]) {
    const given = n < 2n ** 53n ? Number(n) : n;
    const wide = one.mul(given);
    assert.equal(wide.dtype, "int64");
    assert.equal(wide.dataSync()[0], n);
    assert.equal(one.add(given).dataSync()[0], n + 1n);
    assert.equal(eg.sub(given, one).dataSync()[0], n - 1n);
    assert.equal(eg.maximum(one, given).dataSync()[0], n);
    assert.equal(eg.where(one.gt(0), given, one).dataSync()[0], n);
    assert.deepEqual(wide.eq(given).arraySync(), [true]);
    assert.deepEqual(eg.isin(wide, given).arraySync(), [true]);
    assert.deepEqual(eg.isin(wide.sub(1), given).arraySync(), [false]);
  }
});

test("clamp() needs a limit", () => {
  const x = eg.tensor([0, 1, 2], { requiresGrad: true });
  assert.throws(() => x.clamp(), {
    code: "InvalidArgument",
    message: /expected min, max or both/,
  });
  assert.throws(() => eg.clamp(x, null, null), { code: "InvalidArgument" });
  const [g] = eg.autograd.grad(x.clamp(1, 1).sum(), [x]);
  assert.deepEqual(g.arraySync(), [0, 1, 0]);
});

describe("incomplete gamma functions", () => {
  test("add up to one and differ by a density", () => {
    const a = eg.tensor([0.5, 3, 200], kDouble);
    const x = eg.tensor([0.25, 2.5, 190], { ...kDouble, requiresGrad: true });
    const [lower, upper] = [eg.gammainc(a, x), eg.gammaincc(a, x)];
    for (const sum of lower.add(upper).dataSync()) isNear(sum, 1);
    const [g] = eg.autograd.grad(lower.sum(), [x]);
    const density = x.log().mul(a.sub(1)).sub(x).sub(a.lgamma()).exp().dataSync();
    for (const [i, value] of g.dataSync().entries())
      assert.ok(Math.abs(value / density[i] - 1) < 1e-12);
    assert.equal(eg.igamma, eg.gammainc);
    assert.equal(eg.igammac, eg.gammaincc);
  });

  test("have no derivative by their shape, as backward says", () => {
    const a = eg.tensor([0.5], { requiresGrad: true });
    const y = eg.gammainc(a, 1);
    assert.throws(() => y.backward(), {
      code: "NotDifferentiable",
      message: /gammainc is not differentiable with respect to its input/,
    });
  });
});

test("ndtri() is the inverse of ndtr() in both tails", () => {
  const x = eg.tensor([-30, -8, -1, 0, 0.5, 5], kDouble);
  const back = eg.ndtri(x.ndtr()).dataSync();
  for (const [i, value] of x.dataSync().entries())
    assert.ok(Math.abs(back[i] - value) <= 1e-9 * Math.abs(value));
});
