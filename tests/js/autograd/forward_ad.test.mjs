// Forward-mode differentiation.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { leaf } from "../support/graphs.mjs";

const { dualLevel, makeDual, unpackDual } = eg.autograd.forwardAd;
const double = (data) => eg.tensor(data, { dtype: "float64" });

describe("forwardAd", () => {
  test("carries a tangent through operations", () => {
    // rule: forward-mode
    const [x, t] = [double([1, 2]), double([1, 10])];
    const [value, tangent] = dualLevel(() => {
      const y = makeDual(x, t);
      const { primal, tangent } = unpackDual(y.mul(y).add(3));
      return [primal, tangent];
    });
    assertTensor(value, [4, 7]);
    assertTensor(tangent, [2, 40]);
  });

  test("agrees with jvp()", () => {
    const f = (x) => x.sin().mul(x).exp();
    const [x, v] = [double([0.3, 0.4]), double([1, -2])];
    const [, expected] = eg.autograd.functional.jvp(f, x, v);
    const { tangent } = dualLevel(() => unpackDual(f(makeDual(x, v))));
    assertTensor(tangent, expected.dataSync(), { atol: 1e-12 });
  });

  test("combines with backward", () => {
    // rule: forward-mode-with-backward
    const x = leaf([2], { dtype: "float64" });
    const tangent = dualLevel(() => unpackDual(makeDual(x, double([1])).pow(3)).tangent);
    assertTensor(tangent, [12]);
    assertTensor(eg.autograd.grad(tangent, x)[0], [12]);
  });

  test("refuses a second tangent, and a tangent that has one", () => {
    // rule: forward-mode-arguments
    const [x, t] = [double([1, 2]), double([1, 1])];
    const refused = (make, text) =>
      assertThrows(() => dualLevel(() => make(makeDual(x, t))), "InvalidArgument", text);
    refused((dual) => makeDual(dual, t), /already has a tangent/);
    refused((dual) => makeDual(dual.view(2, 1).view(2), t), /already has a tangent/);
    refused((dual) => makeDual(x, dual), /the tangent has a tangent/);
    refused((dual) => makeDual(x, dual.sin()), /the tangent has a tangent/);
    refused((dual) => makeDual(x, dual.view(2, 1).view(2)), /the tangent has a tangent/);
    dualLevel(() => {
      const dual = makeDual(x, t);
      assertTensor(unpackDual(makeDual(dual.detach(), t)).tangent, [1, 1]);
      assertTensor(unpackDual(makeDual(x, unpackDual(dual.mul(2)).tangent)).tangent, [2, 2]);
    });
  });

  test("has no tangents in inference mode, as in PyTorch", () => {
    // rule: inference-no-tangents
    const [x, v] = [double([1, 2]), double([1, 1])];
    eg.inferenceMode(() => {
      const inner = dualLevel(() => {
        const dual = makeDual(x, v);
        return [unpackDual(dual), unpackDual(dual.sin())];
      });
      for (const { tangent } of inner) assert.equal(tangent, null);
      assertTensor(inner[1].primal, [Math.sin(1), Math.sin(2)]);
      assert.equal(inner[1].primal.isInference, true);
      assertThrows(() => dualLevel(() => makeDual(x, double([1]))), "ShapeMismatch");
    });
    dualLevel(() => {
      const dual = makeDual(x, v);
      eg.inferenceMode(() => assert.equal(unpackDual(dual.sin()).tangent, null));
      assertTensor(unpackDual(dual.mul(3)).tangent, [3, 3]);
    });
  });

  test("ends with its level, which has no other inside", () => {
    // rule: forward-mode-levels
    const dual = dualLevel(() => {
      assert.throws(() => dualLevel(() => {}), /[Nn]ested|forward|level/);
      return makeDual(double([1]), double([1]));
    });
    assert.equal(unpackDual(dual).tangent, null);
    assert.throws(() => makeDual(double([1]), double([1])), /level/);
    assertThrows(() => dualLevel(async () => 1), "InvalidArgument", /promise/);
    assert.throws(() => dualLevel(() => makeDual(double([1]), double([1, 2]))));
    assertTensor(
      dualLevel(() => eg.ones([1])),
      [1],
    );
  });
});
