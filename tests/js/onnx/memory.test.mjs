// The memory of a call without gradients: values are freed after their last reader, and what an op computes with when it returns. The
// peak stays within a few times the inputs and outputs of the largest op.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { graph, model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";
import { peakOf } from "../support/peak_memory.mjs";

const kTypes = { float32: 1, uint8: 2, int8: 3 };
const kBytes = { float32: 4, uint8: 1, int8: 1, int32: 4, float16: 2 };
const sizeOf = (x) => x.numel * kBytes[x.dtype];

const scalar = (name, value, type = 1) => tensorProto(name, [], [value], type);
const picture = () => eg.randn([1, 16, 192, 192]);
const bytes = () => eg.randint(0, 255, [1, 16, 192, 192]).to("uint8");
const kernel = (size) =>
  tensorProto("w", [16, 16, size, size], new Array(256 * size ** 2).fill(2), 3);
const kConv = ["x", "s", "z", "w", "ws", "wz", "ys", "yz"];
const kScales = [
  ...["s", "ws"].map((name) => scalar(name, 0.1)),
  scalar("ys", 9),
  ...["z", "yz"].map((name) => scalar(name, 3, 2)),
  scalar("wz", 0, 3),
];

/** The ops, and by what their peak may exceed the bytes of their inputs and outputs. */
const kOps = {
  QuantizeLinear: [picture, ["x", "s", "z"], {}, kScales, 2],
  DequantizeLinear: [bytes, ["x", "s", "z"], {}, kScales, 2],
  "QLinearConv of 3x3": [
    bytes,
    kConv,
    { kernel_shape: [3, 3], pads: [1, 1, 1, 1] },
    [...kScales, kernel(3)],
    4,
  ],
  "QLinearConv of 1x1": [bytes, kConv, { kernel_shape: [1, 1] }, [...kScales, kernel(1)], 2.5],
  ConvInteger: [bytes, ["x", "w"], { kernel_shape: [3, 3] }, [kernel(3)], 3],
  LRN: [picture, ["x"], { size: 5 }, [], 2],
  "Cast to int8": [picture, ["x"], { to: 3 }, [], 2],
  "Cast to float8": [picture, ["x"], { to: 17 }, [], 2],
  AveragePool: [picture, ["x"], { kernel_shape: [3, 3], pads: [1, 1, 1, 1] }, [], 2],
  LpPool: [picture, ["x"], { kernel_shape: [3, 3], pads: [1, 1, 1, 1] }, [], 2],
  Resize: [
    picture,
    ["x", "", "scales"],
    { mode: "linear" },
    [tensorProto("scales", [4], [1, 1, 1.7, 1.7])],
    2,
  ],
};

const peakOfCall = (module, ...inputs) => {
  const call = () => {
    const results = eg.noGrad(() => module.call(...inputs));
    const size = [results].flat().reduce((sum, one) => sum + sizeOf(one), 0);
    for (const one of [results].flat()) one.dispose();
    return size;
  };
  const outputs = call();
  const peak = peakOf(call);
  return { peak, size: outputs + inputs.reduce((sum, one) => sum + sizeOf(one), 0) };
};

const loaded = (x, parts) =>
  onnx.load(
    model({
      opset: 19,
      inputs: [valueInfo("x", x.shape, kTypes[x.dtype])],
      outputs: [valueInfo("y", null)],
      ...parts,
    }),
    { trainable: false },
  );

describe("the peak of one op", () => {
  for (const [title, [input, inputs, attributes, initializers, most]] of Object.entries(kOps)) {
    test(title, async (t) => {
      const x = input();
      const [op] = title.split(" ");
      const module = await loaded(x, {
        nodes: [node(op, inputs, ["y"], attributes)],
        initializers,
      });
      const { peak, size } = peakOfCall(module, x);
      t.diagnostic(`${(peak / size).toFixed(2)} times its inputs and outputs`);
      assert.ok(peak <= most * size, `${peak} bytes for ${size}`);
    });
  }

  test("MatMulInteger with DynamicQuantizeLinear", async () => {
    const x = eg.randn([1024, 512]);
    const module = await loaded(x, {
      nodes: [
        node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        node("MatMulInteger", ["q", "w", "z"], ["i"]),
        node("Cast", ["i"], ["c"], { to: 1 }),
        node("Mul", ["c", "s"], ["y"]),
      ],
      initializers: [tensorProto("w", [512, 512], new Array(512 * 512).fill(2), 3)],
    });
    const { peak, size } = peakOfCall(module, x);
    assert.ok(peak <= 2 * size, `${peak} bytes for ${size}`);
  });
});

describe("the peak of a graph", () => {
  test("does not grow with the number of ops", async () => {
    const x = bytes();
    const count = 12;
    const nodes = Array.from({ length: count }, (_, i) => {
      const inputs = [i === 0 ? "x" : `h${i - 1}`, ...kConv.slice(1)];
      const output = i === count - 1 ? "y" : `h${i}`;
      return node("QLinearConv", inputs, [output], { kernel_shape: [3, 3], pads: [1, 1, 1, 1] });
    });
    const module = await loaded(x, { nodes, initializers: [...kScales, kernel(3)] });
    const { peak, size } = peakOfCall(module, x);
    assert.ok(peak <= 4 * size, `${peak} bytes for ${size}`);
  });

  test("does not grow with the turns of a loop, nor with branches", async () => {
    const x = picture();
    const body = graph({
      inputs: [valueInfo("i", [], 7), valueInfo("c", [], 9), valueInfo("s", null)],
      outputs: [valueInfo("c2", [], 9), valueInfo("s2", null)],
      nodes: [
        node("Identity", ["c"], ["c2"]),
        node("If", ["c"], ["t"], {
          then_branch: {
            graph: graph({ nodes: [node("Neg", ["s"], ["n"])], outputs: [valueInfo("n", null)] }),
          },
          else_branch: {
            graph: graph({ nodes: [node("Abs", ["s"], ["a"])], outputs: [valueInfo("a", null)] }),
          },
        }),
        node("Mul", ["t", "t"], ["u"]),
        node("Tanh", ["u"], ["s2"]),
      ],
    });
    const module = await loaded(x, {
      nodes: [node("Loop", ["n", "", "x"], ["y"], { body: { graph: body } })],
      initializers: [scalar("n", 20, 7)],
    });
    const { peak, size } = peakOfCall(module, x);
    assert.ok(peak <= 2 * size, `${peak} bytes for ${size}`);
    let wanted = x;
    for (let i = 0; i < 20; i++) wanted = wanted.square().tanh();
    eg.testing.assertClose(module.call(x), wanted);
  });

  test("leaves nothing behind", async () => {
    const x = bytes();
    const module = await loaded(x, {
      nodes: [node("QLinearConv", kConv, ["y"], { kernel_shape: [3, 3] })],
      initializers: [...kScales, kernel(3)],
    });
    const { tensors, jsHandles } = eg.memory();
    eg.noGrad(() => module.call(x)).dispose();
    assert.deepEqual([eg.memory().tensors, eg.memory().jsHandles], [tensors, jsHandles]);
  });
});

test("quantized convolutions in parts are those of the whole", async () => {
  for (const [strides, dilations, pads] of [
    [
      [1, 1],
      [1, 1],
      [1, 1, 1, 1],
    ],
    [
      [2, 1],
      [1, 1],
      [0, 1, 2, 0],
    ],
    [
      [3, 2],
      [2, 2],
      [2, 0, 1, 2],
    ],
  ]) {
    const x = bytes();
    const attributes = { kernel_shape: [3, 3], strides, dilations, pads };
    const values = Array.from({ length: 16 * 16 * 9 }, (_, i) => ((i * 7) % 5) - 2);
    const module = await loaded(x, {
      nodes: [node("ConvInteger", ["x", "w", "z"], ["y"], attributes)],
      initializers: [tensorProto("w", [16, 16, 3, 3], values, 3), scalar("z", 7, 2)],
    });
    const [top, left, bottom, right] = pads;
    const padded = eg.pad(x.to("float64").sub(7), [left, right, top, bottom]);
    const weight = eg.tensor(values, { dtype: "float64" }).reshape([16, 16, 3, 3]);
    const wanted = eg.conv2d(padded, weight, { stride: strides, dilation: dilations });
    assert.ok(eg.equal(module.call(x), wanted.to("int32")), String(strides));
  }
});
