// Tests of Embedding, EmbeddingBag and AdaptiveLogSoftmaxWithLoss in addition to nn_golden.test.mjs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const kDouble = { dtype: "float64" };
const kTable = [
  [3, 4],
  [0.6, 0.8],
  [0, 2],
];
const table = () => eg.tensor(kTable, kDouble);
const indices = (data) => eg.tensor(data, { dtype: "int64" });

// A row is divided by its norm plus 1e-7, as in PyTorch.
const kScaled = { rtol: 1e-7 };

describe("maxNorm", () => {
  test("scales the rows that are looked up, in place, and no others", () => {
    for (const make of [nn.Embedding, nn.EmbeddingBag]) {
      const layer = make.fromPretrained(table(), { maxNorm: 2.5 });
      layer.call(indices([[1, 0, 0]]));
      assertTensor(layer.weight, [1.5, 2, 0.6, 0.8, 0, 2], { shape: [3, 2], ...kScaled });
    }
    const weight = table();
    const rows = nn.functional.embedding(indices([0]), weight, { maxNorm: 3.5, normType: 1 });
    assertTensor(rows, [1.5, 2], kScaled);
    assertTensor(weight, [1.5, 2, 0.6, 0.8, 0, 2], kScaled);
    nn.functional.embedding(indices([]), weight, null, 0.1);
    assertTensor(weight, [1.5, 2, 0.6, 0.8, 0, 2], kScaled);
  });

  test("leaves a weight as it was when an index is none of its rows", () => {
    const weight = table();
    assertThrows(
      () => nn.functional.embedding(indices([0, 3]), weight, null, 1),
      "IndexOutOfRange",
    );
    assertTensor(weight, kTable.flat());
  });

  test("is not recorded by autograd", () => {
    const layer = nn.Embedding.fromPretrained(table(), { maxNorm: 1, freeze: false });
    layer
      .call(indices([0, 1]))
      .sum()
      .backward();
    assertTensor(layer.weight.grad, [1, 1, 1, 1, 0, 0]);
  });
});

describe("scaleGradByFreq", () => {
  test("divides the gradient of a row by how often it was looked up", () => {
    const expected = [1, 1, 1, 1, 0, 0];
    const single = nn.Embedding.fromPretrained(table(), { freeze: false, scaleGradByFreq: true });
    single
      .call(indices([[0, 0, 1]]))
      .sum()
      .backward();
    assertTensor(single.weight.grad, expected);
    const options = { freeze: false, scaleGradByFreq: true, mode: "sum" };
    const bags = nn.EmbeddingBag.fromPretrained(table(), options);
    bags
      .call(indices([1, 0, 0]), indices([0, 2]))
      .sum()
      .backward();
    assertTensor(bags.weight.grad, expected);
  });

  test("is not available for the maximum of bags", () => {
    const layer = new nn.EmbeddingBag(3, 2, { mode: "max", scaleGradByFreq: true });
    assertThrows(() => layer.call(indices([[0]])), "InvalidArgument", /"max".*scaleGradByFreq/);
  });
});

test("EmbeddingBag.fromPretrained shares the vectors, and draws nothing", () => {
  eg.manualSeed(4);
  const data = table();
  const layer = nn.EmbeddingBag.fromPretrained(data, true, null, 2, false, "sum", false, false, -1);
  const next = eg.rand([1]).item();
  eg.manualSeed(4);
  assert.equal(next, eg.rand([1]).item());
  assert.equal(layer.weight.requiresGrad, false);
  assert.equal(layer.paddingIdx, 2);
  data.fill_(1);
  assertTensor(layer.call(indices([[0, 1, 2]])), [2, 2]);
  assert.equal(String(layer), "EmbeddingBag(3, 2, mode='sum', padding_idx=2)");
  assertThrows(
    () => nn.EmbeddingBag.fromPretrained(eg.ones([3])),
    "ShapeMismatch",
    /\[EmbeddingBag.fromPretrained\] .*expected a matrix/,
  );
});

describe("AdaptiveLogSoftmaxWithLoss", () => {
  const layer = new nn.AdaptiveLogSoftmaxWithLoss(4, 10, [2, 5], { divValue: 2 });

  test("gives its targets the log probabilities that logProb() has for all classes", () => {
    const input = eg.randn([6, 4]);
    const target = indices([9, 0, 4, 1, 2, 5]);
    const all = layer.logProb(input);
    assertTensor(all.exp().sum(1), [1, 1, 1, 1, 1, 1], { rtol: 1e-5 });
    const [output, loss] = layer.call(input, target);
    assertTensor(output, all.gather(1, target.unsqueeze(1)).squeeze(1).dataSync(), { rtol: 1e-5 });
    assertTensor(loss, [-output.mean().item()], { rtol: 1e-5 });
    assert.deepEqual(layer.predict(input).tolist(), all.argmax(1).tolist());
    const keys = Object.keys(layer.stateDict());
    assert.deepEqual(keys.slice(0, 3), ["head.weight", "tail.0.0.weight", "tail.0.1.weight"]);
  });

  test("refuses invalid cutoffs and targets", () => {
    for (const cutoffs of [[], [3, 2], [2, 2], [10]]) {
      assertThrows(
        () => new nn.AdaptiveLogSoftmaxWithLoss(4, 10, cutoffs),
        "InvalidArgument",
        /cutoffs: expected rising numbers from 1/,
      );
    }
    const call = (input, target) => () => layer.call(eg.zeros(input), indices(target));
    assertThrows(call([1, 4], [10]), "IndexOutOfRange", /target: expected classes from 0 to 9/);
    assertThrows(
      call([2, 4], [0]),
      "ShapeMismatch",
      /same batch size, got the shapes \[2,4\] and \[1\]/,
    );
    assertThrows(call([4], [[0]]), "ShapeMismatch", /target: expected 0D or 1D/);
  });
});

test("tables leave nothing behind", () => {
  const bag = new nn.EmbeddingBag(5, 3, { maxNorm: 1, scaleGradByFreq: true });
  const table = new nn.Embedding(5, 3, { maxNorm: 1, scaleGradByFreq: true });
  const adaptive = new nn.AdaptiveLogSoftmaxWithLoss(3, 10, [2, 5]);
  const input = indices([[0, 1, 1]]);
  const rows = eg.randn([3, 3]);
  const step = () =>
    eg.scope(() => {
      const loss = bag.call(input).sum().add(table.call(input).sum());
      loss.add(adaptive.call(rows, indices([0, 3, 9]))[1]).backward();
      for (const module of [bag, table, adaptive]) module.zeroGrad();
    });
  step();
  const before = eg.memory().jsHandles;
  step();
  assert.equal(eg.memory().jsHandles, before);
});

test("maxNorm leaves a tangent of the table as it is", () => {
  const { dualLevel, makeDual, unpackDual } = eg.autograd.forwardAd;
  dualLevel(() => {
    const weight = makeDual(eg.tensor([[3, 4]]), eg.tensor([[1, 2]]));
    const out = eg.nn.functional.embedding(eg.tensor([0], { dtype: "int64" }), weight, {
      maxNorm: 1,
    });
    assertTensor(out, [0.6, 0.8], { atol: 1e-6 });
    assertTensor(unpackDual(out).tangent, [1, 2]);
    const bag = eg.embeddingBag(eg.tensor([[0]], { dtype: "int64" }), weight, {
      maxNorm: 1,
      mode: "sum",
    });
    assertTensor(unpackDual(bag).tangent, [1, 2]);
  });
});
