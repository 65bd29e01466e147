// Average pooling over 1 to 3 axes with dilations, ceil_mode and padding, as onnxruntime computes it.

import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { model, node, valueInfo } from "../support/onnx_models.mjs";
import { runModel } from "../support/onnx_runtime.mjs";

const kShapes = [
  [2, 3, 11],
  [2, 3, 7, 8],
  [1, 2, 5, 6, 7],
];

describe("AveragePool agrees with onnxruntime", () => {
  for (const shape of kShapes) {
    const rank = shape.length - 2;
    const each = (value) => new Array(rank).fill(value);
    test(`over ${rank} axes`, async () => {
      const x = eg
        .arange(
          shape.reduce((a, b) => a * b, 1),
          { dtype: "float32" },
        )
        .mul(1.7)
        .sin()
        .reshape(shape);
      for (const dilation of [1, 2]) {
        for (const ceil_mode of [0, 1]) {
          for (const count_include_pad of [0, 1]) {
            for (const pad of [0, 1]) {
              for (const stride of [1, 2, 3]) {
                const attributes = {
                  kernel_shape: each(2),
                  strides: each(stride),
                  dilations: each(dilation),
                  pads: [...each(pad), ...each(0)],
                  ceil_mode,
                  count_include_pad,
                };
                const bytes = model({
                  opset: 19,
                  inputs: [valueInfo("x", shape)],
                  outputs: [valueInfo("y", null)],
                  nodes: [node("AveragePool", ["x"], ["y"], attributes)],
                });
                const { y } = await runModel(bytes, [x]);
                const own = (await onnx.load(bytes)).call(x);
                try {
                  eg.testing.assertClose(own, y, { rtol: 1e-4, atol: 1e-5 });
                } catch (error) {
                  error.message = `${JSON.stringify(attributes)}: ${error.message}`;
                  throw error;
                }
              }
            }
          }
        }
      }
    });
  }
});
