// What exporters write that is not usual.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { field, model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";

const loaded = (parts, options) =>
  onnx.load(
    model({ inputs: [valueInfo("x", null)], outputs: [valueInfo("y", null)], ...parts }),
    options,
  );

const kText = new TextEncoder();
const texts = (name, shape, data) => [
  ...shape.flatMap((size) => field(1, size)),
  ...field(2, 8),
  ...data.flatMap((one) => field(6, kText.encode(one))),
  ...field(8, name),
];

describe("limits that the graph computes", () => {
  const clipped = (op, inputs) =>
    loaded({
      inputs: [valueInfo("x", null), valueInfo("l", null)],
      nodes: [node("Exp", ["l"], ["limit"]), node(op, inputs, ["y"])],
      initializers: [tensorProto("zero", [], [0])],
    });
  const x = () => eg.tensor([-1, 0.5, 3], { requiresGrad: true });
  const l = () => eg.tensor([0], { requiresGrad: true });

  for (const [op, inputs, wanted, own, other] of [
    ["Clip", ["x", "zero", "limit"], [0, 0.5, 1], [0, 1, 0], [1]],
    ["Clip", ["x", "", "limit"], [-1, 0.5, 1], [1, 1, 0], [1]],
    ["Clip", ["x", "limit"], [1, 1, 3], [0, 0, 1], [2]],
    ["Min", ["x", "limit"], [-1, 0.5, 1], [1, 1, 0], [1]],
    ["Max", ["limit", "x"], [1, 1, 3], [0, 0, 1], [2]],
  ]) {
    test(`${op}(${inputs}) gives them their gradient, captured and saved too`, async () => {
      const module = await clipped(op, inputs);
      const [a, b] = [x(), l()];
      const y = module.call(a, b);
      assert.deepEqual(y.detach().arraySync(), wanted);
      y.sum().backward();
      assert.deepEqual(a.grad.arraySync(), own);
      assert.deepEqual(b.grad.arraySync(), other);
      const gradients = (one, two) => {
        const [p, q] = [one.detach().requiresGrad_(), two.detach().requiresGrad_()];
        return eg.autograd.grad(module.call(p, q).sum(), [p, q]);
      };
      const captured = eg.capture(gradients, x().detach(), l().detach());
      const found = captured(x().detach(), l().detach());
      assert.deepEqual(
        found.map((one) => one.arraySync()),
        [own, other],
      );
      const again = await onnx.load(
        await onnx.save(module, { inputs: [x().detach(), l().detach()] }),
      );
      assert.deepEqual(again.call(x(), eg.tensor([Math.log(2)])).shape, [3]);
      assert.notDeepEqual(again.call(x(), eg.tensor([-3])).arraySync(), wanted);
    });
  }
});

test("sizes of -1 and 0 in declared inputs are free", async () => {
  const module = await loaded({
    inputs: [valueInfo("x", [-1, 0, 2])],
    nodes: [node("Relu", ["x"], ["y"])],
  });
  assert.deepEqual(module.inputs[0].shape, [null, null, 2]);
  assert.deepEqual(module.call(eg.ones([3, 5, 2])).shape, [3, 5, 2]);
});

describe("strings", () => {
  test("in initializers and constants are tables of labels", async () => {
    const module = await loaded({
      outputs: ["y", "z", "c"].map((name) => valueInfo(name, null, 8)),
      nodes: [
        node("ArgMax", ["x"], ["i"], { axis: 1, keepdims: 0 }),
        node("Gather", ["labels", "i"], ["y"]),
        node("Constant", [], ["t"], { value_strings: { strings: ["a", "b", "c", "d"] } }),
        node("Reshape", ["t", "square"], ["t2"]),
        node("Gather", ["t2", "last"], ["z"], { axis: 1 }),
        node("Unsqueeze", ["z", "zero"], ["c"]),
      ],
      initializers: [
        texts("labels", [3], ["cat", "dog", "naïve"]),
        tensorProto("square", [2], [2, 2], 7),
        tensorProto("last", [], [-1], 7),
        tensorProto("zero", [1], [0], 7),
      ],
    });
    const x = eg.tensor([
      [0, 2, 1],
      [0, 0, 4],
    ]);
    assert.deepEqual(module.call(x), [["dog", "naïve"], ["b", "d"], [["b", "d"]]]);
    assert.deepEqual(module.describe()[0].dtype, "string");
    assert.deepEqual((await onnx.load(await onnx.save(module))).call(x)[0], ["dog", "naïve"]);
  });

  test("outside a table are refused", async () => {
    const module = await loaded({
      inputs: [valueInfo("x", null, 7)],
      nodes: [node("Gather", ["labels", "x"], ["y"])],
      initializers: [texts("labels", [2], ["a", "b"])],
    });
    assert.throws(() => module.call(eg.tensor([2], { dtype: "int64" })), {
      code: "IndexOutOfRange",
    });
  });
});
