// Convolutions with kernels of one element: without gradients they are products of matrices, with the same results.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";

const numbers = (count) => Array.from({ length: count }, (_, i) => Math.cos(1.7 * i));

function moduleWith(attributes, { channels = 4, outputs = 6, isBiased = true } = {}) {
  const weight = tensorProto("weight", [outputs, channels, 1, 1], numbers(outputs * channels));
  const bias = tensorProto("bias", [outputs], numbers(outputs));
  const inputs = ["x", "weight", ...(isBiased ? ["bias"] : [])];
  return onnx.load(
    model({
      inputs: [valueInfo("x", null)],
      outputs: [valueInfo("y", null)],
      initializers: [weight, ...(isBiased ? [bias] : [])],
      nodes: [node("Conv", inputs, ["y"], attributes)],
    }),
  );
}

describe("a convolution by points is the same without gradients:", () => {
  for (const [name, attributes, options] of [
    ["plain", {}],
    ["without a bias", {}, { isBiased: false }],
    ["with strides", { strides: [2, 1] }],
    ["with padding", { pads: [1, 0, 0, 1] }],
    ["in groups", { group: 2 }, { channels: 2 }],
  ]) {
    test(name, async () => {
      const module = await moduleWith(attributes, options);
      for (const shape of [
        [1, 4, 5, 3],
        [3, 4, 1, 1],
        [0, 4, 2, 2],
      ]) {
        const x = eg.randn(shape);
        const expected = module.call(x);
        const y = eg.noGrad(() => module.call(x));
        assert.ok(expected.requiresGrad && !y.requiresGrad);
        eg.testing.assertClose(y, expected.detach());
      }
    });
  }
});

test("a convolution by points refuses what a convolution refuses", async () => {
  const module = await moduleWith({});
  for (const shape of [
    [1, 3, 2, 2],
    [1, 8, 2, 2],
    [4, 2],
  ]) {
    const x = eg.randn(shape);
    for (const run of [() => module.call(x), () => eg.noGrad(() => module.call(x))]) {
      assert.throws(run, { code: "ShapeMismatch" });
    }
  }
});
