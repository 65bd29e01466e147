// eg.autograd.functional and gradcheck.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { leaf, values } from "../support/graphs.mjs";

const { functional, gradcheck, gradgradcheck, Function: AutogradFunction } = eg.autograd;
const double = (data) => eg.tensor(data, { dtype: "float64" });
const doubleLeaf = (data) => leaf(data, { dtype: "float64" });

describe("functional", () => {
  const f = (x, y) => x.mul(y).add(x.pow(3));
  const [x, y] = [double([1, 2]), double([3, 4])];

  test("jacobian: a block per output and input, in the form they were given", () => {
    // rule: jacobian
    assertTensor(
      functional.jacobian((one) => one.pow(2), x),
      [2, 0, 0, 4],
      { shape: [2, 2] },
    );
    const [byX, byY] = functional.jacobian(f, [x, y]);
    assertTensor(byX, [6, 0, 0, 16]);
    assertTensor(byY, [1, 0, 0, 2]);
    const blocks = functional.jacobian((a) => [a.sum(), a.mul(2)], x);
    assertTensor(blocks[0], [1, 1], { shape: [2] });
    assertTensor(blocks[1], [2, 0, 0, 2], { shape: [2, 2] });
    assert.equal(blocks[0].requiresGrad, false);
    const independent = functional.jacobian(() => double([1, 2]), x);
    assertTensor(independent, [0, 0, 0, 0], { shape: [2, 2] });
  });

  test("hessian of a function with one element", () => {
    // rule: hessian
    assertTensor(
      functional.hessian((one) => one.pow(3).sum(), x),
      [6, 0, 0, 12],
    );
    const blocks = functional.hessian((a, b) => a.mul(b).sum(), [x, y]);
    assertTensor(blocks[0][1], [1, 0, 0, 1]);
    assertTensor(blocks[1][1], [0, 0, 0, 0]);
    assertThrows(
      () => functional.hessian((one) => one, x),
      "InvalidArgument",
      /fn must return one element.*\[2\]/,
    );
    assertThrows(
      () => functional.hessian((one) => [one.sum()], x),
      "InvalidArgument",
      /fn must return a single tensor/,
    );
  });

  test("products agree with the matrices", () => {
    // rule: functional-products
    const v = double([1, -2]);
    const [out, vjp] = functional.vjp(f, [x, y], v);
    const [, jvp] = functional.jvp(f, [x, y], [v, v]);
    assertTensor(out, [4, 16]);
    const [byX, byY] = functional.jacobian(f, [x, y]);
    assertTensor(vjp[0], values(byX.t().mv(v)));
    assertTensor(vjp[1], values(byY.t().mv(v)));
    assertTensor(jvp, values(byX.mv(v).add(byY.mv(v))));
    const g = (one) =>
      one
        .exp()
        .mul(one.flip([0]))
        .sum();
    const expected = values(functional.hessian(g, x).mv(v));
    for (const product of ["vhp", "hvp"]) {
      const [value, result] = functional[product](g, x, v);
      assertTensor(value, values(g(x)));
      assertTensor(result, expected, { atol: 1e-9 });
    }
  });

  test("results are part of a graph with createGraph only", () => {
    // rule: functional-create-graph
    const one = doubleLeaf([2]);
    const [, product] = functional.vjp((a) => a.pow(3), one, null, { createGraph: true });
    assertTensor(eg.autograd.grad(product, one)[0], [12]);
    assert.equal(functional.vjp((a) => a.pow(3), one)[1].requiresGrad, false);
    const jacobian = functional.jacobian((a) => a.pow(3), one, { createGraph: true });
    assertTensor(eg.autograd.grad(jacobian.sum(), one)[0], [12]);
  });

  test("createGraph asks nothing of inputs that require no gradient", () => {
    const plain = double([2]);
    const cube = (a) => a.pow(3).sum();
    const options = { createGraph: true };
    assertTensor(functional.jacobian(cube, plain, options), [12]);
    assertTensor(functional.hessian(cube, plain, options), [12]);
    assertTensor(functional.vjp(cube, plain, null, options)[1], [12]);
    assertTensor(functional.jvp(cube, plain, double([1]), options)[1], [12]);
    assertTensor(functional.vhp(cube, plain, double([1]), options)[1], [12]);
    assertTensor(functional.hvp(cube, plain, double([1]), options)[1], [12]);
    assert.equal(plain.requiresGrad, false);
  });

  test("a vector must have the right form", () => {
    // rule: functional-vector
    const square = (a) => a.mul(a);
    assertThrows(
      () => functional.vjp(square, x),
      "InvalidArgument",
      /v: .*null only if fn returns a single tensor/,
    );
    assertThrows(
      () => functional.jvp(square, x),
      "InvalidArgument",
      /v: .*null only if fn has a single input/,
    );
    assertThrows(
      () => functional.vjp(square, x, double([1])),
      "ShapeMismatch",
      /v: .*\[2\], got \[1\]/,
    );
    assertThrows(
      () => functional.vjp((a) => [a, a], x, [x]),
      "InvalidArgument",
      /v: expected 2 tensors, got 1/,
    );
    assertThrows(
      () => functional.jvp(square, "x"),
      "InvalidArgument",
      /\[jvp\] the inputs must be.*got "x"/,
    );
  });

  test("strict mode refuses what depends on nothing", () => {
    // rule: functional-strict
    const strict = { strict: true };
    assertThrows(
      () => functional.jacobian(() => double([1]), x, strict),
      "NoGradPath",
      /output 0 of fn does not require a gradient.*strict: true/,
    );
    assertThrows(
      () => functional.vjp((a) => a.sum(), [x, y], null, strict),
      "NoGradPath",
      /does not depend on input 1.*strict: true/,
    );
    assertThrows(
      () => functional.hessian((a) => a.sum(), x, strict),
      "NoGradPath",
      /the Jacobian of fn for input 0 does not depend.*strict: true/,
    );
  });
});

describe("gradcheck", () => {
  test("accepts right gradients, of several inputs and outputs", () => {
    // rule: gradcheck-accepts
    const [a, b] = [doubleLeaf([[1, 2]]), doubleLeaf([[3], [4]])];
    assert.equal(
      gradcheck((x) => x.mul(x), doubleLeaf([1, -2])),
      true,
    );
    assert.equal(
      gradcheck((x, y) => [x.matmul(y), x.sum().mul(y)], [a, b]),
      true,
    );
    assert.equal(
      gradcheck((x, _k) => x.sin(), [a, eg.ones([2])]),
      true,
    );
    assert.equal(
      gradcheck((x) => x.sum(), doubleLeaf(5)),
      true,
    );
    assert.deepEqual(values(a), [1, 2]);
  });

  test("reports a wrong backward", () => {
    // rule: gradcheck-finds
    const functionOf = (backward) =>
      class F extends AutogradFunction {
        static forward(ctx, x) {
          ctx.saveForBackward(x);
          return x.mul(2);
        }
        static backward(ctx, grad) {
          return backward(grad, ctx);
        }
      };
    const x = doubleLeaf([1, 2]);
    const check = (backward, options = {}) =>
      gradcheck((a) => functionOf(backward).apply(a), x, options);
    assertThrows(
      () => check((grad) => grad.mul(3)),
      "InvalidGradient",
      /output 0 with respect to input 0 differ:\nnumerical:tensor[\s\S]*analytical:tensor/,
    );
    assert.equal(
      check((grad) => grad.mul(3), { raiseException: false }),
      false,
    );
    assert.throws(
      () => check((grad) => grad.mul(2).add(0.5), { atol: 1 }),
      /backward ignores the output gradient/,
    );
    let calls = 0;
    assert.throws(() => check((grad) => grad.mul(2 + 1e-9 * calls++)), /not deterministic/);
    class NeedsGradient extends AutogradFunction {
      static forward(ctx, one) {
        ctx.setMaterializeGrads(false);
        return one.mul(2);
      }
      static backward(_ctx, grad) {
        return grad.mul(2);
      }
    }
    assert.throws(
      () => gradcheck((a) => NeedsGradient.apply(a), x),
      /output without a gradient \(null\)/,
    );
    assert.throws(() => check(() => eg.ones([3, 3], { dtype: "float64" })), /gradient.*\[3, ?3\]/);
  });

  test("wants inputs that it can work with", (t) => {
    // rule: gradcheck-inputs
    assertThrows(
      () => gradcheck((x) => x, eg.ones([1])),
      "InvalidArgument",
      /no input requires a gradient.*requiresGrad/,
    );
    assertThrows(
      () => gradcheck((x) => x.sum(), doubleLeaf([1]).expand([3])),
      "InvalidArgument",
      /has a dimension with stride 0/,
    );
    const { mock } = t.mock.method(console, "warn", () => {});
    gradcheck((x) => x.mul(1), leaf([1]), { eps: 0.1, atol: 0.1 });
    assert.match(mock.calls[0].arguments[0], /input 0 of gradcheck is float32.*float64/);
  });

  test("of functions without gradients: the numbers must say zero", () => {
    assert.equal(
      gradcheck((x) => x.detach().mul(0), doubleLeaf([1])),
      true,
    );
    assert.throws(
      () => gradcheck((x) => x.detach(), doubleLeaf([1])),
      /output 0.*numerical gradient is not zero/,
    );
  });

  test("gradgradcheck goes one order further", () => {
    // rule: gradgradcheck
    class Cube extends AutogradFunction {
      static forward(ctx, x) {
        ctx.saveForBackward(x);
        return x.pow(3);
      }
      static backward(ctx, grad) {
        const [x] = ctx.savedTensors;
        return grad.mul(x.pow(2)).mul(3);
      }
    }
    class Detached extends Cube {
      static backward(ctx, grad) {
        const [x] = ctx.savedTensors;
        return grad.mul(x.detach().pow(2)).mul(3);
      }
    }
    const x = doubleLeaf([1, 2]);
    assert.equal(
      gradgradcheck((a) => Cube.apply(a), x),
      true,
    );
    assert.equal(
      gradcheck((a) => Detached.apply(a), x),
      true,
    );
    const check = (options) => gradgradcheck((a) => Detached.apply(a), x, options);
    assertThrows(() => check({}), "InvalidGradient", /numerical:tensor[\s\S]*analytical:tensor/);
    assert.equal(check({ raiseException: false }), false);
    assert.equal(
      gradgradcheck((a) => Cube.apply(a), x, { gradOutputs: doubleLeaf([1, -1]) }),
      true,
    );
  });
});
