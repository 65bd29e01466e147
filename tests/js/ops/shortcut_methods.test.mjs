// Convenience methods that PyTorch programs use on tensors besides the ops.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const matrix = () => eg.arange(6, { dtype: "float32" }).reshape(2, 3);

describe("views:", () => {
  test("T is a view of a matrix with its dimensions swapped, and of a list the list", () => {
    const x = matrix();
    assert.deepEqual(x.T.tolist(), x.t().tolist());
    assert.ok(x.T.isView);
    assert.deepEqual(eg.arange(3).T.shape, [3]);
    assertThrows(() => eg.ones([2, 3, 4]).T, "ShapeMismatch", /^\[T\] .*mT/);
  });

  test("mT swaps the last two dimensions, and wants two", () => {
    assert.deepEqual(eg.ones([2, 3, 4]).mT.shape, [2, 4, 3]);
    assertThrows(() => eg.ones([2]).mT, "ShapeMismatch", /^\[mT\] /);
  });

  test("H and mH conjugate too", () => {
    const z = eg.complex(matrix(), matrix().add(1));
    for (const result of [z.H, z.mH]) assert.ok(result.equal(z.conj().t()));
    assert.deepEqual(matrix().H.tolist(), matrix().T.tolist());
    assertThrows(() => eg.ones([2]).H, "ShapeMismatch", /^\[H\] /);
  });

  test("they leave one handle each, and gradients go through them", () => {
    const z = eg.complex(matrix(), matrix());
    for (const name of ["T", "mT", "H", "mH"]) {
      const before = eg.memory().jsHandles;
      z[name];
      assert.equal(eg.memory().jsHandles - before, 1, name);
    }
    const x = matrix().requiresGrad_();
    x.T.mul(eg.arange(6).reshape(3, 2)).sum().backward();
    assert.deepEqual(x.grad.tolist(), eg.arange(6).reshape(3, 2).t().tolist());
  });
});

test("size() is the shape, size(dim) one of it", () => {
  const x = matrix();
  assert.deepEqual(x.size(), [2, 3]);
  assert.deepEqual([x.size(0), x.size(-1), x.size(-2)], [2, 3, 2]);
  assert.equal(x.dim(), 2);
  for (const dim of [2, -3, 0.5, "0"]) assertThrows(() => x.size(dim), "IndexOutOfRange");
});

test("conversions go by the names of PyTorch's types", () => {
  const names = {
    float: "float32",
    double: "float64",
    int: "int32",
    long: "int64",
    byte: "uint8",
    bool: "bool",
  };
  for (const [name, dtype] of Object.entries(names)) {
    assert.deepEqual(eg.tensor([0.5, 2])[name]().tolist(), eg.tensor([0.5, 2]).to(dtype).tolist());
    assert.equal(eg.tensor([0.5, 2])[name]().dtype, dtype);
  }
  assert.equal(eg.ones([2]).typeAs(eg.tensor([1n])).dtype, "int64");
  assert.equal(eg.ones([2]).cpu().device, "cpu");
});

test("what elements are", () => {
  assert.deepEqual(
    ["float32", "float64", "int64", "bool", "complex64"].map((dtype) => {
      const x = eg.zeros([2], { dtype });
      return [x.elementSize(), x.isFloatingPoint(), x.isComplex()];
    }),
    [
      [4, true, false],
      [8, true, false],
      [8, false, false],
      [1, false, false],
      [8, false, true],
    ],
  );
  assert.equal(eg.tensor(3).tolist(), 3);
  assert.deepEqual(matrix().T.ravel().tolist(), [0, 3, 1, 4, 2, 5]);
  for (const ravel of [(x) => x.ravel(), eg.ravel]) {
    const everySecond = ravel(eg.arange(6).asStrided([3], [2]));
    assert.deepEqual([everySecond.tolist(), everySecond.strides], [[0, 2, 4], [1]]);
    assert.deepEqual(ravel(eg.ones([1]).expand(4)).strides, [1]);
  }
});

describe("new tensors have the dtype of the one they are made from:", () => {
  const like = eg.ones([2], { dtype: "float64" });
  const calls = {
    newZeros: [like.newZeros(2, 3), eg.zeros([2, 3], { dtype: "float64" })],
    newOnes: [like.newOnes([2]), eg.ones([2], { dtype: "float64" })],
    newFull: [like.newFull([2], 7), eg.full([2], 7, { dtype: "float64" })],
    newTensor: [like.newTensor([1, 2]), eg.tensor([1, 2], { dtype: "float64" })],
    "newOnes with a dtype": [
      like.newOnes([2], { dtype: "int32" }),
      eg.ones([2], { dtype: "int32" }),
    ],
  };
  for (const [name, [actual, expected]] of Object.entries(calls)) {
    test(name, () => {
      assert.equal(actual.dtype, expected.dtype);
      assert.deepEqual(actual.tolist(), expected.tolist());
    });
  }

  test("newEmpty", () => assert.deepEqual(like.newEmpty(2, 0).shape, [2, 0]));

  test("they are separate leaves, and require gradients on request", () => {
    assert.equal(like.clone().requiresGrad_().newOnes([2]).requiresGrad, false);
    assert.equal(like.newOnes([2], { requiresGrad: true }).requiresGrad, true);
  });

  test("their errors are their own", () => {
    assertThrows(() => like.newZeros([2], { dtyp: "int32" }), "InvalidArgument", /^\[newZeros\] /);
    assertThrows(() => like.newFull([-2], 1), "InvalidArgument", /^\[newFull\] /);
  });
});

describe("limits of dtypes", () => {
  test("finfo() has those of floats", () => {
    assert.equal(eg.finfo().eps, Math.fround(eg.finfo().eps));
    assert.equal(Math.fround(1 + eg.finfo("float32").eps / 2), 1);
    assert.equal(eg.finfo("float64").eps, Number.EPSILON);
    assert.equal(eg.finfo("complex128").max, Number.MAX_VALUE);
    assert.equal(eg.finfo("float32").max, 3.4028234663852886e38);
    assert.equal(eg.finfo("float32").tiny, 1.1754943508222875e-38);
    assert.equal(eg.finfo("float64").smallestNormal, 2.2250738585072014e-308);
    assertThrows(() => eg.finfo("int32"), "DtypeMismatch", /^\[finfo\] /);
  });

  test("iinfo() has those of integers", () => {
    assert.deepEqual([eg.iinfo("uint8").min, eg.iinfo("uint8").max], [0, 255]);
    assert.equal(eg.iinfo("int32").max, 2147483647);
    assert.equal(eg.iinfo("int64").max, 9223372036854775807n);
    assertThrows(() => eg.iinfo("float32"), "DtypeMismatch", /^\[iinfo\] /);
  });
});

describe("where() and norm() as PyTorch's programs call them", () => {
  test("where() of a condition has its positions, one tensor per axis", () => {
    const [rows, columns] = eg.where(eg.eye(2).eq(1));
    assert.deepEqual(
      [rows.tolist(), columns.tolist()],
      [
        [0, 1],
        [0, 1],
      ],
    );
    assert.equal(rows.dtype, "int64");
    assertThrows(() => eg.where(), "InvalidArgument", /^\[where\] /);
    assertThrows(() => eg.where(eg.ones([2]), 1), "InvalidArgument", /^\[where\] /);
  });

  test("norm() takes names", () => {
    const x = eg.tensor([
      [3, 0],
      [0, 4],
    ]);
    assert.equal(x.shape.length, 2);
    assert.equal(eg.norm(x, "fro").item(), 5);
    assert.equal(eg.norm(x, "nuc").item(), 7);
    assert.deepEqual(eg.norm(x, { p: "nuc", keepdim: true }).shape, [1, 1]);
    assertThrows(() => eg.norm(x, "max"), "InvalidArgument", /^\[norm\] p: .*"nuc"/);
    assertThrows(() => eg.norm(x, "nuc", 0), "InvalidArgument", /^\[norm\] /);
  });
});
