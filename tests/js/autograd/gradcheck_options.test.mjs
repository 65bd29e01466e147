// The options of gradcheck and gradgradcheck.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { leaf } from "../support/graphs.mjs";

const { gradcheck, gradgradcheck, Function: AutogradFunction } = eg.autograd;
const { unpackDual } = eg.autograd.forwardAd;
const doubleLeaf = (data) => leaf(data, { dtype: "float64" });
const complexLeaf = (...parts) =>
  eg.viewAsComplex(eg.tensor(parts, { dtype: "float64" })).requiresGrad_();

/** Returns a function whose derivatives are those of 2x, multiplied by what is wrong with them. */
function doubled({ backward = 1, jvp = 1, noise = () => 0 } = {}) {
  class Doubled extends AutogradFunction {
    static forward(_ctx, x) {
      return x.mul(2);
    }
    static backward(_ctx, grad) {
      return grad.mul(2 * backward).add(grad.mul(noise()));
    }
    static jvp(_ctx, dx) {
      return dx.mul(2 * jvp);
    }
  }
  return (x) => Doubled.apply(x);
}

const kRight = [
  ["a product", (x, y) => x.mul(y).sin(), () => [doubleLeaf([1, 2]), doubleLeaf([3, 4])]],
  ["several outputs", (x) => [x.exp().sum(), x.mul(2)], () => [doubleLeaf([[0.1], [0.2]])]],
  [
    "complex numbers",
    (x, y) => x.mul(y).exp(),
    () => [complexLeaf([0.1, 0.2], [0.3, -0.4]), doubleLeaf([0.5, 1])],
  ],
  ["a Function with a jvp", doubled(), () => [doubleLeaf([1, 2, 3])]],
  ["a constant", (x, n) => x.mul(n).add(eg.ones([2])), () => [doubleLeaf([1, 2]), 3]],
];

describe("gradcheck", () => {
  for (const [name, fn, inputs] of kRight) {
    for (const options of [
      { checkForwardAd: true },
      { checkForwardAd: true, checkBackwardAd: false },
      { fastMode: true },
      { fastMode: true, checkForwardAd: true },
      { checkBatchedGrad: true, checkGradDtypes: true, checkUndefinedGrad: false },
    ]) {
      test(`accepts ${name} with ${JSON.stringify(options)}`, () => {
        assert.equal(gradcheck(fn, inputs(), options), true);
      });
    }
  }

  test("finds a wrong jvp, and only with checkForwardAd", () => {
    const fn = doubled({ jvp: 1.5 });
    const x = doubleLeaf([1, 2]);
    assert.equal(gradcheck(fn, x), true);
    assertThrows(
      () => gradcheck(fn, x, { checkForwardAd: true }),
      "InvalidGradient",
      /the derivatives in forward mode of output 0 with respect to input 0 differ/,
    );
    assertThrows(
      () => gradcheck(fn, x, { checkForwardAd: true, fastMode: true }),
      "InvalidGradient",
      /fast mode: the derivatives in forward mode of output 0 with respect to input 0/,
    );
    const quiet = { checkForwardAd: true, raiseException: false };
    assert.equal(gradcheck(fn, x, quiet), false);
  });

  test("finds a wrong backward in fast mode, and not with checkBackwardAd: false", () => {
    const fn = doubled({ backward: 1.5 });
    const x = doubleLeaf([1, 2]);
    assertThrows(() => gradcheck(fn, x, { fastMode: true }), "InvalidGradient", /fast mode/);
    assert.equal(gradcheck(fn, x, { checkForwardAd: true, checkBackwardAd: false }), true);
  });

  test("allows a difference of nondetTol between two backward calls", () => {
    // rule: gradcheck-finds
    for (const fastMode of [false, true]) {
      let calls = 0;
      const fn = doubled({ noise: () => (calls++ % 2) * 1e-8 });
      const x = doubleLeaf([1]);
      assertThrows(() => gradcheck(fn, x, { fastMode }), "InvalidGradient", /not deterministic/);
      assert.equal(gradcheck(fn, x, { fastMode, nondetTol: 1e-6 }), true);
    }
  });

  test("refuses results whose shapes depend on the values", () => {
    const fn = (x) => x.at(x.gt(1));
    for (const fastMode of [false, true]) {
      assertThrows(
        () => gradcheck(fn, doubleLeaf([1]), { fastMode }),
        "ShapeMismatch",
        /the shapes of the results must not depend on the values/,
      );
    }
  });

  test("does not check missing gradients with checkUndefinedGrad: false", () => {
    // rule: gradcheck-finds
    class NeedsGradient extends AutogradFunction {
      static forward(ctx, x) {
        ctx.setMaterializeGrads(false);
        return x.mul(2);
      }
      static backward(_ctx, grad) {
        return grad.mul(2);
      }
    }
    const fn = (x) => NeedsGradient.apply(x);
    const x = doubleLeaf([1]);
    assertThrows(
      () => gradcheck(fn, x),
      "InvalidGradient",
      /failed for an output without a gradient/,
    );
    assert.equal(gradcheck(fn, x, { checkUndefinedGrad: false }), true);
  });

  test("checks missing tangents", () => {
    class Sum extends AutogradFunction {
      static forward(ctx, x, y) {
        ctx.setMaterializeGrads(false);
        return x.add(y);
      }
      static backward(_ctx, grad) {
        return [grad, grad];
      }
      static jvp(_ctx, dx, dy) {
        return dx === null || dy === null ? null : dx.add(dy);
      }
    }
    const fn = (x, y) => Sum.apply(x, y);
    const inputs = [doubleLeaf([1]), doubleLeaf([2])];
    const forward = { checkForwardAd: true, checkBackwardAd: false };
    assertThrows(() => gradcheck(fn, inputs, forward), "InvalidGradient", /tangent of output 0/);
    assert.equal(gradcheck(fn, inputs, { ...forward, checkUndefinedGrad: false }), true);
  });

  test("refuses options that contradict each other", () => {
    const call = (options) => () => gradcheck((x) => x.exp(), doubleLeaf([1]), options);
    assertThrows(
      call({ checkBackwardAd: false }),
      "InvalidArgument",
      /checkForwardAd or checkBackwardAd/,
    );
    assertThrows(
      call({ checkBackwardAd: false, checkForwardAd: true, checkBatchedGrad: true }),
      "InvalidArgument",
      /checkBatchedGrad needs checkBackwardAd/,
    );
  });
});

describe("gradgradcheck", () => {
  const fn = (x, y) => x.mul(y).exp();
  const inputs = () => [doubleLeaf([0.1, 0.2]), doubleLeaf([0.3, 0.4])];

  test("checks tangents of gradients, in fast mode and with strided gradients of the outputs", () => {
    for (const options of [
      { checkFwdOverRev: true },
      { checkFwdOverRev: true, checkRevOverRev: false },
      { fastMode: true, checkFwdOverRev: true },
      { genNonContigGradOutputs: true },
      { checkBatchedGrad: true, nondetTol: 1e-9, checkGradDtypes: true },
    ]) {
      assert.equal(gradgradcheck(fn, inputs(), options), true);
    }
  });

  test("passes gradients that are not contiguous", () => {
    const strides = [];
    class Noting extends AutogradFunction {
      static forward(_ctx, x) {
        return x.clone();
      }
      static backward(_ctx, grad) {
        strides.push(grad.strides);
        return grad.mul(1);
      }
    }
    gradgradcheck((x) => Noting.apply(x), doubleLeaf([1, 2]), { genNonContigGradOutputs: true });
    assert.ok(strides.some(([stride]) => stride === 2));
  });

  test("finds a wrong second derivative in fast mode", () => {
    class Cube extends AutogradFunction {
      static forward(ctx, x) {
        ctx.saveForBackward(x);
        return x.mul(x).mul(x);
      }
      static backward(ctx, grad) {
        const [x] = ctx.savedTensors;
        return grad.mul(x.detach()).mul(x).mul(3);
      }
    }
    const wrong = (x) => Cube.apply(x);
    assert.equal(gradcheck(wrong, doubleLeaf([1, 2]), { fastMode: true }), true);
    assertThrows(
      () => gradgradcheck(wrong, doubleLeaf([1, 2]), { fastMode: true }),
      "InvalidGradient",
      /fast mode/,
    );
  });
});

describe("what gradcheck does to its inputs", () => {
  test("it takes changes back, also for views that were made before", () => {
    const base = doubleLeaf([1, 2, 3]);
    const view = eg.noGrad(() => base.narrow(0, 0, 2));
    const saved = base.mul(base);
    const { version } = base;
    for (const fastMode of [false, true]) {
      assert.equal(
        gradcheck((x) => x.mul(view.isLeaf ? 2 : 3), base, { fastMode }),
        true,
      );
    }
    assert.equal(base.version, version);
    assert.equal(view.gradFn, null);
    saved.sum().backward();
  });

  test("inputs in forward mode require no gradient", () => {
    const seen = [];
    const isDual = (x) => {
      try {
        return unpackDual(x).tangent !== null;
      } catch {
        return false;
      }
    };
    class Noting extends AutogradFunction {
      static forward(_ctx, x) {
        return x.mul(2);
      }
      static backward(_ctx, grad) {
        return grad.mul(2);
      }
      static jvp(_ctx, tangent) {
        return tangent.mul(2);
      }
    }
    const noting = (x) => {
      if (isDual(x)) seen.push(x.requiresGrad);
      return Noting.apply(x);
    };
    gradcheck(noting, doubleLeaf([1]), { checkForwardAd: true, fastMode: true });
    assert.deepEqual(seen, [false]);
  });

  test("a wrong gradient is found before a wrong tangent", () => {
    class Wrong extends AutogradFunction {
      static forward(_ctx, x) {
        return x.mul(2);
      }
      static backward(_ctx, grad) {
        return grad.mul(3);
      }
      static jvp(_ctx, tangent) {
        return tangent.mul(4);
      }
    }
    const check = () => gradcheck((x) => Wrong.apply(x), doubleLeaf([1]), { checkForwardAd: true });
    assertThrows(check, "InvalidGradient", /analytical/);
  });

  test("results whose dtype depends on values are refused", () => {
    const changing = (x) => (Number(x.item()) >= 1 ? x.float() : x);
    assertThrows(
      () => gradcheck(changing, doubleLeaf([1])),
      "DtypeMismatch",
      /dtypes of the results/,
    );
  });
});
