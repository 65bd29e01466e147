// summary(): shapes, parameters, multiply-adds and bytes of the parts of a module.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { summary } from "edgegrad/vis";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const rowsOf = (found, ...names) =>
  found.rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));

describe("a summary", () => {
  const model = new nn.Sequential(
    new nn.Conv2d(3, 8, 3, { padding: 1 }),
    new nn.BatchNorm2d(8),
    new nn.ReLU(),
    new nn.Sequential(new nn.AdaptiveAvgPool2d(1), new nn.Flatten(), new nn.Linear(8, 10)),
  );

  test("has the shapes, parameters and multiply-adds of every part", () => {
    const found = summary(model, [2, 3, 16, 16]);
    const names = ["path", "type", "depth", "calls", "parameters", "multiplyAdds"];
    const convolution = 2 * 8 * 16 * 16 * 3 * 9;
    assert.deepEqual(
      rowsOf(found, ...names).map((row) => Object.values(row)),
      [
        ["", "Sequential", 0, 1, 330, convolution + 160],
        ["0", "Conv2d", 1, 1, 224, convolution],
        ["1", "BatchNorm2d", 1, 1, 16, 0],
        ["2", "ReLU", 1, 1, 0, 0],
        ["3", "Sequential", 1, 1, 90, 160],
        ["3.0", "AdaptiveAvgPool2d", 2, 1, 0, 0],
        ["3.1", "Flatten", 2, 1, 0, 0],
        ["3.2", "Linear", 2, 1, 90, 160],
      ],
    );
    assert.deepEqual(found.rows[1].inputShapes, [[2, 3, 16, 16]]);
    assert.deepEqual(found.rows[1].outputShapes, [[2, 8, 16, 16]]);
    assert.equal(found.parameters, 330);
    // Parameters in float32; two buffers of 8 in float32 and a counter in int64.
    assert.equal(found.bytes, 330 * 4 + 2 * 8 * 4 + 8);
    assert.equal(found.inputBytes, 2 * 3 * 16 * 16 * 4);
    assert.equal(found.outputBytes, (3 * 2 * 8 * 256 + 2 * 8 + 2 * 8 + 20) * 4);
  });

  test("is a table as text", () => {
    const lines = String(summary(model, [1, 3, 16, 16])).split("\n");
    assert.match(lines[0], /^Layer +Input +Output +Parameters +Multiply-adds$/);
    assert.match(lines[3], /^ {2}0: Conv2d +\[1, 3, 16, 16\] +\[1, 8, 16, 16\] +224 +55,296$/);
    assert.ok(lines.includes("Parameters: 330"));
    assert.ok(lines.includes("Parameters and buffers: 1.39 kB"));
  });

  test("leaves the module, its modes and the memory as they were", () => {
    const { tensors } = eg.memory();
    model[1].eval();
    const mean = String(model[1].runningMean);
    summary(model, [2, 3, 8, 8]);
    assert.equal(eg.memory().tensors, tensors);
    assert.equal(model[1].training, false);
    assert.equal(model.training, true);
    assert.equal(String(model[1].runningMean), mean);
    const failing = new nn.Sequential(new nn.Linear(2, 2));
    assert.throws(() => summary(failing, [1, 3]), { code: "ShapeMismatch" });
    assert.equal(failing.training, true);
    assert.equal(failing[0].training, true);
    assert.equal(eg.memory().tensors, tensors + 2);
  });

  test("counts parts that are called twice, frozen or not called", () => {
    class Twice extends nn.Module {
      constructor() {
        super();
        this.layer = new nn.Linear(4, 4, { bias: false }).requiresGrad_(false);
        this.unused = new nn.Linear(2, 2);
      }

      forward(x, y) {
        return this.layer.call(this.layer.call(x).add(y));
      }
    }
    const found = summary(new Twice(), [
      [3, 4],
      [3, 4],
    ]);
    const [whole, layer, unused] = found.rows;
    assert.deepEqual([layer.calls, layer.multiplyAdds, layer.parameters], [2, 96, 16]);
    assert.deepEqual([unused.calls, unused.parameters], [0, 6]);
    assert.deepEqual([whole.parameters, whole.trainable], [22, 6]);
    assert.match(String(found), /layer: Linear \(2 calls\)/);
    assert.match(String(found), /unused: Linear +not called/);
  });

  const ones = (...shape) => eg.ones(shape);
  for (const [name, module, inputs, expected] of [
    ["Linear of sequences", new nn.Linear(4, 5), [ones(2, 7, 4)], 2 * 7 * 4 * 5],
    ["a convolution of groups", new nn.Conv2d(4, 8, 3, { groups: 2 }), [ones(1, 4, 5, 5)], 1296],
    ["ConvTranspose2d", new nn.ConvTranspose2d(3, 6, 3), [ones(2, 3, 8, 8)], 2 * 64 * 3 * 6 * 9],
    ["Bilinear", new nn.Bilinear(4, 5, 6), [ones(2, 4), ones(2, 5)], 240],
    ["LSTM", new nn.LSTM(4, 5), [ones(3, 2, 4)], 3 * 2 * 20 * (4 + 5)],
    ["RNN", new nn.RNN(4, 5, { bidirectional: true }), [ones(3, 2, 4)], 2 * 3 * 2 * 5 * (4 + 5)],
    ["GRU", new nn.GRU(4, 5), [ones(3, 2, 4)], 3 * 2 * 15 * (4 + 5)],
    [
      "MultiheadAttention",
      new nn.MultiheadAttention(8, 2),
      [ones(3, 2, 8), ones(3, 2, 8), ones(3, 2, 8)],
      4 * 6 * 64 + 2 * (2 * 2 * 3 * 3 * 4),
    ],
  ]) {
    test(`counts the multiply-adds of ${name}`, () => {
      assert.equal(summary(module, inputs).multiplyAdds, expected);
    });
  }

  test("counts those of einsum and attention, also with ellipses", () => {
    class Products extends nn.Module {
      forward(x) {
        eg.einsum("...ij,jk->...ik", x, eg.ones([4, 6]));
        eg.einsum("bij->bji", x);
        return eg.scaledDotProductAttention(x, x, x);
      }
    }
    const expected = 2 * 3 * 4 * 6 + 2 * 3 * 3 * 8;
    assert.equal(summary(new Products(), [2, 3, 4]).multiplyAdds, expected);
  });

  test("takes tokens, and refuses what is no input", () => {
    const found = summary(new nn.Embedding(10, 4), [2, 3], { dtype: "int64" });
    assert.deepEqual(found.rows[0].outputShapes, [[2, 3, 4]]);
    assert.throws(() => summary({}, [1]), {
      code: "InvalidArgument",
      message: /\[summary\] module/,
    });
    for (const size of [undefined, 5, [], "3", [1, -1], [[1], 2]])
      assert.throws(
        () => summary(model, size),
        (error) => error instanceof eg.EdgeGradError,
      );
  });
});
