// Resize agrees with onnxruntime and with PyTorch, also where ONNX's own cases differ: with align_corners the coordinates follow from
// the sizes of the result, and coordinates are float32.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";
import { runModel } from "../support/onnx_runtime.mjs";

const resizing = (attributes, { scales, sizes, rank = 4, opset = 19 }) =>
  model({
    opset,
    inputs: [
      valueInfo(
        "x",
        new Array(rank).fill("n").map((one, i) => `${one}${i}`),
      ),
    ],
    outputs: [valueInfo("y", null)],
    initializers: [
      scales ? tensorProto("scales", [rank], scales) : tensorProto("sizes", [rank], sizes, 7),
    ],
    nodes: [
      node("Resize", scales ? ["x", "", "scales"] : ["x", "", "", "sizes"], ["y"], attributes),
    ],
  });

async function assertAgrees(attributes, shape, given) {
  const bytes = resizing(attributes, { ...given, rank: shape.length });
  const x = eg
    .arange(
      shape.reduce((a, b) => a * b, 1),
      { dtype: "float32" },
    )
    .mul(1.7)
    .sin()
    .reshape(shape);
  const y = (await onnx.load(bytes)).call(x);
  const { y: wanted } = await runModel(bytes, [x]);
  eg.testing.assertClose(y, wanted, { rtol: 1e-4, atol: 1e-5 });
  return y;
}

describe("align_corners with scales", () => {
  for (const mode of ["linear", "cubic"]) {
    for (const scales of [
      [1, 1, 0.6, 0.6],
      [1, 1, 1.7, 2.3],
      [1, 1, 0.3, 3],
    ]) {
      test(`${mode}, ${scales.slice(2)}`, () =>
        assertAgrees({ mode, coordinate_transformation_mode: "align_corners" }, [1, 2, 5, 7], {
          scales,
        }));
    }
  }
});

describe("nearest", () => {
  for (const nearest_mode of ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]) {
    for (const coordinate_transformation_mode of ["half_pixel", "asymmetric", "align_corners"]) {
      test(`${nearest_mode} of ${coordinate_transformation_mode}`, async () => {
        const modes = { mode: "nearest", nearest_mode, coordinate_transformation_mode };
        for (const factor of [1.1, 0.6, 2, 0.5, 1.5, 2.6]) {
          await assertAgrees(modes, [1, 1, 10, 15], { scales: [1, 1, factor, factor] });
        }
        for (const size of [7, 13, 20, 45]) {
          await assertAgrees(modes, [1, 1, 10, 15], { sizes: [1, 1, size, size] });
        }
      });
    }
  }
});

describe("antialias without what is outside is PyTorch's", () => {
  for (const [mode, own] of [
    ["linear", {}],
    ["cubic", { cubic_coeff_a: { float: -0.5 } }],
  ]) {
    test(mode, async () => {
      const attributes = { mode, antialias: 1, exclude_outside: 1, ...own };
      const shape = [1, 2, 9, 12];
      const y = await assertAgrees(attributes, shape, { sizes: [1, 2, 4, 5] });
      assert.deepEqual(y.shape, [1, 2, 4, 5]);
    });
  }
});

describe("antialias when the result is smaller", () => {
  for (const mode of ["linear", "cubic"]) {
    for (const coordinate_transformation_mode of ["half_pixel", "align_corners", "asymmetric"]) {
      test(`${mode} of ${coordinate_transformation_mode}`, async () => {
        const modes = { mode, antialias: 1, coordinate_transformation_mode };
        await assertAgrees(modes, [1, 2, 13, 17], { sizes: [1, 2, 5, 6] });
        await assertAgrees(modes, [1, 2, 13, 17], { sizes: [1, 2, 20, 6] });
        // As PyTorch's interpolate() does.
        await assertAgrees({ ...modes, exclude_outside: 1 }, [1, 2, 13, 17], {
          sizes: [1, 2, 5, 6],
        });
      });
    }
  }
});

test("gradients of a resized picture", async () => {
  const bytes = resizing({ mode: "linear", antialias: 1 }, { sizes: [1, 1, 2, 3] });
  const module = await onnx.load(bytes);
  const x = eg.rand([1, 1, 5, 7], { dtype: "float64", requiresGrad: true });
  assert.ok(eg.autograd.gradcheck((one) => module.call(one), x));
});
