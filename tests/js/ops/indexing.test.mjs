// Indexing with tensors, masks and arrays: at() and set_().

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

// Element (i, j, k) is 12 i + 4 j + k.
const make = (options) => eg.arange(24, { dtype: "float64", ...options }).reshape(2, 3, 4);
const ints = (...values) => eg.tensor(values, { dtype: "int64" });

describe("at with tensors and lists", () => {
  test("takes slices along the dimension of an index", () => {
    const x = make();
    assertTensor(x.at(ints(1)), x.at(1).dataSync(), { shape: [1, 3, 4] });
    assertTensor(x.at(0, [2, 0, 2]), [8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11], { shape: [3, 4] });
    assertTensor(x.at("...", 0, [[3], [1]]), [3, 1, 15, 13], { shape: [2, 2, 1] });
    assert.deepEqual(x.at(eg.slice(), [0, 1, 1, 2]).shape, [2, 4, 4]);
  });

  test("counts negative positions from the end", () => {
    assertTensor(make().at(-1, [-1, -3], [0, -4]), [20, 12]);
  });

  test("pairs several indices, broadcast, in the place of the dimensions side by side", () => {
    const x = make();
    assertTensor(x.at([0, 1], [2, 0], [3, 1]), [11, 13], { shape: [2] });
    assertTensor(x.at(eg.slice(), [0, 2], [1, 3]), [1, 11, 13, 23], { shape: [2, 2] });
    assertTensor(x.at(1, [[0], [2]], [1, 3]), [13, 15, 21, 23], { shape: [2, 2] });
    assert.deepEqual(x.at(null, [0], [1, 2]).shape, [1, 2, 4]);
  });

  test("puts the new dimensions in front when the indices are apart", () => {
    const x = make();
    assertTensor(x.at([1, 0], eg.slice(), [0, 3]), [12, 16, 20, 3, 7, 11], { shape: [2, 3] });
    assertTensor(x.at([1, 0], eg.slice(1), [0, 3]), [16, 20, 7, 11], { shape: [2, 2] });
    assertTensor(x.at([1, 0], null, [0, 1]), x.at([1, 0], [0, 1]).dataSync(), { shape: [2, 1, 4] });
  });

  test("an integer selects before the tensors pick, as in PyTorch", () => {
    assertTensor(make().at(0, eg.slice(), [1, 2]), [1, 2, 5, 6, 9, 10], { shape: [3, 2] });
    const view = make().at(eg.tensor(1n), ints(0));
    assert.deepEqual(view.shape, [1, 4]);
  });

  test("a tensor of one position without dimensions gives a view", () => {
    const x = make();
    assert.ok(x.at(eg.tensor(-1n)).isView);
    assert.equal(x.at(eg.tensor(-1, { dtype: "int32" }), 0, 0).item(), 12);
    assert.ok(!x.at([0]).isView);
  });

  test("takes nothing for an empty list", () => {
    assert.deepEqual(make().at([]).shape, [0, 3, 4]);
    assert.deepEqual(make().at(eg.slice(), []).shape, [2, 0, 4]);
    assert.deepEqual(eg.zeros([0, 2]).at(eg.slice(), [1, 0, 1]).shape, [0, 3]);
  });

  test("takes int32 positions and every dtype of elements", () => {
    const index = eg.tensor([1, 0], { dtype: "int32" });
    for (const dtype of ["float32", "int32", "int64", "uint8", "bool"]) {
      const picked = eg.tensor([0, 1], { dtype }).at(index);
      assert.equal(picked.dtype, dtype);
      assertTensor(picked.to("int64"), [1, 0]);
    }
  });

  test("reads a tensor with strides", () => {
    const x = make().transpose(0, 2);
    assertTensor(x.at([3, 0], 1, [1, 0]), [19, 4]);
    assertTensor(x.at([1], eg.slice(0, 3, 2)), [1, 13, 9, 21], { shape: [1, 2, 2] });
  });
});

describe("at with masks", () => {
  test("takes the elements where a mask is true, in its place", () => {
    const x = make();
    assertTensor(x.at(x.gt(20)), [21, 22, 23], { shape: [3] });
    assertTensor(x.at([false, true]), x.at([1]).dataSync(), { shape: [1, 3, 4] });
    assertTensor(x.at(1, [true, false, true], 0), [12, 20]);
    const rows = eg.tensor([
      [true, false, false],
      [false, true, true],
    ]);
    assertTensor(x.at(rows), [0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23], { shape: [3, 4] });
    assertTensor(x.at(rows, [0, 1, 2]), [0, 17, 22]);
    assertTensor(x.at(rows, eg.slice(1, 2)), [1, 17, 21], { shape: [3, 1] });
  });

  test("a uint8 tensor is a mask", () => {
    assertTensor(eg.tensor([5, 6, 7]).at(eg.tensor(new Uint8Array([2, 0, 1]))), [5, 7]);
  });

  test("a single boolean adds a dimension of one or no elements", () => {
    assert.deepEqual(make().at(true).shape, [1, 2, 3, 4]);
    assert.deepEqual(make().at(false).shape, [0, 2, 3, 4]);
    assertTensor(eg.tensor(7).at(eg.tensor(7).gt(1)), [7], { shape: [1] });
  });
});

describe("the gradient of at", () => {
  test("adds up where positions meet", () => {
    const x = eg.ones([3, 2], { requiresGrad: true });
    const y = x.at([0, 2, 0]);
    assert.equal(y.gradFn.name, "IndexBackward0");
    y.mul(eg.tensor([[1], [2], [4]]))
      .sum()
      .backward();
    assertTensor(x.grad, [5, 5, 0, 0, 2, 2]);
  });

  test("is zero where a mask is false", () => {
    const x = eg.tensor([1, 2, 3], { requiresGrad: true });
    x.at(x.gt(1)).square().sum().backward();
    assertTensor(x.grad, [0, 4, 6]);
  });
});

describe("set_ with tensors, masks and lists", () => {
  test("writes numbers and broadcast tensors", () => {
    const x = eg.zeros([3, 3]);
    assert.equal(x.set_([[0, 2]], 1), x);
    x.set_([eg.slice(), [1]], eg.tensor([[5], [6], [7]]));
    x.set_(
      [
        [0, 1],
        [0, 1],
      ],
      eg.tensor([[[8, 9]]]),
    );
    assertTensor(x, [8, 5, 1, 0, 9, 0, 1, 7, 1]);
  });

  test("writes where a mask is true", () => {
    const x = eg.tensor([0, 1, 2, 3]);
    x.set_([x.gt(1)], -1);
    assertTensor(x, [0, 1, -1, -1]);
    x.set_([x.lt(0)], eg.tensor([5, 6]));
    assertTensor(x, [0, 1, 5, 6]);
    x.set_([[false, false, false, false]], 3);
    assertTensor(x, [0, 1, 5, 6]);
  });

  test("writes through a view with strides into its base, and rewrites its history", () => {
    const base = eg.ones([2, 3], { requiresGrad: true }).mul(1);
    const values = eg.tensor([10, 20], { requiresGrad: true });
    const leaf = base.gradFn;
    base.t().set_([[0, 2], 1], values);
    assertTensor(base, [1, 1, 1, 10, 1, 20]);
    assert.notEqual(base.gradFn.name, leaf.name);
    const weights = eg.arange(6).reshape(2, 3);
    const [g] = eg.autograd.grad(base.mul(weights).sum(), [values]);
    assertTensor(g, [3, 5]);
  });

  test("stops the gradient of what it writes over", () => {
    const x = eg.ones([4], { requiresGrad: true });
    const y = x.mul(3);
    y.set_([[1, 2]], 0);
    assert.equal(y.gradFn.name, "IndexPutBackward0");
    y.sum().backward();
    assertTensor(x.grad, [3, 0, 0, 3]);
  });

  test("keeps the last value where positions meet", () => {
    const x = eg.zeros([2]);
    x.set_([[0, 0, 1, 0]], eg.tensor([1, 2, 3, 4]));
    assertTensor(x, [4, 3]);
  });

  test("reads its own memory before writing", () => {
    const x = eg.arange(4);
    x.set_([[0, 1, 2, 3]], x.flip(0));
    assertTensor(x, [3, 2, 1, 0]);
    x.set_([[0, 1, 2]], x.at(eg.slice(1)).clone());
    assertTensor(x, [2, 1, 0, 0]);
    for (const values of [x.at(eg.slice(1)), x.at(eg.slice(0, 3)), x.narrow(0, 0, 3)]) {
      assertThrows(() => x.set_([[0, 1, 2]], values), "InvalidArgument", /x\.clone\(\)/);
    }
  });

  test("leaves dimensions of one element in front of a value out", () => {
    const x = eg.zeros([3]);
    x.set_([eg.slice(0, 2)], eg.tensor([[[1, 2]]]));
    x.set_([[2]], eg.tensor([[7]]));
    assertTensor(x, [1, 2, 7]);
  });

  test("frees the tensors it makes on the way", () => {
    const x = eg.zeros([3]);
    const value = eg.tensor([[1, 2]]);
    const { jsHandles } = eg.memory();
    x.set_([[0, 1]], value);
    assert.equal(eg.memory().jsHandles, jsHandles);
  });
});

describe("nonzero", () => {
  const x = eg.tensor([
    [0, 1, 2],
    [3, 0, 4],
  ]);
  const rows = [
    [0, 1],
    [0, 2],
    [1, 0],
    [1, 2],
  ];

  test("has a row per element, or with asTuple a tensor per axis", () => {
    for (const of of [(...rest) => eg.nonzero(x, ...rest), (...rest) => x.nonzero(...rest)]) {
      for (const rest of [[], [{ asTuple: false }], [false], [{}]]) {
        assert.deepEqual(of(...rest).arraySync(), rows);
      }
      for (const rest of [[{ asTuple: true }], [true]]) {
        const axes = of(...rest);
        assert.deepEqual(
          axes.map((axis) => [axis.dtype, axis.arraySync()]),
          [0, 1].map((k) => ["int64", rows.map((row) => row[k])]),
        );
        assert.deepEqual(x.at(...axes).arraySync(), [1, 2, 3, 4]);
      }
    }
  });

  test("takes a tensor without dimensions as a list of one, and empty ones", () => {
    const axesOf = (one) => eg.nonzero(one, { asTuple: true }).map((axis) => axis.arraySync());
    assert.deepEqual(axesOf(eg.tensor(3)), [[0]]);
    assert.deepEqual(axesOf(eg.tensor(0)), [[]]);
    assert.deepEqual(axesOf(eg.zeros([2, 0])), [[], []]);
  });

  test("refuses what it does not know", () => {
    assertThrows(() => x.nonzero({ as_tuple: true }), "InvalidArgument", /"asTuple"/);
    assertThrows(() => eg.nonzero([1]), "InvalidArgument", /\[nonzero\] input/);
  });
});

describe("indexPut", () => {
  test("adds up where positions meet when it accumulates", () => {
    const x = eg.ones([3]);
    const y = x.indexPut([ints(0, 0, 2)], eg.tensor([1, 2, 3]), { accumulate: true });
    assertTensor(y, [4, 1, 4]);
    assertTensor(x, [1, 1, 1]);
    x.indexPut_([x.gt(0)], 0);
    assertTensor(x, [0, 0, 0]);
  });
});

describe("wrong indices are refused by name", () => {
  const x = eg.zeros([3, 2]);
  const cases = [
    [() => x.at([5]), "IndexOutOfRange", /index 5 is out of range for dimension 0 of size 3/],
    [() => x.at(0, [-3]), "IndexOutOfRange", /index -3 is out of range for dimension 0 of size 2/],
    [() => x.at([0], [0], [0]), "IndexOutOfRange", /3 indices.*2 dimensions/],
    [
      () => x.at([true, false]),
      "ShapeMismatch",
      /mask of shape \[2\] cannot index a tensor of shape \[3, 2\]/,
    ],
    [() => x.at([0, 1], [0, 1, 1]), "ShapeMismatch", /shapes \[2\] and \[3\] cannot be broadcast/],
    [() => x.at(eg.tensor([0.5])), "DtypeMismatch", /int64, int32, bool or uint8, got float32/],
    [() => x.at([0.5]), "InvalidArgument", /whole numbers/],
    [() => x.at("0"), "InvalidArgument", /an index is/],
    [
      () => x.set_([[0, 1]], eg.zeros([3, 2])),
      "ShapeMismatch",
      /values of shape \[3, 2\] cannot be broadcast .* of shape \[2, 2\]/,
    ],
    [
      () => x.set_([[0]], eg.zeros([1, 2], { dtype: "int32" })),
      "DtypeMismatch",
      /the same dtype, got float32 and int32/,
    ],
    [
      () => eg.zeros([3], { requiresGrad: true }).set_([[0]], 1),
      "LeafInPlace",
      /a leaf that requires a gradient/,
    ],
  ];
  for (const [run, code, text] of cases)
    test(`${code}: ${text}`, () => assertThrows(run, code, text));
});
