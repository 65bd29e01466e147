// eg.func.vmap: batches, nesting, randomness, in-place ops and errors. tests/js/func/func_laws.test.mjs tests the ops.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { vmap, grad } = eg.func;
const double = (data) => eg.tensor(data, { dtype: "float64" });

describe("vmap", () => {
  const [a, b] = [
    double([
      [1, 2],
      [3, 4],
    ]),
    double([
      [1, 0],
      [0, 1],
      [1, 1],
    ]),
  ];

  test("takes and returns trees, with a dimension for each", () => {
    const f = vmap(({ x, list: [y] }) => ({ sum: x.add(y), both: [x, y] }), {
      inDims: [{ x: 0, list: [null] }],
      outDims: { sum: 1, both: [0, 0] },
    });
    const { sum, both } = f({ x: a, list: [double([10, 20])] });
    assertTensor(sum, [11, 13, 22, 24]);
    assertTensor(both[1], [10, 20, 10, 20], { shape: [2, 2] });
  });

  test("takes its arguments by position too", () => {
    assertTensor(vmap((x, y) => x.add(y), [0, null], 1)(a, double([1, 1])), [2, 4, 3, 5]);
    assertTensor(grad((x, y) => x.mul(y), 1)(double(2), double(3)), [2]);
  });

  test("nests: all pairs", () => {
    const dots = vmap(
      vmap((x, y) => x.dot(y), { inDims: [null, 0] }),
      { inDims: [0, null] },
    );
    assertTensor(dots(a, b), [1, 2, 3, 3, 4, 7], { shape: [2, 3] });
  });

  test("three levels deep, with dimensions that differ", () => {
    const x = eg.arange(24, { dtype: "float64" }).reshape([2, 3, 4]);
    const f = vmap(
      vmap(
        vmap((one) => one.mul(one).add(1)),
        { inDims: 1, outDims: 1 },
      ),
      { inDims: 2, outDims: 2 },
    );
    assertTensor(f(x), x.mul(x).add(1).dataSync(), { shape: [2, 3, 4] });
  });

  test("composites work through their parts", () => {
    const x = eg.arange(24, { dtype: "float64" }).reshape([2, 3, 4]);
    assertTensor(
      vmap((one) => one.at(eg.slice(1), [0, 2]))(x),
      eg.tensor(x).at("...", eg.slice(1), [0, 2]).dataSync(),
    );
    assertTensor(
      vmap((one) => eg.einsum("ij,kj->ik", one, one))(x),
      eg.einsum("bij,bkj->bik", x, x).dataSync(),
    );
    assertTensor(
      vmap((one) => eg.einsum("ij,kj", one, one))(x),
      eg.einsum("bij,bkj->bik", x, x).dataSync(),
    );
    assertTensor(vmap((one) => one.to("float32"))(x), x.dataSync());
    assertTensor(vmap((one) => one.to("float64"))(x), x.dataSync());
    const rows = eg.tensor(
      [
        [1, 0],
        [0, 0],
      ],
      { dtype: "int64" },
    );
    assertTensor(vmap((one, row) => one.at(row))(x, rows), [
      ...x.at(0, [1, 0]).dataSync(),
      ...x.at(1, [0, 0]).dataSync(),
    ]);
    assertTensor(vmap((row) => x.at(row))(rows), x.at(rows).dataSync());
    assertTensor(vmap((one, row) => one.at(eg.slice(), row))(x, rows), [
      ...x.at(0, eg.slice(), [1, 0]).dataSync(),
      ...x.at(1, eg.slice(), [0, 0]).dataSync(),
    ]);
  });

  test("writes at positions, the samples' own and those of all", () => {
    const zeros = eg.zeros([2, 2, 3], { dtype: "float64" });
    const own = eg.tensor(
      [
        [0, 2],
        [1, 1],
      ],
      { dtype: "int64" },
    );
    const put = (x, index, value) => {
      const y = x.clone();
      y.set_([eg.slice(), index], value);
      y.set_([index.sub(index)], 7);
      return y;
    };
    const values = double([5, 6]);
    const rows = [0, 1].map((i) => put(zeros.at(i), own.at(i), values.at(i)));
    const { warn } = console;
    console.warn = () => {};
    try {
      assertTensor(
        vmap(put)(zeros, own, values),
        rows.flatMap((row) => [...row.dataSync()]),
      );
    } finally {
      console.warn = warn;
    }
    const shared = vmap((x, value) => put(x, own.at(0), value))(zeros, values);
    assertTensor(shared.at(1), put(zeros.at(1), own.at(0), values.at(1)).dataSync());
  });

  test("takes and writes elements of samples without dimensions, also beside vectors", () => {
    const int64 = (values) => eg.tensor(values, { dtype: "int64" });
    const scalars = [double([1, 2]), int64([0, 0]), double([5, 6])];
    const vectors = [
      double([
        [1, 2, 3],
        [4, 5, 6],
      ]),
      int64([[2], [0]]),
      double([[7], [8]]),
    ];
    const picks = [
      [scalars[1], scalars[2]],
      [vectors[1], vectors[2]],
    ];
    const ops = {
      gather: (x, index) => eg.gather(x, -1, index),
      scatter: (x, index, src) => eg.scatter(x, 0, index, src),
      "scatter of a number": (x, index) => eg.scatter(x, 0, index, 9),
      scatterAdd: (x, index, src) => eg.scatterAdd(x, 0, index, src),
      scatterReduce: (x, index, src) => eg.scatterReduce(x, 0, index, src, "prod"),
    };
    for (const [name, op] of Object.entries(ops)) {
      for (const x of [scalars[0], vectors[0]]) {
        for (const [index, src] of picks) {
          // A tensor of one element has no other index than 0.
          const inside = x.ndim === 1 ? index.mul(0) : index;
          const expected = eg.stack([0, 1].map((i) => op(x.at(i), inside.at(i), src.at(i))));
          const actual = vmap(op)(x, inside, src);
          assertTensor(actual, expected.dataSync(), { shape: expected.shape, message: name });
          const shared = vmap(op, { inDims: [0, null, null] })(x, inside.at(0), src.at(0));
          assert.deepEqual(shared.at(0).tolist(), actual.at(0).tolist());
        }
      }
    }
  });

  test("a batch of numbers has as little say in the dtype as a number", () => {
    const ones = eg.ones([2, 3]);
    assert.equal(vmap((x, s) => x.mul(s))(ones, double([1, 2])).dtype, "float32");
    assert.equal(vmap((s) => s.mul(double(2)))(eg.ones([2])).dtype, "float64");
  });

  test("chunks give what the whole gives", () => {
    const f = (x) => [x.mul(2), x.sum()];
    const [whole, sums] = vmap(f)(b);
    const [chunked, chunkedSums] = vmap(f, { chunkSize: 2 })(b);
    assertTensor(chunked, whole.dataSync(), { shape: [3, 2] });
    assertTensor(chunkedSums, sums.dataSync(), { shape: [3] });
  });

  test("a result that does not depend on the samples is repeated; null hands it on", () => {
    assertTensor(vmap(() => double([5, 6]))(a), [5, 6, 5, 6], { shape: [2, 2] });
    const [, same] = vmap((x) => [x, double([5])], { outDims: [0, null] })(a);
    assert.deepEqual(same.shape, [1]);
    assertThrows(() => vmap((x) => x, { outDims: null })(a), "InvalidArgument", /outDims is null/);
  });

  test("writes in place where every sample has its own", () => {
    const f = (x) => {
      const y = x.clone().add_(1).mul_(x);
      y.at(0).fill_(9);
      y.set_([1], x.at(0));
      return y;
    };
    assertTensor(vmap(f)(a), [9, 1, 9, 3]);
    const kept = a.clone();
    vmap((x) => x.mul_(2).unsqueeze_(0))(kept);
    assertTensor(kept, [2, 4, 6, 8]);
    const message = /add_ cannot write.*same for all samples/;
    assertThrows(() => vmap((x) => double([0, 0]).add_(x))(a), "InvalidArgument", message);
  });

  test("new tensors like a sample have elements of their own for every sample", () => {
    const methods = [
      (x) => x.newZeros([2]),
      (x) => x.newOnes(2, { dtype: "float64" }),
      (x) => x.newFull([2], 7),
      (x) => x.newEmpty(2),
    ];
    for (const make of methods) {
      const written = vmap((x) => make(x).copy_(x));
      assertTensor(written(a), [1, 2, 3, 4]);
      const each = vmap((x) => vmap((y) => make(y.mul(x)).copy_(y.mul(x)))(b));
      const reference = [1, 0, 0, 2, 1, 2, 3, 0, 0, 4, 3, 4];
      assertTensor(each(a), reference, { shape: [2, 3, 2] });
    }
    const filled = vmap((x) => [x.newZeros([1]), x.newFull([2], 3), x.newTensor([4])])(a);
    assert.deepEqual(
      filled.map((one) => one.arraySync()),
      [
        [[0], [0]],
        [
          [3, 3],
          [3, 3],
        ],
        [[4], [4]],
      ],
    );
    assertThrows(() => vmap((x) => b.newZeros([2]).copy_(x))(a), "InvalidArgument", /the same/);
    vmap((x) => {
      assert.deepEqual([x.layout, x.isSparse], ["strided", false]);
      return x;
    })(a);
    const leaf = vmap((x) => x.newZeros([2], { requiresGrad: true }))(a);
    assert.equal(leaf.requiresGrad, true);
  });

  test("isin and matrixExp of samples", () => {
    const [x, y] = [
      double([
        [1, 3, Number.NaN],
        [2, 4, 2],
      ]),
      double([
        [1, 2],
        [4, 5],
      ]),
    ];
    const each = (f) => [0, 1].map((i) => f(x.at(i), y.at(i)).arraySync());
    for (const invert of [false, true]) {
      const options = { invert };
      const own = (one, other) => eg.isin(one, other, options);
      assert.deepEqual(vmap(own)(x, y).arraySync(), each(own));
      const first = (one) => own(one, y.at(0));
      assert.deepEqual(vmap(first)(x).arraySync(), each(first));
      const second = (_, other) => own(x.at(0), other);
      assert.deepEqual(vmap(second)(x, y).arraySync(), each(second));
      const none = (one) => own(one, eg.zeros([0]));
      assert.deepEqual(vmap(none)(x).arraySync(), each(none));
      const number = (one) => own(one, 2);
      assert.deepEqual(vmap(number)(x).arraySync(), each(number));
      const bools = (one, other) => own(one.gt(2), other.gt(4));
      assert.deepEqual(vmap(bools)(x, y).arraySync(), each(bools));
    }
    const matrices = double([
      [
        [0, 1],
        [0, 0],
      ],
      [
        [30, 0],
        [1, 20],
      ],
    ]);
    const single = [0, 1].map((i) => eg.matrixExp(matrices.at(i)).arraySync());
    assertTensor(vmap((A) => eg.matrixExp(A))(matrices), single.flat(2), { rtol: 1e-12 });
    const derived = vmap(grad((A) => eg.matrixExp(A).sum()))(matrices);
    const expected = [0, 1].map((i) =>
      grad((A) => eg.matrixExp(A).sum())(matrices.at(i)).arraySync(),
    );
    assertTensor(derived, expected.flat(2), { rtol: 1e-12 });
    assert.deepEqual(vmap((A) => eg.matrixExp(A))(eg.zeros([0, 2, 2])).shape, [0, 2, 2]);
  });

  test("refuses what depends on data, and what leaves the engine", () => {
    assertThrows(
      () => vmap((x) => x.sum().item())(a),
      "InvalidArgument",
      /item\(\) cannot be called inside vmap/,
    );
    assertThrows(() => vmap((x) => x.nonzero())(a), "InvalidArgument", /depends on values/);
    assertThrows(
      () => vmap((x) => x.maskedSelect(x.gt(1)))(a),
      "InvalidArgument",
      /depends on values/,
    );
    assertThrows(() => vmap((x) => x.at(x.gt(1)))(a), "InvalidArgument", /depends on values/);
    assertThrows(() => vmap((x) => x.dataSync())(a), "InvalidArgument", /inside vmap/);
    assertThrows(() => vmap((x) => x.sum().backward())(a), "InvalidArgument", /eg\.func\.grad/);
    assertThrows(() => vmap(async (x) => x)(a), "InvalidArgument", /promise/);
    let escaped;
    vmap((x) => {
      escaped = x;
      return x;
    })(a);
    assertThrows(() => escaped.add(1), "InvalidArgument", /invalid after vmap/);
  });

  test("says what is wrong with dimensions and options", () => {
    assertThrows(() => vmap((x) => x, { inDim: 0 }), "InvalidArgument", /inDims/);
    assertThrows(() => vmap((x) => x, { randomness: "some" }), "InvalidArgument", /randomness/);
    assertThrows(() => vmap((x) => x, { chunkSize: 0 }), "InvalidArgument", /chunkSize/);
    assertThrows(() => vmap(3), "InvalidArgument", /a function/);
    assertThrows(() => vmap((x) => x, { inDims: 2 })(a), "IndexOutOfRange", /inDims: .*got 2/);
    assertThrows(() => vmap((x) => x, { inDims: [null] })(a), "InvalidArgument", /at least one/);
    assertThrows(() => vmap((x, y) => x.add(y))(a, b), "ShapeMismatch", /different sizes/);
    assertThrows(() => vmap((x) => x, { inDims: [0, 0] })(a), "InvalidArgument", /structure/);
    assertThrows(() => vmap(() => 3)(a), "InvalidArgument", /return only tensors/);
    assertThrows(
      () => vmap((x) => x.sum(2))(a),
      "IndexOutOfRange",
      /dim: expected a dimension in.*got 2/,
    );
  });

  test("after an error, everything is as outside", () => {
    assert.throws(() =>
      vmap(() => {
        throw new Error("mine");
      })(a),
    );
    assert.equal(a.sum().item(), 10);
    assertTensor(eg.rand([2]).mul(0), [0, 0]);
  });

  test("scopes in the function and around it", () => {
    const before = eg.memory().jsHandles;
    eg.scope(() => {
      const result = vmap((x) => eg.scope(() => x.add(1).mul(x)))(a);
      assertTensor(result, [2, 6, 12, 20]);
    });
    assert.equal(eg.memory().jsHandles, before);
  });

  test("warns once of an op that runs sample by sample", () => {
    const warnings = [];
    const { warn } = console;
    console.warn = (text) => warnings.push(text);
    try {
      const mask = eg.tensor([true, false]);
      const run = () => vmap((x) => eg.maskedScatter(x, mask, x.mul(2)))(a);
      assertTensor(run(), [2, 2, 6, 4]);
      run();
    } finally {
      console.warn = warn;
    }
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /maskedScatter .*sample by sample/);
  });
});

describe("randomness in vmap", () => {
  test("draws what PyTorch draws", () => {
    // Computed by PyTorch with torch.manual_seed(5), in this order.
    eg.manualSeed(5);
    const different = { randomness: "different" };
    const drawn = vmap((x) => x.add(eg.rand([2])), different)(eg.zeros([3, 2]));
    assertTensor(
      drawn,
      [0.8302518725, 0.1261109114, 0.9074696898, 0.8199270368, 0.920103431, 0.1166452169],
      {
        atol: 1e-7,
      },
    );
    assertTensor(
      vmap((x) => eg.dropout(x), different)(eg.ones([3, 4])),
      [2, 2, 0, 0, 0, 0, 2, 2, 2, 0, 2, 2],
    );
    const same = vmap((x) => eg.dropout(x), { randomness: "same" })(eg.ones([3, 4]));
    assertTensor(same, [2, 2, 2, 0, 2, 2, 2, 0, 2, 2, 2, 0]);
    assertTensor(
      vmap((x) => x.add(eg.randperm(3)), different)(eg.zeros([2, 3])),
      [2, 0, 1, 1, 2, 0],
    );
    const normal = vmap((x) => x.add(eg.randn([2])), { randomness: "same" })(eg.zeros([2, 2]));
    assertTensor(normal, [-0.2187143862, 0.1640841961, -0.2187143862, 0.1640841961], {
      atol: 1e-6,
    });
  });

  test("is an error where nothing is said, also for tensors without a batch", () => {
    const message = /randomness: "error"/;
    const x = eg.ones([2, 3]);
    assertThrows(() => vmap(() => eg.randn([2]))(x), "InvalidArgument", message);
    assertThrows(() => vmap((one) => eg.dropout(one, 0.5))(x), "InvalidArgument", message);
    assertThrows(() => vmap((one) => one.clone().normal_())(x), "InvalidArgument", message);
    assertTensor(vmap((one) => eg.dropout(one, 0.5, false))(x), x.dataSync());
  });

  test("in place: for every sample, or once for all", () => {
    const x = eg.zeros([2, 3]);
    const [first, second] = vmap((one) => one.clone().uniform_(), { randomness: "same" })(x);
    assertTensor(first, second.dataSync());
    const [third, fourth] = vmap((one) => one.clone().uniform_(), { randomness: "different" })(x);
    assert.notDeepEqual(third.dataSync(), fourth.dataSync());
    const fill = (one) => one.add(eg.zeros([3]).uniform_());
    assertThrows(
      () => vmap(fill, { randomness: "different" })(x),
      "InvalidArgument",
      /same for all samples/,
    );
  });

  test("gradients pass the mask", () => {
    const x = double([[1, 2, 3, 4]]);
    const f = (one) => eg.dropout(one, 0.5).sum();
    const g = vmap(grad(f), { randomness: "different" })(x);
    assert.ok(g.dataSync().every((value) => value === 0 || value === 2));
  });
});
