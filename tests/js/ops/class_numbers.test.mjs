// Class numbers and positions of other dtypes: uint8, as files hold labels, is taken; float32, which numbers become, is refused with
// what to write.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const x = eg.tensor([
  [1, 2, 3],
  [4, 5, 6],
]);

// Each with the numbers [0, 1] or [[0, 1]] in the dtype that it is called with.
const kCalls = {
  crossEntropy: (numbers) => eg.crossEntropy(x, numbers([0, 1])),
  nllLoss: (numbers) => eg.nllLoss(x, numbers([0, 1])),
  multiMarginLoss: (numbers) => eg.multiMarginLoss(x, numbers([0, 1])),
  multilabelMarginLoss: (numbers) => eg.multilabelMarginLoss(x.at(0), numbers([0, 1, 0])),
  gather: (numbers) => eg.gather(x, 1, numbers([[0, 1]])),
  take: (numbers) => eg.take(x, numbers([0, 1])),
  indexSelect: (numbers) => eg.indexSelect(x, 1, numbers([0, 1])),
  indexAdd: (numbers) => eg.indexAdd(x, 0, numbers([0, 1]), x),
  scatter: (numbers) => eg.scatter(x, 1, numbers([[0, 1]]), 9),
  scatter_: (numbers) => x.clone().scatter_(1, numbers([[0, 1]]), 9),
  oneHot: (numbers) => eg.oneHot(numbers([0, 1])),
  embedding: (numbers) => eg.nn.functional.embedding(numbers([0, 1]), x),
  Embedding: (numbers) => eg.nn.Embedding.fromPretrained(x).call(numbers([0, 1])),
  vmap: (numbers) => eg.func.vmap((row, i) => eg.gather(row, 0, i))(x, numbers([[0], [1]])),
};

const as = (dtype) => (values) => eg.tensor(values, { dtype });

describe("uint8 is taken for int64 by", () => {
  for (const [name, call] of Object.entries(kCalls)) {
    test(name, () => {
      const before = eg.memory().tensors;
      const [found, wanted] = [call(as("uint8")), call(as("int64"))];
      assert.equal(found.dtype, wanted.dtype);
      assert.deepEqual(found.arraySync(), wanted.arraySync());
      assert.ok(eg.memory().tensors - before < 12);
    });
  }

  test("gather, whose other tensor stays uint8", () => {
    const bytes = eg.tensor([[7, 8]], { dtype: "uint8" });
    const found = eg.gather(bytes, 1, eg.tensor([[1, 0]], { dtype: "uint8" }));
    assert.equal(found.dtype, "uint8");
    assert.deepEqual(found.arraySync(), [[8, 7]]);
  });

  test("what is differentiated and captured", () => {
    const w = eg.ones([2, 3], { requiresGrad: true });
    const labels = eg.tensor([0, 2], { dtype: "uint8" });
    const step = eg.capture(
      (target) => eg.crossEntropy(w, target).backward(),
      eg.zerosLike(labels),
    );
    w.grad = null;
    step(labels);
    const own = eg.ones([2, 3], { requiresGrad: true });
    eg.crossEntropy(own, labels.to("int64")).backward();
    assert.deepEqual(w.grad.arraySync(), own.grad.arraySync());
  });
});

describe("float32 and booleans are refused with what to write by", () => {
  for (const [name, call] of Object.entries(kCalls)) {
    for (const dtype of ["float32", "bool"]) {
      test(`${name}: ${dtype}`, () => {
        const message =
          /Write eg\.tensor\((labels|index|input), \{ dtype: 'int64' \}\), or x\.to\('int64'\)/;
        assertThrows(() => call(as(dtype)), "DtypeMismatch", message);
      });
    }
  }

  test("crossEntropy, in these words", () => {
    assertThrows(
      () => eg.crossEntropy(x, eg.tensor([0, 1])),
      "DtypeMismatch",
      /^\[crossEntropy\] target must be int64, got float32\. Write eg\.tensor\(labels, \{ dtype: 'int64' \}\)/,
    );
  });

  test("at()", () => {
    assertThrows(() => x.at(eg.tensor([0])), "DtypeMismatch", /^\[at\] .*\{ dtype: 'int64' \}/);
  });

  test("multiMarginLoss under its own name", () => {
    assertThrows(
      () => eg.multiMarginLoss(x, as("bool")([0, 1])),
      "DtypeMismatch",
      /^\[multiMarginLoss\]/,
    );
  });
});

test("an array in place of a tensor is answered with eg.tensor()", () => {
  for (const labels of [[0, 1], new Int32Array([0, 1])]) {
    assertThrows(
      () => eg.crossEntropy(x, labels),
      "InvalidArgument",
      /Write eg\.tensor\(target\), for class numbers or positions with \{ dtype: 'int64' \}\.$/,
    );
  }
  assertThrows(() => eg.matmul([[1]], x), "InvalidArgument", /Write eg\.tensor\(input\)\.$/);
});
