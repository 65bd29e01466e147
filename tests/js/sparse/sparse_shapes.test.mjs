// Sparse tensors of other shapes: views, batches of matrices, elements that are tensors, products that broadcast.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const int64 = (data) => eg.tensor(data, { dtype: "int64" });
const dense = () => eg.arange(24, { dtype: "float32" }).remainder(5).reshape(2, 3, 4);
const same = (sparse, expected) => {
  assert.equal(sparse.isSparse, true);
  assert.deepEqual(sparse.shape, expected.shape);
  assertTensor(sparse.toDense(), expected.dataSync());
};

describe("a sparse tensor in another shape", () => {
  for (const sparseDim of [1, 2, 3]) {
    test(`has the elements of the dense one, with ${sparseDim} sparse dimensions`, () => {
      const d = dense();
      const x = d.toSparse({ sparseDim });
      for (const dim of [0, 1, 2, 3, -1, -4]) same(x.unsqueeze(dim), d.unsqueeze(dim));
      for (const dim of [0, 1, 2]) {
        const index = int64([1, 0, 1]);
        same(x.indexSelect(dim, index), d.indexSelect(dim, index));
        same(eg.cat([x, x.mul(2)], dim), eg.cat([d, d.mul(2)], dim));
      }
      same(x.unsqueeze(0).expand(2, -1, -1, -1), d.unsqueeze(0).expand(2, -1, -1, -1));
      same(x.expand(3, 2, 3, 4), d.expand(3, 2, 3, 4));
      const row = eg.tensor([[2], [0], [1]]);
      same(x.mul(row), d.mul(row));
      same(x.mul(row.toSparse()), d.mul(row));
      same(row.toSparse().mul(x), d.mul(row));
      same(x.mul(eg.tensor(2).toSparse()), d.mul(2));
      assertThrows(() => x.unsqueeze(5), "IndexOutOfRange");
      assertThrows(() => x.indexSelect(0, int64([2])), "IndexOutOfRange");
    });
  }

  test("is permuted without mixing coordinates and values", () => {
    const d = dense();
    same(d.toSparse().permute(2, 0, 1), d.permute(2, 0, 1));
    const x = d.toSparse({ sparseDim: 1 });
    same(x.permute(0, 2, 1), d.permute(0, 2, 1));
    assertThrows(() => x.permute(1, 0, 2), "InvalidArgument", /cannot be mixed/);
    assertThrows(() => x.permute(0, 0, 2), "InvalidArgument", /duplicates/);
    same(x, d);
  });

  test("that is not broadcast in place keeps its shape", () => {
    const x = eg.ones([1, 3]).toSparse();
    assertThrows(() => x.mul_(eg.ones([2, 3])), "ShapeMismatch");
    assert.deepEqual(x.shape, [1, 3]);
    const d = eg.ones([2, 3]);
    d.mul_(eg.tensor([[0, 2, 3]]).toSparse());
    assertTensor(d, [0, 2, 3, 0, 2, 3]);
  });

  test("takes the elements of another by copy_()", () => {
    const x = eg.tensor([1, 0, 2]).toSparse();
    const y = eg.tensor([0, 3, 0], { dtype: "float64" }).toSparse().requiresGrad_();
    x.copy_(y);
    assert.equal(x.dtype, "float32");
    assertTensor(x.detach().toDense(), [0, 3, 0]);
    x.mul(2).toDense().sum().backward();
    assertTensor(y.grad.toDense(), [0, 2, 0]);
    assertThrows(
      () => y.copy_(eg.ones([3])),
      "InvalidArgument",
      /source: expected a sparse tensor/,
    );
    assertThrows(() => x.detach().copy_(eg.ones([2]).toSparse()), "ShapeMismatch");
  });
});

describe("CSR", () => {
  test("has batches of matrices with as many values each", () => {
    const d = eg.tensor([
      [
        [0, 1, 2],
        [3, 0, 0],
      ],
      [
        [4, 0, 0],
        [0, 5, 6],
      ],
    ]);
    const x = d.toSparseCsr();
    assert.deepEqual([x.nnz, x.sparseDim, x.denseDim], [3, 2, 0]);
    assertTensor(x.crowIndices(), [0, 2, 3, 0, 1, 3], { shape: [2, 3] });
    assertTensor(x.colIndices(), [1, 2, 0, 0, 1, 2], { shape: [2, 3] });
    assertTensor(x.values(), [1, 2, 3, 4, 5, 6], { shape: [2, 3] });
    same(x, d);
    same(x.transpose(1, 2), d.transpose(1, 2));
    assert.equal(x.transpose(1, 2).layout, "sparse_csr");
    same(x.sin(), d.sin());
    same(x.clone(), d);
    same(x.toSparse(), d);
    assertTensor(eg.zerosLike(x).toDense(), new Array(12).fill(0), { shape: [2, 2, 3] });
    assert.match(String(x), /crow_indices=tensor\(\[\[0, 2, 3\]/);
    const again = eg.sparseCsrTensor(x.crowIndices(), x.colIndices(), x.values());
    same(again, d);
    const values = x.values().requiresGrad_();
    const made = eg.sparseCsrTensor(x.crowIndices(), x.colIndices(), values, [2, 2, 3]);
    made.mul(d).toDense().sum().backward();
    assertTensor(values.grad, [1, 2, 3, 4, 5, 6], { shape: [2, 3] });
    const uneven = eg.tensor([[[1, 0]], [[1, 2]]]);
    assertThrows(() => uneven.toSparseCsr(), "InvalidArgument", /equally many values/);
    assertThrows(
      () => eg.sparseCsrTensor([[0, 1]], [[0], [0]], [[1], [2]], [2, 1, 2]),
      "ShapeMismatch",
      /crowIndices/,
    );
    assertThrows(() => x.transpose(0, 1), "InvalidArgument", /cannot be mixed/);
  });

  test("has elements that are tensors", () => {
    const d = eg.tensor([
      [
        [0, 0],
        [1, 2],
      ],
      [
        [3, 0],
        [0, 0],
      ],
    ]);
    const x = d.toSparseCsr({ denseDim: 1 });
    assert.deepEqual([x.nnz, x.sparseDim, x.denseDim], [2, 2, 1]);
    assertTensor(x.values(), [1, 2, 3, 0], { shape: [2, 2] });
    same(x, d);
    same(d.toSparse({ sparseDim: 2 }).toSparseCsr(), d);
    assertThrows(() => x.toSparseCsr(0), "InvalidArgument", /denseDim of a sparse tensor/);
    assertThrows(() => d.toSparseCsr(2), "ShapeMismatch");
    assertThrows(() => d.toSparse().toSparseCsr(), "InvalidArgument", /two sparse dimensions/);
  });
});

describe("spdiags", () => {
  test("has diagonals at offsets", () => {
    const rows = eg.tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    const x = eg.sparse.spdiags(rows, [0, 1], [3, 4]);
    assertTensor(x.toDense(), [1, 5, 0, 0, 0, 2, 6, 0, 0, 0, 3, 0], { shape: [3, 4] });
    assertTensor(
      eg.sparse.spdiags(rows.select(0, 0), -1, [3, 3]).toDense(),
      [0, 0, 0, 1, 0, 0, 0, 2, 0],
    );
    assert.equal(eg.sparse.spdiags(rows, [5, -5], [3, 3]).nnz, 0);
    const values = eg.ones([1, 3]).requiresGrad_();
    eg.sparse.spdiags(values, 1, [3, 3]).mul(2).toDense().sum().backward();
    assertTensor(values.grad, [0, 2, 2]);
    const { spdiags } = eg.sparse;
    assertThrows(() => spdiags(rows, [0], [3, 3]), "ShapeMismatch", /as many offsets/);
    assertThrows(() => spdiags(rows, [0, 0], [3, 3]), "InvalidArgument", /different numbers/);
    assertThrows(() => spdiags(rows, [0, 1], [3]), "ShapeMismatch", /two sizes/);
  });
});
