// edgegrad/metrics against values computed by hand, and laws between them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as eg from "edgegrad";
import { accuracy, ConfusionMatrix, perplexity, r2Score, rocAuc } from "edgegrad/metrics";
import { assertClose } from "../support/assert.mjs";

await eg.init();
const near = (actual, expected, rtol = 1e-5) =>
  assertClose([actual].flat(), [expected].flat(), { rtol, atol: rtol });
const classes = (numbers) => eg.tensor(numbers, { dtype: "int64" });

// Rows by target: class 0 is right twice and once taken for 2, class 1 once right and once taken for 0, class 2 is never right.
const kTarget = [0, 0, 0, 1, 1, 2];
const kPredicted = [0, 0, 2, 1, 0, 1];
const kCounts = [
  [2, 0, 1],
  [1, 1, 0],
  [0, 1, 0],
];

describe("accuracy", () => {
  const scores = eg.tensor([
    [0.1, 0.7, 0.2],
    [0.5, 0.3, 0.2],
    [0.2, 0.3, 0.5],
    [0.3, 0.4, 0.3],
  ]);
  test("of scores, of classes and of the largest two", () => {
    const target = classes([1, 1, 0, 2]);
    near(accuracy(scores, target).item(), 1 / 4);
    near(accuracy(scores.argmax(1), target).item(), 1 / 4);
    near(accuracy(scores, target, { topK: 2 }).item(), 2 / 4);
    near(accuracy(scores, target, { topK: 3 }).item(), 1);
  });

  test("records nothing", () => {
    const recorded = eg.ones([2, 3], { requiresGrad: true });
    assert.equal(accuracy(recorded.mul(2), classes([0, 1])).requiresGrad, false);
  });

  test("refuses what has no answer", () => {
    const target = classes([0, 1, 2, 0]);
    for (const [call, code, message] of [
      [() => accuracy(scores, target.narrow(0, 0, 3)), "ShapeMismatch", /4 elements.*got 3/],
      [() => accuracy(scores, target.to("float32")), "DtypeMismatch", /integer dtype, got float32/],
      [() => accuracy(scores, target, { topK: 4 }), "InvalidArgument", /from 1 to 3, got 4/],
      [() => accuracy(scores, target, { topK: 1.5 }), "InvalidArgument", /got 1.5/],
      [() => accuracy(eg.ones([0, 3]), classes([])), "InvalidArgument", /at least one/],
      [() => accuracy([1], target), "InvalidArgument", /expected a tensor/],
      [() => accuracy(eg.ones([1, 2, 3]), target), "ShapeMismatch", /\[1, 2, 3\]/],
    ])
      assert.throws(call, { code, message });
  });
});

describe("a confusion matrix", () => {
  const filled = () => new ConfusionMatrix(3).update(classes(kPredicted), classes(kTarget));

  test("counts batch by batch", () => {
    assert.deepEqual(filled().counts.arraySync(), kCounts);
    const parts = new ConfusionMatrix(3);
    for (const [at, count] of [
      [0, 2],
      [2, 4],
    ]) {
      const scores = eg.nn.functional.oneHot(classes(kPredicted), 3).narrow(0, at, count);
      parts.update(scores.to("float32"), classes(kTarget).narrow(0, at, count));
    }
    assert.deepEqual(parts.counts.arraySync(), kCounts);
    assert.deepEqual(parts.reset().counts.sum().item(), 0);
  });

  test("has the usual metrics", () => {
    const confusion = filled();
    near(confusion.accuracy().item(), 3 / 6);
    near(confusion.precision({ average: "none" }).arraySync(), [2 / 3, 1 / 2, 0]);
    near(confusion.recall({ average: "none" }).arraySync(), [2 / 3, 1 / 2, 0]);
    near(confusion.f1({ average: "none" }).arraySync(), [2 / 3, 1 / 2, 0]);
    near(confusion.precision().item(), (2 / 3 + 1 / 2) / 3);
    for (const micro of ["precision", "recall", "f1"])
      near(confusion[micro]({ average: "micro" }).item(), 3 / 6);
  });

  test("differs in precision and recall", () => {
    const confusion = new ConfusionMatrix(2).update(classes([1, 1, 1, 0]), classes([1, 0, 0, 0]));
    near(confusion.precision({ average: "none" }).arraySync(), [1, 1 / 3]);
    near(confusion.recall({ average: "none" }).arraySync(), [1 / 3, 1]);
    near(confusion.f1({ average: "none" }).arraySync(), [1 / 2, 1 / 2]);
  });

  test("counts nothing of a batch that it refuses", () => {
    const confusion = filled();
    for (const [output, target, code, message] of [
      [classes([0, 3]), classes([0, 0]), "IndexOutOfRange", /from 0 to 2/],
      [classes([0, 1]), classes([0, -1]), "IndexOutOfRange", /from 0 to 2/],
      [eg.ones([2, 4]), classes([0, 1]), "ShapeMismatch", /3 classes, got the shape \[2, 4\]/],
      [eg.ones([2]), classes([0, 1]), "DtypeMismatch", /integer dtype/],
    ])
      assert.throws(() => confusion.update(output, target), { code, message });
    assert.deepEqual(confusion.counts.arraySync(), kCounts);
    assert.throws(() => new ConfusionMatrix(0), { code: "InvalidArgument" });
    assert.throws(() => confusion.f1({ average: "mean" }), { code: "InvalidArgument" });
  });

  test("keeps its counts in a scope, and frees them", () => {
    const confusion = new ConfusionMatrix(2);
    const before = eg.memory().tensors;
    for (let i = 0; i < 3; i++)
      eg.scope(() => {
        confusion.update(classes([0, 1]), classes([0, 1]));
      });
    assert.equal(eg.memory().tensors, before);
    near(confusion.accuracy().item(), 1);
    confusion.dispose();
    assert.throws(() => confusion.counts, { code: "Disposed" });
  });
});

describe("perplexity", () => {
  test("is the number of words that are alike", () => {
    near(perplexity(eg.zeros([2, 3, 8]), eg.zeros([2, 3], { dtype: "int64" })).item(), 8);
  });

  test("leaves out what is ignored", () => {
    const logits = eg.tensor([
      [0, Math.log(3)],
      [5, 0],
    ]);
    near(perplexity(logits, classes([1, -100])).item(), 4 / 3);
    near(perplexity(logits, classes([1, 7]), { ignoreIndex: 7 }).item(), 4 / 3);
  });

  test("refuses other shapes", () => {
    const call = () => perplexity(eg.zeros([2, 8]), classes([1]));
    assert.throws(call, { code: "ShapeMismatch", message: /\[2, 8\] and \[1\]/ });
  });
});

describe("the area under the ROC curve", () => {
  test("counts pairs, ties half", () => {
    const pairs = (scores, labels) => {
      let sum = 0;
      let all = 0;
      for (const [i, a] of scores.entries())
        for (const [j, b] of scores.entries())
          if (labels[i] === 1 && labels[j] === 0) {
            all++;
            sum += a > b ? 1 : a === b ? 0.5 : 0;
          }
      return sum / all;
    };
    for (const [scores, labels] of [
      [
        [0.1, 0.4, 0.35, 0.8],
        [0, 0, 1, 1],
      ],
      [
        [1, 1, 1, 1],
        [0, 1, 0, 1],
      ],
      [
        [3, 1, 2, 2, 0, 2],
        [1, 0, 0, 1, 0, 1],
      ],
      [
        [2, 1],
        [0, 1],
      ],
    ])
      near(rocAuc(eg.tensor(scores), classes(labels)).item(), pairs(scores, labels));
  });

  test("stays exact for many examples", () => {
    const count = 100_000;
    const scores = eg.arange(count).to("float32");
    near(rocAuc(scores, scores.ge(count / 2)).item(), 1, 1e-4);
    near(rocAuc(scores.neg(), scores.ge(count / 2)).item(), 0, 1e-4);
  });

  test("is NaN where one kind is missing", () => {
    assert.ok(Number.isNaN(rocAuc(eg.tensor([1, 2]), classes([1, 1])).item()));
    assert.ok(Number.isNaN(rocAuc(eg.tensor([1, 2]), classes([0, 0])).item()));
  });
});

test("r2Score is 1 for exact outputs and 0 for the mean", () => {
  const target = eg.tensor([1, 2, 4, 5]);
  near(r2Score(target, target).item(), 1);
  near(r2Score(eg.full([4], 3), target).item(), 0);
  near(r2Score(eg.tensor([1, 2, 4, 7]), target).item(), 1 - 4 / 10);
  assert.throws(() => r2Score(eg.ones([4, 1]), target), { code: "ShapeMismatch" });
});
