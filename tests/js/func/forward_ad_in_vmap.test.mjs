// Forward mode inside vmap(), jacrev() with copied rows, and vectorized Jacobians.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { dualLevel, makeDual, unpackDual } = eg.autograd.forwardAd;
const { functional } = eg.autograd;
const double = (data) => eg.tensor(data, { dtype: "float64" });

describe("forward mode inside vmap()", () => {
  const f = (x) => x.sin().mul(x).sum();
  const x = double([0.1, 0.2, 0.3]);
  const pushed = (tangent) => dualLevel(() => unpackDual(f(makeDual(x, tangent))).tangent);

  test("has a tangent per sample", () => {
    const tangents = double([
      [1, 0, 0],
      [0, 2, 0],
    ]);
    const expected = [pushed(tangents.at(0)).item(), pushed(tangents.at(1)).item()];
    assertTensor(eg.func.vmap(pushed)(tangents), expected);
  });

  test("has a value per sample, and the same tangent or none", () => {
    const rows = double([
      [1, 2],
      [3, 4],
    ]);
    const square = (tangent) => (row) =>
      dualLevel(() => unpackDual(makeDual(row, tangent).mul(row)).tangent);
    assertTensor(eg.func.vmap(square(double([1, 10])))(rows), [1, 20, 3, 40]);
    const none = (row) =>
      dualLevel(() => {
        const { primal, tangent } = unpackDual(row);
        assert.equal(tangent, null);
        return primal;
      });
    assertTensor(eg.func.vmap(none)(rows), [1, 2, 3, 4]);
  });

  test("writes tangents in place", () => {
    const copied = (tangent) => {
      const target = eg.zerosLike(tangent);
      return dualLevel(() => {
        target.copy_(makeDual(double([1, 2]), tangent));
        return unpackDual(target).tangent;
      });
    };
    const tangents = double([
      [1, 2],
      [3, 4],
    ]);
    assertTensor(eg.func.vmap(copied)(tangents), [1, 2, 3, 4]);
  });

  test("nests", () => {
    const tangents = double([
      [
        [1, 0, 0],
        [0, 1, 0],
      ],
      [
        [0, 0, 1],
        [1, 1, 1],
      ],
    ]);
    const expected = tangents
      .reshape(4, 3)
      .unbind()
      .map((one) => pushed(one).item());
    assertTensor(eg.func.vmap(eg.func.vmap(pushed))(tangents), expected);
  });
});

describe("jacrev", () => {
  const f = (x) => [x.pow(2), x.sum()];
  const x = double([1, 2, 3]);

  test("with preallocateAndCopy computes the same, in chunks of any size, nested, and inside vmap()", () => {
    for (const chunkSize of [null, 1, 2, 1000]) {
      const options = { preallocateAndCopy: true, chunkSize };
      const [square, sum] = eg.func.jacrev(f, options)(x);
      assertTensor(square, [2, 0, 0, 0, 4, 0, 0, 0, 6], { shape: [3, 3] });
      assertTensor(sum, [1, 1, 1], { shape: [3] });
      const cube = (y) => y.pow(3).sum();
      assertTensor(
        eg.func.jacrev(eg.func.jacrev(cube, options), options)(x),
        [6, 0, 0, 0, 12, 0, 0, 0, 18],
      );
      const batch = eg.func.vmap(eg.func.jacrev((y) => y.pow(2), options))(x.unsqueeze(1));
      assertTensor(batch, [2, 4, 6], { shape: [3, 1, 1] });
    }
    assert.deepEqual(
      eg.func.jacrev((y) => y.at(eg.slice(0, 0)), { preallocateAndCopy: true })(x).shape,
      [0, 3],
    );
    assertThrows(() => eg.func.jacrev(f, { chunkSize: 0 }), "InvalidArgument", /chunkSize/);
  });
});

describe("vectorized matrices", () => {
  const f = (x, y) => [x.mul(y).sin(), x.sum().pow(2), double([1])];
  const inputs = [double([0.1, 0.2]), double([3, 4])];
  const assertSame = (actual, expected) => {
    actual.flat(2).forEach((one, i) => {
      assertTensor(one, expected.flat(2)[i].dataSync(), {
        shape: expected.flat(2)[i].shape,
        atol: 1e-12,
      });
    });
  };

  test("are those that are computed row by row", () => {
    const expected = functional.jacobian(f, inputs);
    assertSame(functional.jacobian(f, inputs, { vectorize: true }), expected);
    const forward = { vectorize: true, strategy: "forward-mode" };
    assertSame(functional.jacobian(f, inputs, forward), expected);
    const g = (x, y) => x.pow(3).mul(y).sum();
    const hessian = functional.hessian(g, inputs);
    assertSame(functional.hessian(g, inputs, { vectorize: true }), hessian);
    const outer = { vectorize: true, outerJacobianStrategy: "forward-mode" };
    assertSame(functional.hessian(g, inputs, outer), hessian);
    const single = functional.jacobian((x) => x.exp(), inputs[0], {
      vectorize: true,
      createGraph: true,
    });
    assert.deepEqual(single.shape, [2, 2]);
    assertTensor(
      functional.jacobian((x) => x.pow(2), double([3]), forward),
      [6],
      { shape: [1, 1] },
    );
  });

  test("refuse what cannot be combined", () => {
    const refused = (options, message) =>
      assertThrows(() => functional.jacobian(f, inputs, options), "InvalidArgument", message);
    refused({ vectorize: true, strict: true }, /strict and vectorize cannot be combined/);
    refused({ strategy: "forward-mode" }, /"forward-mode" needs vectorize: true/);
    refused(
      { strategy: "forward-mode", vectorize: true, createGraph: true },
      /cannot be combined with createGraph/,
    );
    refused({ strategy: "backward" }, /strategy: expected one of/);
    assertThrows(
      () =>
        functional.hessian((x) => x.sum(), inputs[0], { outerJacobianStrategy: "forward-mode" }),
      "InvalidArgument",
      /\[hessian\] "forward-mode" needs vectorize/,
    );
  });
});
