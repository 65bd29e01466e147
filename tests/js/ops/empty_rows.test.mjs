// Extreme sizes: rows without elements, and enormous numbers of layers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kMany = 2 ** 40;

for (const [name, call, shape] of [
  ["softmax", () => eg.zeros([kMany, 0]).softmax(1), [kMany, 0]],
  ["logSoftmax", () => eg.zeros([kMany, 0]).logSoftmax(1), [kMany, 0]],
  ["indexSelect", () => eg.zeros([kMany, 3, 0]).indexSelect(1, eg.tensor([0n])), [kMany, 1, 0]],
  [
    "indexAdd",
    () => eg.zeros([kMany, 3, 0]).indexAdd(1, eg.tensor([0n]), eg.zeros([kMany, 1, 0])),
    [kMany, 3, 0],
  ],
  [
    "indexCopy",
    () => eg.zeros([kMany, 3, 0]).indexCopy(1, eg.tensor([0n]), eg.zeros([kMany, 1, 0])),
    [kMany, 3, 0],
  ],
  ["cumsum", () => eg.zeros([kMany, 0]).cumsum(1), [kMany, 0]],
]) {
  test(`${name} of many empty rows ends at once`, () => assert.deepEqual(call().shape, shape));
}

test("sparse_ of many empty columns ends at once", () => {
  assert.deepEqual(eg.nn.init.sparse_(eg.zeros([0, kMany]), 0.5).shape, [0, kMany]);
});

test("recurrent layers that cannot all fit are not begun", () => {
  for (const Layer of [eg.nn.RNN, eg.nn.LSTM, eg.nn.GRU]) {
    for (const numLayers of [2 ** 31, 2 ** 32 + 1, kMany, 2 ** 53 - 1]) {
      assertThrows(() => new Layer(1, 1, { numLayers }), "OutOfMemory", /layers need/);
    }
  }
});

test("diff of nothing ends at once, whatever its order", () => {
  const none = eg.zeros([0, 2 ** 32]);
  assert.deepEqual(eg.diff(none, { n: 2 ** 32 + 5 }).shape, [0, 0]);
  assert.deepEqual(eg.diff(none, { n: 5 }).shape, [0, 2 ** 32 - 5]);
  assert.deepEqual(eg.diff(eg.arange(4), { n: 2 ** 40 }).shape, [0]);
  assert.deepEqual(eg.diff(eg.tensor([1, 4, 9, 16]), { n: 2 }).arraySync(), [2, 2]);
});

test("a tensor without dimensions is refused by ops that ask for the size of one", () => {
  const x = eg.tensor(1);
  assertThrows(
    () => eg.bilinear(x, x, eg.ones([1, 1, 1])),
    "IndexOutOfRange",
    /^\[bilinear\] .*without dimensions/,
  );
});

test("dirac_ of nothing ends at once", () => {
  assert.deepEqual(eg.nn.init.dirac_(eg.zeros([2 ** 32, 0, 1])).shape, [2 ** 32, 0, 1]);
});

test("scatter with an index without elements, whatever its dimensions, is a copy", () => {
  const x = eg.tensor([
    [1, 2],
    [3, 4],
  ]);
  const input = () => x.clone().requiresGrad_();
  const source = eg.ones([3]);
  for (const shape of [[0], [0, 7], [3, 0, 2]]) {
    const index = eg.zeros(shape, { dtype: "int64" });
    for (const call of [
      (t) => t.scatter(0, index, x),
      (t) => t.scatter(1, index, source),
      (t) => t.scatter(1, index, 5),
      (t) => t.scatterAdd(0, index, source),
      (t) => t.scatterReduce(0, index, source, "amax"),
      (t) => t.scatterReduce(0, index, source, "sum", false),
    ]) {
      const leaf = input();
      const result = call(leaf);
      assertTensor(result.detach(), [1, 2, 3, 4], { shape: [2, 2] });
      assert.notEqual(result, leaf);
      result.sum().backward();
      assertTensor(leaf.grad, [1, 1, 1, 1]);
    }
  }
});

test("any and all over no dimensions are the truth of each element", () => {
  const x = eg.tensor([
    [0, 1],
    [2, 0],
  ]);
  for (const name of ["any", "all"]) {
    assert.deepEqual(x[name]([]).tolist(), [
      [false, true],
      [true, false],
    ]);
    assert.equal(x.to("uint8")[name]([]).dtype, "uint8");
  }
  assert.equal(x.any(null).item(), true);
});
