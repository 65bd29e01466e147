// Systems of equations with a sparse matrix.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

// The discrete Laplacian of a path of n points, which is symmetric and positive.
const laplacian = (n, options) => {
  const ones = eg.ones([n], options);
  return eg.sparse.spdiags(eg.stack([ones.neg(), ones.mul(2.5), ones.neg()]), [-1, 0, 1], [n, n]);
};
const random = (n, dtype) =>
  eg
    .randn([n, n], { dtype })
    .mul(eg.rand([n, n]).lt(0.2))
    .add(eg.eye(n, { dtype }).mul(4));
const kClose = { rtol: 1e-9, atol: 1e-9 };

describe("spsolve", () => {
  test("solves positive and other systems of every dtype, in both layouts", () => {
    eg.manualSeed(1);
    for (const dtype of ["float32", "float64", "complex64", "complex128"]) {
      const close =
        dtype.endsWith("64") && dtype !== "complex64" ? kClose : { rtol: 1e-4, atol: 1e-4 };
      for (const a of [laplacian(30, { dtype }).toDense(), random(30, dtype)]) {
        for (const shape of [[30], [30, 3]]) {
          const x = eg.randn(shape, { dtype });
          const b = eg.matmul(a, x);
          for (const sparse of [a.toSparse(), a.toSparseCsr()]) {
            const found = eg.sparse.spsolve(sparse, b);
            assert.equal(found.dtype, dtype);
            const error = found.sub(x).abs().max().item();
            assert.ok(error < close.atol * 10, `${dtype}: ${error}`);
          }
        }
      }
    }
  });

  test("agrees with finite differences", () => {
    eg.manualSeed(2);
    for (const dtype of ["float64", "complex128"]) {
      const a = random(5, dtype).toSparseCsr().requiresGrad_();
      const b = eg.randn([5, 2], { dtype }).requiresGrad_();
      const solve = (m, right) => eg.sparse.spsolve(m, right);
      assert.ok(eg.autograd.gradcheck(solve, [a, b], { checkForwardAd: true }));
      assert.ok(eg.autograd.gradgradcheck(solve, [a, b]));
    }
  });

  test("has gradients at the positions of the matrix", () => {
    const a = laplacian(4, { dtype: "float64" }).toSparseCsr().requiresGrad_();
    const b = eg.tensor([1, 2, 3, 4], { dtype: "float64" }).requiresGrad_();
    eg.sparse.spsolve(a, b).sum().backward();
    assert.equal(a.grad.nnz, a.nnz);
    const full = a.detach().toDense().requiresGrad_();
    const right = b.detach().clone().requiresGrad_();
    eg.linalg.solve(full, right).sum().backward();
    assertTensor(b.grad, right.grad.dataSync(), kClose);
    assertTensor(a.grad.toDense(), full.grad.mul(full.detach().ne(0)).dataSync(), kClose);
  });

  test("refuses what has no solution, and what does not fit", () => {
    const b = eg.ones([2]);
    const solve = (rows, right = b) => eg.sparse.spsolve(eg.tensor(rows).toSparseCsr(), right);
    const singular = /\[sparse\.spsolve\] the matrix is singular/;
    assertThrows(() => solve([[1, 2], [2, 4]]), "InvalidArgument", singular); // biome-ignore format: a matrix
    assertThrows(() => solve([[1, 0], [0, 0]]), "InvalidArgument", singular); // biome-ignore format: a matrix
    assertThrows(() => eg.sparse.spsolve(eg.eye(2), b), "InvalidArgument", /expected a sparse/);
    assertThrows(() => solve([[1, 0]]), "ShapeMismatch", /square/);
    assertThrows(() => solve([[1]], b), "ShapeMismatch", /1 rows/);
    assertThrows(() => solve([[1]], eg.ones([1], { dtype: "float64" })), "DtypeMismatch");
    assertThrows(
      () =>
        eg.sparse.spsolve(
          eg.eye(1, { dtype: "int32" }).toSparse(),
          eg.ones([1], { dtype: "int32" }),
        ),
      "DtypeMismatch",
    );
    assertTensor(solve([[2]], eg.tensor([4])), [2]);
    assert.deepEqual(eg.sparse.spsolve(eg.zeros([0, 0]).toSparse(), eg.ones([0])).shape, [0]);
  });

  test("leaves nothing behind", () => {
    const a = laplacian(10).toSparseCsr();
    const b = eg.ones([10]);
    const { tensors, bytes } = eg.memory();
    for (let i = 0; i < 3; i++) eg.sparse.spsolve(a, b).dispose();
    assert.equal(eg.memory().tensors, tensors);
    assert.equal(eg.memory().bytes, bytes);
  });
});
