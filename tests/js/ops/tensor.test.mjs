// Creating, reading and indexing tensors.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

describe("eg.tensor", () => {
  test("takes the dtype of a typed array", () => {
    const cases = [
      [new Float32Array(1), "float32"],
      [new Float64Array(1), "float64"],
      [new Int32Array(1), "int32"],
      [new BigInt64Array(1), "int64"],
      [new Uint8Array(1), "uint8"],
      [new Int8Array(1), "int8"],
      [new Int16Array(1), "int16"],
      [new Uint32Array(1), "int64"],
    ];
    for (const [data, dtype] of cases) assert.equal(eg.tensor(data).dtype, dtype);
  });

  test("gives numbers float32, booleans bool, bigints int64 and pairs complex64", () => {
    assert.equal(eg.tensor([1, 2]).dtype, "float32");
    assert.equal(eg.tensor([true, false]).dtype, "bool");
    assert.equal(eg.tensor([1n]).dtype, "int64");
    assert.equal(eg.tensor([{ re: 1, im: 2 }]).dtype, "complex64");
    assert.equal(eg.tensor([1, true]).dtype, "float32");
    assert.equal(eg.tensor([]).dtype, "float32");
  });

  test("takes the shape of nested arrays, also empty ones", () => {
    assert.deepEqual(eg.tensor(3).shape, []);
    assert.deepEqual(eg.tensor([[1, 2, 3]]).shape, [1, 3]);
    assert.deepEqual(eg.tensor([[], []]).shape, [2, 0]);
    assert.deepEqual(eg.tensor([new Float32Array(3), new Float32Array(3)]).shape, [2, 3]);
  });

  test("takes a shape beside flat data", () => {
    const x = eg.tensor(new Float32Array([1, 2, 3, 4, 5, 6]), { shape: [2, 3] });
    assert.deepEqual(x.arraySync(), [
      [1, 2, 3],
      [4, 5, 6],
    ]);
    assert.deepEqual(x.strides, [3, 1]);
  });

  test("converts to the requested dtype", () => {
    assert.deepEqual(eg.tensor([1.9, -1.9], { dtype: "int64" }).arraySync(), [1, -1]);
    assert.deepEqual(eg.tensor([0, 2], { dtype: "bool" }).arraySync(), [false, true]);
    assert.equal(eg.tensor(new Float32Array(4), { dtype: "complex64" }).numel, 2);
  });

  test("copies a tensor", () => {
    const x = eg.tensor([1, 2], { requiresGrad: true });
    const y = eg.tensor(x);
    y.add_(1);
    assert.deepEqual(x.arraySync(), [1, 2]);
    assert.equal(y.requiresGrad, false);
    assert.equal(eg.tensor(x, { dtype: "float64" }).dtype, "float64");
  });

  test("refuses ragged data and shapes that do not fit", () => {
    assertThrows(() => eg.tensor([[1, 2], [3]]), "ShapeMismatch", /2 and 1/);
    assertThrows(() => eg.tensor([1, [2]]), "ShapeMismatch");
    assertThrows(() => eg.tensor([[1], 2]), "ShapeMismatch");
    assertThrows(() => eg.tensor([1, 2, 3], { shape: [2, 2] }), "ShapeMismatch", /3 elements/);
    assertThrows(() => eg.tensor([1], { shape: [-1] }), "InvalidArgument");
    assertThrows(() => eg.tensor(["a"]), "InvalidArgument", /"a"/);
    assertThrows(() => eg.tensor([1], { dtype: "float8" }), "InvalidArgument", /float8/);
    assertThrows(() => eg.tensor([Number.NaN], { dtype: "int64" }), "InvalidArgument", /int64/);
  });

  test("refuses a gradient for integers and leaves nothing behind", () => {
    const { jsHandles } = eg.memory();
    assertThrows(() => eg.tensor([1n], { requiresGrad: true }), "NotDifferentiable");
    assert.equal(eg.memory().jsHandles, jsHandles);
  });

  test("refuses devices that are not there", () => {
    assertThrows(() => eg.tensor([1], { device: "webgpu" }), "DeviceUnavailable");
    assertThrows(() => eg.zeros([1], { device: "tpu" }), "InvalidArgument", /tpu/);
  });
});

describe("factories", () => {
  test("take a list of sizes, sizes one by one, and options", () => {
    assert.deepEqual(eg.zeros([2, 3]).shape, [2, 3]);
    assert.deepEqual(eg.zeros(2, 3).shape, [2, 3]);
    assert.deepEqual(eg.ones(2, { dtype: "int64" }).arraySync(), [1, 1]);
    assert.deepEqual(eg.full([2], 1.5).arraySync(), [1.5, 1.5]);
    assert.deepEqual(eg.arange(3).arraySync(), [0, 1, 2]);
    assert.equal(eg.randn([2], { requiresGrad: true }).requiresGrad, true);
    assert.equal(eg.zerosLike(eg.ones([2], { dtype: "float64" })).dtype, "float64");
  });
});

describe("reading", () => {
  test("item() returns numbers, booleans, pairs, and bigints where numbers are not exact", () => {
    assert.equal(eg.tensor([1.5]).item(), 1.5);
    assert.equal(eg.tensor(true).item(), true);
    assert.equal(eg.tensor(5n).item(), 5);
    assert.equal(eg.tensor(2n ** 60n).item(), 2n ** 60n);
    assert.deepEqual(eg.tensor({ re: 1, im: -2 }).item(), { re: 1, im: -2 });
    assertThrows(
      () => eg.tensor([1, 2]).item(),
      "InvalidArgument",
      /expected a tensor with one element.*\[2/,
    );
  });

  test("data comes as a copy in row-major order, whatever the strides", async () => {
    const x = eg.tensor([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    const y = x.transpose(0, 1);
    assert.equal(y.isContiguous, false);
    assert.deepEqual([...y.dataSync()], [1, 4, 2, 5, 3, 6]);
    assert.deepEqual(await y.array(), [
      [1, 4],
      [2, 5],
      [3, 6],
    ]);
    const copy = await x.data();
    copy[0] = 9;
    assert.equal(x.at(0, 0).item(), 1);
    assert.equal(copy.buffer instanceof ArrayBuffer, true);
    assert.equal(await x.at(1, 2).itemAsync(), 6);
  });
});

describe("at and set_", () => {
  const make = () => eg.arange(24).reshape(2, 3, 4);

  test("take integers, ranges, new axes and dots", () => {
    const x = make();
    assert.equal(x.at(1, -1, 0).item(), 20);
    assert.deepEqual(x.at(0, eg.slice(1), eg.slice(0, 4, 2)).arraySync(), [
      [4, 6],
      [8, 10],
    ]);
    assert.deepEqual(x.at("...", 0).shape, [2, 3]);
    assert.deepEqual(x.at(0, "...", eg.slice(-2)).shape, [3, 2]);
    assert.deepEqual(x.at(null, 0).shape, [1, 3, 4]);
    assert.deepEqual(x.at("...", null).shape, [2, 3, 4, 1]);
    assert.deepEqual(x.at().shape, [2, 3, 4]);
  });

  test("set_ writes numbers and tensors into the view", () => {
    const x = eg.zeros([2, 3]);
    assert.equal(x.set_([0], 1), x);
    x.set_([eg.slice(), 2], eg.tensor([5, 6]));
    assert.deepEqual(x.arraySync(), [
      [1, 1, 5],
      [0, 0, 6],
    ]);
  });

  test("a gradient flows through both", () => {
    const x = eg.ones([3], { requiresGrad: true });
    const y = x.mul(2);
    y.set_([0], 7);
    y.at(eg.slice(0, 2)).sum().backward();
    assertTensor(x.grad, [0, 2, 0]);
  });

  test("refuse indices that do not fit", () => {
    const x = make();
    assertThrows(() => x.at(2), "IndexOutOfRange", /out of range for dimension 0 of size 2/);
    assertThrows(() => x.at(0, 0, 0, 0), "IndexOutOfRange", /4 indices.*dimensions/);
    assertThrows(() => x.at("...", "..."), "InvalidArgument");
    assertThrows(() => x.at(0.5), "InvalidArgument");
    assertThrows(
      () => x.at(0, 5),
      "IndexOutOfRange",
      /index 5 is out of range for dimension 1 of size 3/,
    );
  });
});

describe("to", () => {
  test("converts, and keeps the data when there is nothing to convert", () => {
    const x = eg.tensor([1.5, 2.5]);
    assert.deepEqual(x.to("int64").arraySync(), [1, 2]);
    assert.equal(x.to({ dtype: "float64" }).dtype, "float64");
    assert.equal(x.to(eg.zeros([1], { dtype: "int32" })).dtype, "int32");
    const same = x.to("cpu");
    same.add_(1);
    assert.deepEqual(x.arraySync(), [2.5, 3.5]);
    assertThrows(() => x.to("webgpu"), "DeviceUnavailable");
    assertThrows(() => x.to("float8"), "InvalidArgument", /float8/);
  });
});

describe("calls", () => {
  test("take optional arguments by position, by name, or mixed", () => {
    const x = eg.ones([2, 3]);
    for (const y of [
      x.sum(1, true),
      x.sum({ dim: 1, keepdim: true }),
      x.sum(1, { keepdim: true }),
    ]) {
      assert.deepEqual(y.shape, [2, 1]);
    }
    assert.deepEqual(eg.sum(x, { dim: [0, 1] }).item(), 6);
    assert.deepEqual(x.sum(undefined, true).shape, [1, 1]);
  });

  test("name the argument that is wrong", () => {
    const x = eg.ones([2]);
    assertThrows(
      () => x.add("a"),
      "InvalidArgument",
      /\[add\] other: expected a tensor or a number/,
    );
    assertThrows(() => x.sum(0.5), "InvalidArgument", /dim: expected a whole number/);
    assertThrows(() => x.sum({ dims: 0 }), "InvalidArgument", /unknown option "dims"/);
    assertThrows(() => x.sum(0, { dim: 0 }), "InvalidArgument", /given twice/);
    assertThrows(() => x.sum(0, false, null, 4), "InvalidArgument", /too many arguments/);
    assertThrows(() => eg.matmul(x), "InvalidArgument", /other: expected a tensor, got nothing/);
  });

  test("take lists longer than the call frame", () => {
    const parts = Array.from({ length: 700 }, (_, i) => eg.full([1], i));
    const joined = eg.cat(parts);
    assert.equal(joined.numel, 700);
    assert.equal(joined.at(699).item(), 699);
    const pieces = joined.split(1);
    assert.equal(pieces.length, 700);
    assert.equal(pieces[500].item(), 500);
  });
});

describe("whole numbers that do not fit", () => {
  const overflow = /without overflow/;

  test("are refused when a tensor is made of them", () => {
    for (const [value, dtype] of [
      [256, "uint8"],
      [-256, "uint8"],
      [300.7, "uint8"],
      [2 ** 31, "int32"],
      [3e9, "int32"],
      [Number.NaN, "int32"],
      [1e20, "int64"],
      [Number.NaN, "int64"],
      [2n ** 63n, "int64"],
    ]) {
      assertThrows(() => eg.tensor([value], { dtype }), "InvalidArgument", overflow);
      assertThrows(() => eg.tensor(value, { dtype }), "InvalidArgument", overflow);
    }
    assert.equal(eg.tensor([-1], { dtype: "uint8" }).item(), 255);
    assert.equal(eg.tensor([255.9], { dtype: "uint8" }).item(), 255);
    assert.equal(eg.tensor([-(2 ** 31)], { dtype: "int32" }).item(), -(2 ** 31));
    assert.equal(eg.tensor([-(2n ** 63n)]).item(), -(2n ** 63n));
  });

  test("wrap around between typed arrays, as casts do", () => {
    assert.equal(eg.tensor(Int16Array.of(300), { dtype: "uint8" }).item(), 44);
    const row = Float32Array.of(1, 2);
    assert.deepEqual(eg.tensor([row, row], { dtype: "int32" }).arraySync(), [
      [1, 2],
      [1, 2],
    ]);
    assertThrows(() => eg.tensor([[[1, 2]], row], { dtype: "int32" }), "ShapeMismatch");
    assertThrows(() => eg.tensor([[row, row], row]), "ShapeMismatch");
  });

  test("are refused by ops", () => {
    for (const call of [
      () => eg.full([1], 2n ** 63n),
      () => eg.ones([1]).add(2n ** 64n),
      () => eg.arange(-(2n ** 63n) - 1n),
    ]) {
      assertThrows(call, "InvalidArgument", /64 bits/);
    }
  });
});

test("empty vectors are joined along any dimension", () => {
  const none = eg.zeros([0]);
  for (const dim of [0, 1, 5, -2]) {
    assert.deepEqual(eg.cat([none, none], dim).shape, [0]);
    assert.deepEqual(eg.cat([none], dim).shape, [0]);
  }
  assert.equal(eg.cat([none, none.to("float64")], 1).dtype, "float64");
  assert.deepEqual(eg.cat([none, eg.ones([2, 2]), none], 1).shape, [2, 2]);
  assertThrows(() => eg.cat([none, eg.ones([2])], 1), "IndexOutOfRange", /dimension 1/);
  const leaf = eg.zeros([0], { requiresGrad: true });
  eg.cat([leaf, none], 1).sum().backward();
  assert.deepEqual(leaf.grad.shape, [0]);
});
