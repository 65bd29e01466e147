// What a sparse tensor is in JavaScript: its properties and parts, how one is made, and what it refuses.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const matrix = (options) =>
  eg.sparseCooTensor(
    [
      [0, 1, 1],
      [2, 0, 2],
    ],
    [3, 4, 5],
    [2, 3],
    options,
  );
const int64 = (data) => eg.tensor(data, { dtype: "int64" });

describe("a sparse tensor", () => {
  test("has a layout, a number of values and dimensions", () => {
    const x = matrix();
    const { layout, isSparse, nnz, sparseDim, denseDim, shape, numel, isCoalesced, dtype } = x;
    assert.deepEqual(
      { layout, isSparse, nnz, sparseDim, denseDim, shape, numel, isCoalesced, dtype },
      {
        layout: "sparse_coo",
        isSparse: true,
        nnz: 3,
        sparseDim: 2,
        denseDim: 0,
        shape: [2, 3],
        numel: 6,
        isCoalesced: false,
        dtype: "float32",
      },
    );
    const dense = x.toDense();
    assert.equal(dense.layout, "strided");
    assert.equal(dense.isSparse, false);
    assert.equal(dense.nnz, 0);
    assert.equal(dense.denseDim, 2);
    assertTensor(dense, [0, 0, 3, 4, 0, 5], { shape: [2, 3] });
    assert.equal(dense.toDense(), dense);
  });

  test("gives its parts back", () => {
    const x = matrix();
    assertThrows(() => x.values(), "InvalidArgument", /\[values\].*coalesce\(\)/);
    assertTensor(x.values({ coalesced: false }), [3, 4, 5]);
    const one = x.coalesce();
    assert.equal(one.isCoalesced, true);
    assert.equal(one.coalesce(), one);
    assertTensor(one.values(), [3, 4, 5]);
    assertTensor(one.indices(), [0, 1, 1, 2, 0, 2], { shape: [2, 3] });
    const csr = x.toSparseCsr();
    assert.equal(csr.layout, "sparse_csr");
    assertTensor(csr.crowIndices(), [0, 1, 3]);
    assertTensor(csr.colIndices(), [2, 0, 2]);
    assertTensor(csr.values(), [3, 4, 5]);
    assertTensor(csr.toSparse().indices(), [0, 1, 1, 2, 0, 2]);
    assertTensor(csr.toDense(), [0, 0, 3, 4, 0, 5]);
    assertThrows(
      () => x.crowIndices(),
      "InvalidArgument",
      /layout sparse_csr, got one in layout sparse_coo/,
    );
    assertThrows(() => csr.indices(), "InvalidArgument", /layout sparse_coo/);
    assertThrows(() => x.toDense().values(), "InvalidArgument", /expected a sparse tensor/);
  });

  test("shares the memory of its values, and keeps its indices", () => {
    const values = eg.tensor([1, 2]);
    const indices = int64([[0, 2]]);
    const x = eg.sparseCooTensor(indices, values, [3]);
    values.mul_(10);
    indices.fill_(1);
    assertTensor(x.toDense(), [10, 0, 20]);
    const one = x.coalesce();
    one.values().fill_(7);
    assertTensor(one.toDense(), [7, 0, 7]);
    one.indices().fill_(1);
    assertTensor(one.toDense(), [7, 0, 7]);
  });

  test("sums values of the same position", () => {
    const x = eg.sparseCooTensor(
      [[1, 0, 1]],
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
      [3, 2],
    );
    assert.equal(x.denseDim, 1);
    assertTensor(x.toDense(), [3, 4, 6, 8, 0, 0]);
    assertTensor(x.coalesce().values(), [3, 4, 6, 8]);
    assertTensor(x.coalesce().indices(), [0, 1]);
  });

  test("is made of what is not zero", () => {
    const x = eg.tensor(
      [
        [0, 1.5, 0],
        [2, 0, Number.NaN],
      ],
      { requiresGrad: true },
    );
    const sparse = x.toSparse();
    assert.equal(sparse.nnz, 3);
    assertTensor(sparse.indices(), [0, 1, 1, 1, 0, 2]);
    sparse
      .toDense()
      .mul(
        eg.tensor([
          [1, 2, 3],
          [4, 5, 6],
        ]),
      )
      .sum()
      .backward();
    assertTensor(x.grad, [0, 2, 0, 4, 0, 6]);
    const hybrid = eg
      .tensor([
        [0, 0],
        [1, 0],
        [0, 0],
      ])
      .toSparse({ sparseDim: 1 });
    assert.equal(hybrid.sparseDim, 1);
    assertTensor(hybrid.values(), [1, 0], { shape: [1, 2] });
    assertTensor(eg.tensor(3).toSparse().toDense(), [3], { shape: [] });
    assertThrows(() => x.toSparse(3), "InvalidArgument", /sparseDim: expected 1 to 2, got 3/);
  });

  test("is a leaf with a sparse gradient, or flows to its values", () => {
    const leaf = matrix({ requiresGrad: true });
    assert.equal(leaf.isLeaf, true);
    eg.mm(leaf, eg.tensor([[1], [2], [3]]))
      .sum()
      .backward();
    assert.equal(leaf.grad.layout, "sparse_coo");
    assertTensor(leaf.grad.toDense(), [0, 0, 3, 1, 0, 3]);
    const values = eg.tensor([3, 4, 5], { requiresGrad: true });
    const made = eg.sparseCooTensor(
      [
        [0, 1, 1],
        [2, 0, 2],
      ],
      values,
      [2, 3],
    );
    assert.equal(made.isLeaf, false);
    eg.mm(made, eg.tensor([[1], [2], [3]]))
      .sum()
      .backward();
    assertTensor(values.grad, [3, 1, 3]);
  });

  test("changes in place", () => {
    const x = matrix();
    assert.equal(x.mul_(2), x);
    assertTensor(x.toDense(), [0, 0, 6, 8, 0, 10]);
    x.add_(matrix());
    assertTensor(x.toDense(), [0, 0, 9, 12, 0, 15]);
    const dense = eg.ones([2, 3]);
    dense.add_(matrix(), 2);
    assertTensor(dense, [1, 1, 7, 9, 1, 11]);
    x.gt_(10);
    assertTensor(x.toDense(), [0, 0, 0, 1, 0, 1]);
    x.zero_();
    assert.equal(x.nnz, 0);
    assertTensor(x.toDense(), [0, 0, 0, 0, 0, 0]);
  });

  test("is joined with others, and has zeros and conjugates", () => {
    const x = matrix();
    assertTensor(eg.cat([x, x], 0).toDense(), [0, 0, 3, 4, 0, 5, 0, 0, 3, 4, 0, 5], {
      shape: [4, 3],
    });
    const wide = eg.cat([x.toSparseCsr(), x.toSparseCsr()], 1);
    assert.equal(wide.layout, "sparse_csr");
    assertTensor(wide.toDense(), [0, 0, 3, 0, 0, 3, 4, 0, 5, 4, 0, 5], { shape: [2, 6] });
    const zeros = eg.zerosLike(x);
    assert.equal(zeros.layout, "sparse_coo");
    assert.equal(zeros.nnz, 0);
    const z = eg.sparseCooTensor([[1]], eg.tensor([{ re: 1, im: 2 }]), [2]);
    assert.equal(z.isCoalesced, true);
    assert.deepEqual(z.conj().toDense().tolist()[1], { re: 1, im: -2 });
    const counts = eg.sparseCooTensor([[0, 0]], eg.tensor([100, 100], { dtype: "int32" }), [2]);
    assert.equal(eg.sparse.sum(counts).dtype, "int64");
    assertThrows(() => eg.cat([x, x.toDense()]), "InvalidArgument", /sparse tensors/);
  });

  test("travels through casts, clones and detach", () => {
    const x = matrix({ requiresGrad: true });
    assert.equal(x.to("float64").dtype, "float64");
    assertTensor(x.to("float16").toDense().to("float32").detach(), [0, 0, 3, 4, 0, 5]);
    const copy = x.detach().clone();
    copy.coalesce().values();
    copy.mul_(2);
    assertTensor(x.detach().toDense(), [0, 0, 3, 4, 0, 5]);
    assert.equal(x.detach().requiresGrad, false);
  });
});

describe("what does not fit", () => {
  const refuse = (make, code, text) => assertThrows(make, code, text);
  test("is refused when a sparse tensor is made", () => {
    refuse(
      () => eg.sparseCooTensor([[0, 3]], [1, 2], [3]),
      "IndexOutOfRange",
      /\[sparseCooTensor\].*3/,
    );
    refuse(() => eg.sparseCooTensor([[0, -1]], [1, 2], [3]), "IndexOutOfRange");
    refuse(
      () => eg.sparseCooTensor([[0, 1]], [1, 2, 3], [3]),
      "ShapeMismatch",
      /expected values of shape \[2\].*got \[3\]/,
    );
    refuse(() => eg.sparseCooTensor([0, 1], [1, 2], [3]), "ShapeMismatch", /indices must have/);
    refuse(
      () => eg.sparseCooTensor(eg.tensor([[0.5]]), [1], [3]),
      "DtypeMismatch",
      /indices: expected int64 or int32, got float32/,
    );
    refuse(
      () => eg.sparseCooTensor([[1, 0]], [1, 2], [3], { isCoalesced: true }),
      "InvalidArgument",
      /isCoalesced/,
    );
    refuse(() => eg.sparseCooTensor([[0]], [1], [-3]), "InvalidArgument", /size/);
    refuse(() => eg.sparseCooTensor([[0]], [1], [3], { foo: 1 }), "InvalidArgument", /foo/);
    refuse(
      () => eg.sparseCsrTensor([0, 2, 2], [2, 0], [1, 2], [2, 3]),
      "InvalidArgument",
      /colIndices/,
    );
    refuse(
      () => eg.sparseCsrTensor([0, 1], [2, 0], [1, 2], [2, 3]),
      "ShapeMismatch",
      /crowIndices: expected 3/,
    );
    refuse(
      () => eg.sparseCooTensor(int64([[0]]), matrix(), [3]),
      "InvalidArgument",
      /\[sparseCooTensor\] expected a dense tensor/,
    );
  });

  test("sizes are inferred", () => {
    assert.deepEqual(
      eg.sparseCooTensor(
        [
          [0, 4],
          [2, 1],
        ],
        [1, 2],
      ).shape,
      [5, 3],
    );
    assert.deepEqual(eg.sparseCsrTensor([0, 1, 2], [2, 0], [1, 2]).shape, [2, 3]);
    assert.deepEqual(
      eg.sparseCooTensor(
        [[0, 4]],
        [
          [1, 2],
          [3, 4],
        ],
      ).shape,
      [5, 2],
    );
  });

  test("is refused by ops that take dense tensors, and leaves the operands alone", () => {
    const x = matrix();
    const kDense = /expected a dense tensor, got a sparse one/;
    for (const attempt of [
      () => eg.softmax(x, 1),
      () => x.reshape(6),
      () => x.dataSync(),
      () => x.tolist(),
      () => eg.sparseCooTensor([[0]], [1], [1]).item(),
      () => x.at(0),
      () => eg.conv1d(x, x),
      () => x.fill_(1),
    ]) {
      assertThrows(attempt, "InvalidArgument", kDense);
    }
    assertThrows(() => eg.where(x, 1, 0), "InvalidArgument", /\[where\].*Use toDense/);
    assertThrows(() => x.cos(), "InvalidArgument", /\[cos\] does not keep zeros/);
    assertThrows(() => x.add(1), "ShapeMismatch");
    assertThrows(() => x.mul(eg.ones([4, 3])), "ShapeMismatch");
    assertThrows(() => eg.mm(x, eg.ones([2, 2])), "ShapeMismatch");
    assertTensor(x.toDense(), [0, 0, 3, 4, 0, 5]);
  });

  test("is refused in a captured function", () => {
    const x = matrix();
    const product = (d) => eg.mm(x, d);
    assertThrows(
      () => eg.capture(product, eg.ones([3, 1])),
      "InvalidArgument",
      /captured function cannot use sparse/,
    );
    const weight = eg.ones([4, 2]).requiresGrad_();
    const train = (at) => {
      eg.nn.functional.embedding(at, weight, { sparse: true }).sum().backward();
    };
    assertThrows(() => eg.capture(train, int64([1])), "InvalidArgument", /sparse gradients/);
    assertTensor(eg.mm(x, eg.ones([3, 1])), [3, 9]);
  });

  test("is refused by optimizers that would read all elements", () => {
    const weight = new eg.nn.Parameter(eg.ones([4, 2]));
    eg.nn.functional
      .embedding(int64([1]), weight, { sparse: true })
      .sum()
      .backward();
    const before = weight.detach().clone();
    for (const name of ["Adam", "AdamW", "RMSprop", "Adadelta", "Rprop", "NAdam"]) {
      const own = new eg.optim[name]([weight]);
      assertThrows(() => own.step(), "InvalidArgument", new RegExp(`\\[${name}\\].*SparseAdam`));
    }
    for (const name of ["SGD", "Adagrad"]) {
      const own = new eg.optim[name]([weight], { weightDecay: 0.1 });
      assertThrows(() => own.step(), "InvalidArgument", /weightDecay: must be 0/);
    }
    weight.grad = eg.ones([4, 2]);
    const own = new eg.optim.SparseAdam([weight]);
    assertThrows(() => own.step(), "InvalidArgument", /\[SparseAdam\] expected sparse gradients/);
    assertTensor(eg.sub(weight.detach(), before), new Array(8).fill(0));
  });
});

describe("products", () => {
  test("of sampled elements need no others", () => {
    const mask = matrix();
    const a = eg.tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { requiresGrad: true },
    );
    const b = eg.tensor(
      [
        [1, 0, 2],
        [0, 1, 3],
      ],
      { requiresGrad: true },
    );
    const result = eg.sparse.sampledAddmm(mask, a, b, { beta: 2, alpha: 1 });
    assertTensor(result.toDense().detach(), [0, 0, 14, 11, 0, 28]);
    result.toDense().sum().backward();
    assertTensor(a.grad, [2, 3, 3, 3]);
    assertTensor(b.grad, [3, 0, 4, 4, 0, 6]);
  });

  test("are the dense ones, at any density and size", () => {
    eg.manualSeed(3);
    for (const [rows, inner, width, density] of [
      [30, 40, 17, 0.1],
      [1, 5, 1, 1],
      [64, 64, 33, 0.02],
    ]) {
      const dense = eg.rand([rows, inner]);
      const kept = dense.mul(eg.rand([rows, inner]).lt(density));
      const right = eg.randn([inner, width]);
      const expected = eg.mm(kept, right);
      for (const sparse of [kept.toSparse(), kept.toSparseCsr()]) {
        assertTensor(eg.mm(sparse, right), expected.dataSync(), { rtol: 1e-5, atol: 1e-5 });
        const left = eg.randn([width, rows]);
        assertTensor(eg.mm(left, sparse), eg.mm(left, kept).dataSync(), { rtol: 1e-5, atol: 1e-5 });
        const square = eg.mm(sparse, sparse.t());
        assert.equal(square.layout, sparse.layout);
        assertTensor(square.toDense(), eg.mm(kept, kept.t()).dataSync(), {
          rtol: 1e-5,
          atol: 1e-5,
        });
      }
    }
  });
});

describe("layers", () => {
  test("tables have sparse gradients", () => {
    const table = new eg.nn.Embedding(6, 2, { sparse: true, paddingIdx: 0 });
    assert.match(String(table), /sparse=True|sparse: true|sparse=true/);
    table
      .forward(
        int64([
          [1, 0],
          [1, 5],
        ]),
      )
      .sum()
      .backward();
    const { grad } = table.weight;
    assert.equal(grad.layout, "sparse_coo");
    assert.equal(grad.nnz, 3);
    assertTensor(grad.toDense(), [0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 1, 1]);
    const plain = new eg.nn.Embedding(6, 2, { paddingIdx: 0 });
    plain.loadStateDict(table.stateDict());
    plain
      .forward(
        int64([
          [1, 0],
          [1, 5],
        ]),
      )
      .sum()
      .backward();
    assertTensor(plain.weight.grad, grad.toDense().dataSync());
  });

  test("bags and options of lookups keep them sparse", () => {
    const bag = new eg.nn.EmbeddingBag(6, 2, { sparse: true, mode: "mean" });
    bag
      .forward(int64([1, 2, 2, 4]), int64([0, 2]))
      .sum()
      .backward();
    assert.equal(bag.weight.grad.layout, "sparse_coo");
    assertTensor(bag.weight.grad.toDense(), [0, 0, 0.5, 0.5, 1, 1, 0, 0, 0.5, 0.5, 0, 0]);
    const padded = new eg.nn.EmbeddingBag(6, 2, { sparse: true, mode: "sum", paddingIdx: 2 });
    padded
      .forward(int64([[1, 2, 2, 4]]))
      .sum()
      .backward();
    assert.equal(padded.weight.grad.coalesce().nnz, 2);
    const max = new eg.nn.EmbeddingBag(6, 2, { sparse: true, mode: "max" });
    assertThrows(() => max.forward(int64([[1, 2]])), "InvalidArgument", /does not support sparse/);
    const weight = new eg.nn.Parameter(eg.ones([4, 2]));
    const at = int64([1, 1, 3]);
    const options = { sparse: true, scaleGradByFreq: true, maxNorm: 1 };
    eg.nn.functional.embedding(at, weight, options).sum().backward();
    assertTensor(weight.grad.toDense(), [0, 0, 1, 1, 0, 0, 1, 1]);
  });

  test("gather has sparse gradients", () => {
    const x = eg.tensor(
      [
        [1, 2],
        [3, 4],
      ],
      { requiresGrad: true },
    );
    eg.gather(
      x,
      1,
      int64([
        [0, 0],
        [1, 0],
      ]),
      { sparseGrad: true },
    )
      .sum()
      .backward();
    assert.equal(x.grad.layout, "sparse_coo");
    assertTensor(x.grad.toDense(), [2, 0, 1, 1]);
  });

  test("zeroGrad, hooks and state dicts know sparse gradients", () => {
    const table = new eg.nn.Embedding(6, 2, { sparse: true });
    const own = new eg.optim.SparseAdam(table.parameters(), { lr: 0.1 });
    const seen = [];
    table.weight.registerHook((grad) => {
      seen.push(grad.layout);
      return grad.mul(2);
    });
    table
      .forward(int64([1]))
      .sum()
      .backward();
    assert.deepEqual(seen, ["sparse_coo"]);
    assertTensor(table.weight.grad.toDense(), [0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
    own.step();
    const saved = own.stateDict();
    const other = new eg.optim.SparseAdam(table.parameters(), { lr: 0.1 });
    other.loadStateDict(saved);
    own.zeroGrad({ setToNone: false });
    assert.equal(table.weight.grad.nnz, 0);
    own.step();
    own.zeroGrad();
    assert.equal(table.weight.grad, null);
  });

  test("training leaves nothing behind", () => {
    const table = new eg.nn.Embedding(50, 4, { sparse: true });
    const own = new eg.optim.SparseAdam(table.parameters());
    const step = () =>
      eg.scope(() => {
        own.zeroGrad();
        table
          .forward(int64([1, 3, 3]))
          .pow(2)
          .sum()
          .backward();
        own.step();
      });
    step();
    const { tensors, bytes } = eg.memory();
    for (let i = 0; i < 5; i++) step();
    assert.equal(eg.memory().tensors, tensors);
    assert.equal(eg.memory().bytes, bytes);
  });
});
