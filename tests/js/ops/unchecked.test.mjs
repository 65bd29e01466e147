// Factorizations that report what failed, and small functions of shapes and values.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { choleskyEx, invEx, luFactorEx, solveEx } = eg.linalg;
const kNone = [Number.NaN, Number.NaN, Number.NaN, Number.NaN];

describe("factorizations of a batch in which some matrices have none", () => {
  test("choleskyEx returns the first minor that is not positive", () => {
    const good = [
      [4, 2],
      [2, 5],
    ];
    const A = eg.tensor([
      good,
      [
        [1, 0],
        [0, -1],
      ],
      [
        [-1, 0],
        [0, 1],
      ],
      [
        [1, 2],
        [2, 1],
      ],
    ]);
    const [L, info] = choleskyEx(A);
    assert.equal(info.dtype, "int32");
    assertTensor(info, [0, 2, 1, 2]);
    assertTensor(L.at(0), [2, 0, 1, 2]);
    assertTensor(L.at(1), kNone);
    assertTensor(choleskyEx(A.at(0), { upper: true })[0], [2, 1, 0, 2]);
    assertThrows(
      () => choleskyEx(A, { checkErrors: true }),
      "InvalidArgument",
      /\[linalg.choleskyEx\].*order/,
    );
    assertThrows(() => choleskyEx(eg.ones([2, 3])), "ShapeMismatch");
  });

  test("invEx and solveEx return the place of the first zero", () => {
    const A = eg.tensor([
      [
        [2, 0],
        [0, 4],
      ],
      [
        [1, 2],
        [2, 4],
      ],
      [
        [0, 1],
        [0, 2],
      ],
    ]);
    const [inverse, info] = invEx(A);
    assertTensor(info, [0, 2, 1]);
    assertTensor(inverse.at(0), [0.5, 0, 0, 0.25]);
    assertTensor(inverse.at(2), kNone);
    const [x, solved] = solveEx(A, eg.ones([2]));
    assertTensor(solved, [0, 2, 1]);
    assertTensor(x, [0.5, 0.25, ...kNone]);
    const [y] = solveEx(A, eg.ones([2, 1]));
    assert.deepEqual(y.shape, [3, 2, 1]);
    assertTensor(y.at(0), [0.5, 0.25]);
    assertThrows(() => invEx(A, { checkErrors: true }), "InvalidArgument", /singular/);
  });

  test("gradients of the others are those of inverse()", () => {
    const A = eg.tensor(
      [
        [
          [2, 1],
          [0, 4],
        ],
        [
          [1, 2],
          [2, 4],
        ],
      ],
      { requiresGrad: true },
    );
    invEx(A)[0].at(0).sum().backward();
    const B = eg.tensor(
      [
        [2, 1],
        [0, 4],
      ],
      { requiresGrad: true },
    );
    B.inverse().sum().backward();
    assertTensor(A.grad.at(0), B.grad.dataSync());
  });

  test("luFactorEx factors singular matrices, too", () => {
    const A = eg.tensor(
      [
        [0, 0, 1],
        [0, 0, 2],
        [3, 0, 0],
      ],
      { dtype: "float64" },
    );
    const [LU, pivots, info] = luFactorEx(A);
    assertTensor(info, [2]);
    const [P, L, U] = eg.luUnpack(LU, pivots);
    assertTensor(P.matmul(L).matmul(U), A.dataSync());
    assertThrows(() => luFactorEx(A, { checkErrors: true }), "InvalidArgument", /U\[2,2\] is zero/);
  });

  test("they work inside vmap", () => {
    const A = eg.tensor([
      [
        [2, 0],
        [0, 4],
      ],
      [
        [1, 2],
        [2, 4],
      ],
    ]);
    const [inverse, info] = eg.func.vmap((matrix) => invEx(matrix))(A);
    assertTensor(info, [0, 2]);
    assertTensor(inverse.at(0), [0.5, 0, 0, 0.25]);
  });
});

test("broadcastShapes returns the common shape", () => {
  assert.deepEqual(eg.broadcastShapes([3, 1], [2], [1, 1, 1]), [1, 3, 2]);
  assert.deepEqual(eg.broadcastShapes([0], [1]), [0]);
  assert.deepEqual(eg.broadcastShapes(), []);
  assertThrows(() => eg.broadcastShapes([2], [3]), "ShapeMismatch", /\[2\] and \[3\]/);
  assertThrows(
    () => eg.broadcastShapes(2),
    "InvalidArgument",
    /shapes\[0\]: expected a list of sizes/,
  );
  assertThrows(() => eg.broadcastShapes([-1]), "InvalidArgument");
});

test("fill takes a number or a tensor without dimensions", () => {
  assertTensor(eg.fill(eg.zeros([2]), 3), [3, 3]);
  assertTensor(eg.fill(eg.zeros([2], { dtype: "int32" }), eg.tensor(2.7)), [2, 2]);
  assertThrows(() => eg.fill(eg.zeros([2]), eg.zeros([2])), "ShapeMismatch", /\[fill\]/);
});

test("replaceAllBatchNormModules_ lets running statistics go", () => {
  const { Sequential, Linear, BatchNorm1d, InstanceNorm1d } = eg.nn;
  const inner = new Sequential(new BatchNorm1d(2));
  const kept = new InstanceNorm1d(2, { trackRunningStats: true });
  const model = new Sequential(new Linear(2, 2), inner, kept);
  assert.equal(eg.func.replaceAllBatchNormModules_(model), model);
  const norm = inner.at(0);
  assert.equal(norm.running_mean, null);
  assert.equal(norm.num_batches_tracked, null);
  assert.equal(norm.trackRunningStats, false);
  assert.ok(kept.running_mean !== null);
  const x = eg.randn([3, 4, 2]);
  const one = eg.func.vmap((sample) => norm.call(sample))(x);
  assertTensor(one.at(1), norm.call(x.at(1)).dataSync());
  assertThrows(() => eg.func.replaceAllBatchNormModules_({}), "InvalidArgument", /an nn.Module/);
});
