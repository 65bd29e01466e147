// The CTC loss, compared with the sum over all alignments of frames and classes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kDouble = { dtype: "float64" };
const int64 = (values) => eg.tensor(values, { dtype: "int64" });

/** Returns the labels of a path: repetitions count once, and blanks are dropped. */
function spelled(path, blank) {
  return path.filter((label, t) => label !== blank && label !== path[t - 1]);
}

/** Computes the loss by its definition: minus the log of the summed probabilities of all paths. */
function lossByPaths(logProbs, target, blank = 0) {
  const classes = logProbs[0].length;
  let total = 0;
  for (let code = 0; code < classes ** logProbs.length; code++) {
    const path = logProbs.map((_, t) => Math.floor(code / classes ** t) % classes);
    if (spelled(path, blank).join() !== target.join()) continue;
    total += Math.exp(path.reduce((sum, label, t) => sum + logProbs[t][label], 0));
  }
  return -Math.log(total);
}

function randomFrames(frames, batch, classes) {
  return eg.randn([frames, batch, classes], kDouble).logSoftmax(-1);
}

describe("ctcLoss", () => {
  test("is the sum over all alignments", () => {
    eg.manualSeed(5);
    const frames = randomFrames(5, 3, 3);
    const rows = frames.arraySync();
    const targets = [[1, 1], [2, 1], [2]];
    const each = targets.map((target, n) =>
      lossByPaths(
        rows.map((frame) => frame[n]),
        target,
      ),
    );
    const padded = int64([
      [1, 1],
      [2, 1],
      [2, 0],
    ]);
    const none = { reduction: "none" };
    assertTensor(eg.ctcLoss(frames, padded, [5, 5, 5], [2, 2, 1], none), each);
    const joined = int64([1, 1, 2, 1, 2]);
    const lengths = int64([2, 2, 1]);
    const mean = (each[0] / 2 + each[1] / 2 + each[2]) / 3;
    assertTensor(new eg.nn.CTCLoss().call(frames, joined, int64([5, 5, 5]), lengths), [mean]);
    const sum = each.reduce((a, b) => a + b);
    assertTensor(eg.ctcLoss(frames, padded, [5, 5, 5], [2, 2, 1], { reduction: "sum" }), [sum]);
  });

  test("ends each sequence at its own length, and takes any class for blank", () => {
    eg.manualSeed(6);
    const frames = randomFrames(4, 2, 3);
    const rows = frames.arraySync();
    const of = (n, length) => rows.slice(0, length).map((frame) => frame[n]);
    const each = [lossByPaths(of(0, 3), [0], 2), lossByPaths(of(1, 4), [], 2)];
    const options = { blank: 2, reduction: "none" };
    assertTensor(eg.ctcLoss(frames, int64([[0], [0]]), [3, 4], [1, 0], options), each);
    const one = frames.select(1, 0);
    assertTensor(eg.ctcLoss(one, int64([0]), 3, 1, options), [each[0]], { shape: [] });
  });

  test("of a sequence too long for its frames is infinite, or zero with zeroInfinity", () => {
    const frames = randomFrames(2, 1, 2).requiresGrad_();
    const target = int64([[1, 1]]);
    assert.equal(eg.ctcLoss(frames, target, [2], [2]).item(), Number.POSITIVE_INFINITY);
    const loss = eg.ctcLoss(frames, target, [2], [2], { zeroInfinity: true });
    assert.equal(loss.item(), 0);
    loss.backward();
    assertTensor(frames.grad, [0, 0, 0, 0]);
  });

  test("of a sequence without frames is 0 for no classes, else infinite, with the gradient 0", () => {
    const infinity = Number.POSITIVE_INFINITY;
    const targets = int64([
      [1, 2],
      [1, 2],
      [2, 2],
    ]);
    eg.manualSeed(8);
    const values = randomFrames(3, 3, 4);
    const middle = [0, 1, 2].map((t) => values.arraySync()[t][1]);
    for (const [zeroInfinity, absent] of [
      [false, infinity],
      [true, 0],
    ]) {
      const frames = values.clone().requiresGrad_();
      const options = { reduction: "none", zeroInfinity };
      const losses = eg.ctcLoss(frames, targets, [0, 3, 0], [0, 1, 2], options);
      assertTensor(losses, [0, lossByPaths(middle, [1]), absent]);
      losses.sum().backward();
      const rows = frames.grad.indexSelect(1, int64([0, 2]));
      assertTensor(rows.abs().sum(), [0], { shape: [] });
      assert.ok(frames.grad.select(1, 1).isfinite().all().item());
    }
    const all = (lengths, options) => eg.ctcLoss(values, targets, [0, 0, 0], lengths, options);
    for (const reduction of ["mean", "sum"]) {
      assertTensor(all([0, 0, 0], { reduction }), [0], { shape: [] });
      assertTensor(all([1, 1, 1], { reduction }), [infinity], { shape: [] });
      assertTensor(all([1, 1, 1], { reduction, zeroInfinity: true }), [0], { shape: [] });
    }
    const single = values.select(1, 0);
    assertTensor(eg.ctcLoss(single, int64([1]), 0, 0, { reduction: "none" }), [0], { shape: [] });
  });

  test("has gradients of every order in the logits", () => {
    eg.manualSeed(7);
    const logits = eg.randn([4, 2, 3], { ...kDouble, requiresGrad: true });
    const target = int64([
      [1, 2],
      [2, 0],
    ]);
    const loss = (x) => eg.ctcLoss(x.logSoftmax(-1), target, [4, 3], [2, 1]);
    assert.equal(eg.autograd.gradcheck(loss, [logits]), true);
    assert.equal(eg.autograd.gradgradcheck(loss, [logits]), true);
  });

  test("reports what does not fit", () => {
    const frames = randomFrames(3, 1, 2);
    const target = int64([[1]]);
    assertThrows(
      () => eg.ctcLoss(frames, target, [4], [1]),
      "InvalidArgument",
      /inputLengths: .* 3 frames .* got 4/,
    );
    assertThrows(
      () => eg.ctcLoss(frames, target, [3, 3], [1]),
      "ShapeMismatch",
      /inputLengths: expected 1, .* got 2/,
    );
    assertThrows(() => eg.ctcLoss(frames, target, [3], [2]), "ShapeMismatch", /at least 2/);
    const none = randomFrames(0, 1, 2);
    assertThrows(() => eg.ctcLoss(none, target, [0], [1]), "ShapeMismatch", /at least one frame/);
    for (const lengths of [[-1], int64([-1]), eg.tensor([0.5])]) {
      const input = () => eg.ctcLoss(frames, target, lengths, [1]);
      assertThrows(input, "InvalidArgument", /inputLengths: expected whole numbers of at least 0/);
      const ofTargets = () => eg.ctcLoss(frames, target, [3], lengths);
      assertThrows(ofTargets, "InvalidArgument", /targetLengths: expected whole numbers/);
    }
    const outside = { blank: 2 };
    assertThrows(() => eg.ctcLoss(frames, target, [3], [1], outside), "InvalidArgument", /blank/);
  });
});
