// Forward mode through autograd.Function: its static method jvp.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf } from "../support/graphs.mjs";

const { Function: AutogradFunction, grad } = eg.autograd;
const { dualLevel, makeDual, unpackDual } = eg.autograd.forwardAd;
const double = (data) => eg.tensor(data, { dtype: "float64" });
const tangentOf = (tensor) => unpackDual(tensor).tangent;

/** Returns a Function with the given forward and jvp, whose backward passes gradients through. */
function functionOf(forward, jvp) {
  return class F extends AutogradFunction {
    static forward(...given) {
      return forward(...given);
    }
    static backward(_ctx, ...grads) {
      return grads;
    }
    static jvp(...given) {
      return jvp(...given);
    }
  };
}

class ScaledProduct extends AutogradFunction {
  static forward(ctx, x, y, z) {
    ctx.saveForBackward(x, y);
    ctx.saveForForward(x, y);
    ctx.z = z;
    return x.mul(y).mul(z);
  }
  static backward(ctx, grad) {
    const [x, y] = ctx.savedTensors;
    return [grad.mul(y).mul(ctx.z), grad.mul(x).mul(ctx.z), null];
  }
  static jvp(ctx, dx, dy, dz) {
    assert.equal(dz, null);
    const [x, y] = ctx.savedTensors;
    return dx.mul(y).add(dy.mul(x)).mul(ctx.z);
  }
}

describe("jvp of a Function", () => {
  test("computes tangents beside gradients, with what was saved for it", () => {
    // rule: function-jvp
    const [a, b] = [leaf([1], { dtype: "float64" }), leaf([2], { dtype: "float64" })];
    dualLevel(() => {
      const out = ScaledProduct.apply(makeDual(a, double([1])), b, 4);
      assertTensor(tangentOf(out), [8]);
      const both = ScaledProduct.apply(makeDual(a, double([1])), makeDual(b, double([10])), 4);
      assertTensor(tangentOf(both), [48]);
      out.sum().backward();
      // The tangent has a history, as any value.
      assertTensor(grad(tangentOf(both).sum(), [a, b])[0], [40]);
    });
    assertTensor(a.grad, [8]);
    assertTensor(b.grad, [4]);
  });

  test("sees none of what was saved for backward only", () => {
    const F = functionOf(
      (ctx, x) => {
        ctx.saveForBackward(x);
        return x.clone();
      },
      (ctx, dx) => {
        assert.equal(ctx.savedTensors.length, 0);
        return dx;
      },
    );
    dualLevel(() => {
      const x = makeDual(double([1]), double([3]));
      const y = F.apply(x);
      assertTensor(tangentOf(y), [3]);
      // Each has a tangent of its own.
      y.mul_(2);
      assertTensor(tangentOf(x), [3]);
    });
  });

  test("is called only for tangents, and not before forward has ended", () => {
    // rule: function-jvp
    const calls = [];
    const F = functionOf(
      (_ctx, x) => {
        calls.push("forward");
        assert.equal(tangentOf(x.mul(2)), null);
        return x.mul(2);
      },
      (_ctx, dx) => {
        calls.push("jvp");
        return dx.mul(2);
      },
    );
    F.apply(double([1]));
    dualLevel(() => F.apply(double([1])));
    assert.deepEqual(calls, ["forward", "forward"]);
    dualLevel(() => F.apply(makeDual(double([1]), double([1]))));
    assert.deepEqual(calls, ["forward", "forward", "forward", "jvp"]);
  });

  test("receives zeros, or null as setMaterializeGrads() says, and null for what has no tangent", () => {
    // rule: function-jvp
    const seen = [];
    const F = (materialize) =>
      functionOf(
        (ctx, x, y) => {
          ctx.setMaterializeGrads(materialize);
          return [x.clone(), y.clone()];
        },
        (_ctx, dx, dy, n) => {
          assert.equal(n, null);
          seen.push(dy);
          return [dx, dy];
        },
      );
    dualLevel(() => {
      const x = makeDual(double([1]), double([2]));
      const [, y] = F(true).apply(x, double([5]), 3);
      assertTensor(tangentOf(y), [0]);
      const [, z] = F(false).apply(x, double([5]), 3);
      assert.equal(tangentOf(z), null);
      F(true).apply(x, eg.tensor([1], { dtype: "int32" }), 3);
    });
    assertTensor(seen[0], [0]);
    assert.deepEqual(seen.slice(1), [null, null]);
  });

  test("of results that are not differentiable returns null", () => {
    const F = (result) =>
      functionOf(
        (ctx, x, y) => {
          const out = y.clone();
          ctx.markNonDifferentiable(out);
          return [x.clone(), out, "no tensor"];
        },
        (_ctx, dx) => [dx.mul(1), result(dx), null],
      );
    dualLevel(() => {
      const x = makeDual(double([2]), double([1]));
      const [first, second, third] = F(() => null).apply(x, double([3]));
      assertTensor(tangentOf(first), [1]);
      assert.equal(tangentOf(second), null);
      assert.equal(third, "no tensor");
      assertThrows(
        () => F((dx) => dx.clone()).apply(x, double([3])),
        "InvalidGradient",
        /result 1 a tangent, but that result is not differentiable\. Return null/,
      );
    });
  });

  test("of a view returns a view of the tangent", () => {
    // rule: function-jvp-views
    const F = (returned) =>
      functionOf(
        (_ctx, x) => x.narrow(0, 0, 2),
        (_ctx, dx) => returned(dx),
      );
    dualLevel(() => {
      const x = makeDual(double([1, 2, 3]), double([4, 5, 6]));
      const y = F((dx) => dx.narrow(0, 0, 2)).apply(x);
      assertTensor(tangentOf(y), [4, 5]);
      assertThrows(
        () => F((dx) => dx.narrow(0, 0, 2).clone()).apply(x),
        "InvalidGradient",
        /tangent that is no view/,
      );
      assertThrows(
        () => F((dx) => dx.clone().narrow(0, 0, 2)).apply(x),
        "InvalidGradient",
        /a view of another tensor/,
      );
    });
  });

  test("of an argument that is returned as it is returns a view of its tangent", () => {
    // rule: function-jvp-views
    const F = (returned) =>
      functionOf(
        (_ctx, x, y) => [x.add(y), x],
        (_ctx, dx, dy) => [dx.add(dy), returned(dx)],
      );
    for (const x of [leaf([1], { dtype: "float64" }), double([1])]) {
      dualLevel(() => {
        const dual = makeDual(x, double([3]));
        const [, out] = F((dx) => dx.viewAs(dx)).apply(dual, double([1]));
        assertTensor(tangentOf(out), [3]);
        for (const wrong of [(dx) => dx, (dx) => dx.mul(2)]) {
          assertThrows(
            () => F(wrong).apply(dual, double([1])),
            "InvalidGradient",
            /tangent that is no view/,
          );
        }
      });
    }
  });

  test("of an argument changed in place changes the tangent in place", () => {
    // rule: function-jvp-views
    const F = (jvp) =>
      functionOf(
        (ctx, x) => {
          ctx.markDirty(x);
          return x.mul_(2);
        },
        (_ctx, dx) => jvp(dx),
      );
    dualLevel(() => {
      const dual = () => makeDual(leaf([1, 2], { dtype: "float64" }), double([3, 4])).clone();
      const x = dual();
      assert.equal(F((dx) => dx.mul_(2)).apply(x), x);
      assertTensor(tangentOf(x), [6, 8]);
      assertThrows(
        () => F((dx) => dx.mul(2)).apply(dual()),
        "InvalidGradient",
        /another tangent than it was given/,
      );
      assertThrows(() => F((dx) => dx).apply(dual()), "InvalidGradient", /the tangent unchanged/);
    });
  });

  test("may give a tangent to a view of an argument that has none", () => {
    const F = functionOf(
      (_ctx, x, y) => [x.view(-1), y.clone()],
      (_ctx, dx, dy) => [dx.view(-1).add(7), dy.mul(1)],
    );
    dualLevel(() => {
      const base = double([1, 2]);
      const [view] = F.apply(base, makeDual(double([1]), double([1])));
      assertTensor(tangentOf(view), [7, 7]);
      assertTensor(tangentOf(base), [7, 7]);
    });
  });

  test("says what is wrong", () => {
    class None extends AutogradFunction {
      static forward(_ctx, x) {
        return x.mul_(2);
      }
    }
    const F = (jvp) => functionOf((_ctx, x) => x.mul(2), jvp);
    dualLevel(() => {
      const x = makeDual(double([1]), double([1]));
      // Nothing has been changed then.
      assertThrows(
        () => None.apply(x),
        "NotDifferentiable",
        /\[None\].* needs a static method jvp/,
      );
      assertTensor(x, [1]);
      const refused = (jvp, message, code = "InvalidGradient") =>
        assertThrows(() => F(jvp).apply(x), code, message);
      refused(() => [null, null], /jvp returned 2 tangents, expected 1/);
      refused(() => 3, /jvp must return a tensor or null for result 0, got/);
      refused(() => double([1, 2]), /of shape \[2\], expected \[1\]/);
      refused((_ctx, dx) => dx.float(), /of dtype float32, expected float64/);
      assert.throws(
        () =>
          F(() => {
            throw new Error("mine");
          }).apply(x),
        /mine/,
      );
      // The level is there again.
      assertTensor(tangentOf(x.mul(3)), [3]);
    });
    assertThrows(() => AutogradFunction.jvp(), "NotDifferentiable", /no static method jvp/);
  });

  test("leaves nothing behind", () => {
    assertFlat(() => {
      eg.scope(() =>
        dualLevel(() => {
          const out = ScaledProduct.apply(makeDual(leaf([1]), eg.tensor([1])), leaf([2]), 3);
          out.sum().backward();
        }),
      );
    });
  });
});

describe("eg.func uses jvp", () => {
  // Whose gradient and tangent differ, to tell which one was used.
  class TwoOrThree extends AutogradFunction {
    static forward(_ctx, x) {
      return x.mul(2);
    }
    static backward(_ctx, grad) {
      return grad.mul(2);
    }
    static jvp(_ctx, dx) {
      return dx.mul(3);
    }
  }

  class OnlyForward extends AutogradFunction {
    static forward(ctx, x, y) {
      ctx.saveForForward(x, y);
      return x.mul(y);
    }
    static jvp(ctx, dx, dy) {
      const [x, y] = ctx.savedTensors;
      return dx.mul(y).add(dy.mul(x));
    }
  }

  const call = (F) => (x) => F.apply(x);

  test("in jvp(), jacfwd() and linearize(), and backward in the others", () => {
    const x = double([1, 2]);
    const v = double([1, 10]);
    const two = call(TwoOrThree);
    assertTensor(eg.func.jvp(two, [x], [v])[1], [3, 30]);
    assertTensor(eg.func.jacfwd(two)(x), [3, 0, 0, 3]);
    assertTensor(eg.func.linearize(two, x)[1](v), [3, 30]);
    assertTensor(eg.func.vjp(two, x)[1](v)[0], [2, 20]);
    assertTensor(eg.func.jacrev(two)(x), [2, 0, 0, 2]);
    assertTensor(eg.func.grad((y) => two(y).sum())(x), [2, 2]);
  });

  test("of a Function without backward, also twice", () => {
    const f = (x) => OnlyForward.apply(x, x.mul(x)).sum();
    const x = double([1, 2]);
    const v = double([1, 10]);
    // The derivatives of x^3.
    assertTensor(eg.func.jvp(f, [x], [v])[1], [123]);
    const first = (y) => eg.func.jvp(f, [y], [v])[1];
    assertTensor(eg.func.jvp(first, [x], [v])[1], [6 + 12 * 100]);
    assertTensor(eg.func.jacfwd(eg.func.jacfwd(f))(x), [6, 0, 0, 12]);
    assertTensor(eg.func.grad(first)(x), [6, 120]);
  });

  test("inside vmap(), with a generated rule", () => {
    class Cube extends AutogradFunction {
      static generateVmapRule = true;
      static forward(ctx, x) {
        ctx.saveForBackward(x);
        ctx.saveForForward(x);
        return x.mul(x).mul(x);
      }
      static backward(ctx, grad) {
        const [x] = ctx.savedTensors;
        return grad.mul(x).mul(x).mul(3);
      }
      static jvp(ctx, dx) {
        const [x] = ctx.savedTensors;
        return dx.mul(x).mul(x).mul(3);
      }
    }
    const x = double([1, 2]);
    const v = double([1, 10]);
    const cube = (y) => Cube.apply(y);
    assertTensor(eg.func.vmap((y, w) => eg.func.jvp(cube, [y], [w])[1])(x, v), [3, 120]);
    assertTensor(eg.func.jvp(eg.func.vmap(cube), [x], [v])[1], [3, 120]);
    dualLevel(() => assertTensor(tangentOf(eg.func.vmap(cube)(makeDual(x, v))), [3, 120]));
  });

  test("inside a checkpoint, whose second run saves the same", () => {
    class Saving extends OnlyForward {
      static forward(ctx, x, y) {
        ctx.saveForBackward(x);
        return OnlyForward.forward(ctx, x, y);
      }
    }
    const f = (x) => Saving.apply(x, x.mul(x)).sum();
    const x = double([1, 2]);
    const v = double([1, 10]);
    assertTensor(eg.func.jvp((y) => eg.autograd.checkpoint(f, y), [x], [v])[1], [123]);
    const dual = (fn) => dualLevel(() => tangentOf(fn(makeDual(x, v))));
    assertTensor(
      dual((y) => eg.autograd.checkpoint(f, y)),
      [123],
    );
  });

  test("and leaves nothing behind", () => {
    assertFlat(() => {
      eg.scope(() => {
        const x = eg.tensor([1, 2]);
        eg.func.jvp((y) => OnlyForward.apply(y, y.mul(y)).sum(), [x], [x]);
      });
    });
  });
});
