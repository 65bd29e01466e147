// Chains of nodes that one op of edgegrad computes: they become that op, with the same values and gradients.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";

const scalar = (name, value) =>
  node("Constant", [], [name], { value: { tensor: tensorProto("", [], [value]) } });
const numbers = (count, seed) => Array.from({ length: count }, (_, i) => Math.sin(seed + 1.3 * i));

const kWeights = [
  tensorProto("weight", [4], numbers(4, 1)),
  tensorProto("bias", [4], numbers(4, 2)),
];

const layerNorm = (mean, more) => [
  scalar("two", 2),
  scalar("eps", 1e-5),
  node("ReduceMean", ["x"], ["mean"], { axes: [-1] }),
  node("Sub", ["x", "mean"], ["d"]),
  ...mean,
  node("ReduceMean", ["square"], ["var"], { axes: [-1] }),
  node("Add", ["var", "eps"], ["safe"]),
  node("Sqrt", ["safe"], ["std"]),
  node("Div", ["d", "std"], [more.length === 0 ? "y" : "n"]),
  ...more,
];
const affine = [node("Mul", ["n", "weight"], ["s"]), node("Add", ["s", "bias"], ["y"])];

const kClipped = [
  scalar("three", 3),
  scalar("zero", 0),
  scalar("six", 6),
  node("Add", ["x", "three"], ["sum"]),
  node("Clip", ["sum", "zero", "six"], ["clipped"]),
];

const kX = { x: [2, 3, 4] };
const kQkv = { q: [2, 3, 5, 4], k: [2, 3, 6, 4], v: [2, 3, 6, 7] };
const transposed = node("Transpose", ["k"], ["kt"], { perm: [0, 1, 3, 2] });

/** Each with the inputs, the nodes, a value inside, the node of the backward graph, and what is learned. */
const kPatterns = {
  SiLU: [kX, [node("Sigmoid", ["x"], ["s"]), node("Mul", ["x", "s"], ["y"])], "s", "SiluBackward0"],
  "hard swish by a hard sigmoid": [
    kX,
    [
      node("HardSigmoid", ["x"], ["s"], { alpha: { float: 1 / 6 }, beta: { float: 0.5 } }),
      node("Mul", ["s", "x"], ["y"]),
    ],
    "s",
    "HardswishBackward0",
  ],
  "hard swish by a clipped sum, divided at the end": [
    kX,
    [
      ...kClipped,
      node("Mul", ["x", "clipped"], ["product"]),
      scalar("sixth", 1 / 6),
      node("Mul", ["product", "sixth"], ["y"]),
    ],
    "product",
    "HardswishBackward0",
  ],
  "hard swish by a clipped sum, divided first": [
    kX,
    [
      ...kClipped,
      node("Div", ["clipped", "six"], ["quotient"]),
      node("Mul", ["quotient", "x"], ["y"]),
    ],
    "quotient",
    "HardswishBackward0",
  ],
  "hard sigmoid by a clipped sum": [
    kX,
    [...kClipped, node("Div", ["clipped", "six"], ["y"])],
    "clipped",
    "HardsigmoidBackward0",
  ],
  "GELU by erf, halved at the end": [
    kX,
    [
      scalar("root", Math.SQRT2),
      scalar("one", 1),
      scalar("half", 0.5),
      node("Div", ["x", "root"], ["a"]),
      node("Erf", ["a"], ["b"]),
      node("Add", ["b", "one"], ["c"]),
      node("Mul", ["x", "c"], ["d"]),
      node("Mul", ["d", "half"], ["y"]),
    ],
    "d",
    "GeluBackward0",
  ],
  "GELU by erf, halved first": [
    kX,
    [
      scalar("root", Math.SQRT1_2),
      scalar("one", 1),
      scalar("half", 0.5),
      node("Mul", ["x", "half"], ["h"]),
      node("Mul", ["root", "x"], ["a"]),
      node("Erf", ["a"], ["b"]),
      node("Add", ["one", "b"], ["c"]),
      node("Mul", ["h", "c"], ["y"]),
    ],
    "c",
    "GeluBackward0",
  ],
  "GELU by tanh": [
    kX,
    [
      scalar("three", 3),
      scalar("weight3", 0.044715),
      scalar("factor", Math.sqrt(2 / Math.PI)),
      scalar("one", 1),
      scalar("half", 0.5),
      node("Pow", ["x", "three"], ["cube"]),
      node("Mul", ["cube", "weight3"], ["w"]),
      node("Add", ["x", "w"], ["sum"]),
      node("Mul", ["sum", "factor"], ["inner"]),
      node("Tanh", ["inner"], ["t"]),
      node("Add", ["t", "one"], ["c"]),
      node("Mul", ["x", "half"], ["h"]),
      node("Mul", ["h", "c"], ["y"]),
    ],
    "t",
    "GeluBackward0",
  ],
  "layer normalization with weights": [
    kX,
    layerNorm([node("Pow", ["d", "two"], ["square"])], affine),
    "std",
    "NativeLayerNormBackward0",
    kWeights,
  ],
  "layer normalization without weights, squared by a product": [
    kX,
    layerNorm([node("Mul", ["d", "d"], ["square"])], []),
    "std",
    "NativeLayerNormBackward0",
  ],
  "normalization by the root mean square": [
    kX,
    [
      scalar("two", 2),
      scalar("eps", 1e-5),
      node("Pow", ["x", "two"], ["square"]),
      node("ReduceMean", ["square"], ["mean"], { axes: [-1] }),
      node("Add", ["mean", "eps"], ["safe"]),
      node("Sqrt", ["safe"], ["root"]),
      node("Reciprocal", ["root"], ["inverse"]),
      node("Mul", ["x", "inverse"], ["n"]),
      node("Mul", ["weight", "n"], ["y"]),
    ],
    "n",
    null,
    kWeights.slice(0, 1),
  ],
  "attention with a divisor and a mask": [
    { ...kQkv, mask: [2, 1, 5, 6] },
    [
      scalar("root", 2),
      transposed,
      node("MatMul", ["q", "kt"], ["p"]),
      node("Div", ["p", "root"], ["scaled"]),
      node("Add", ["scaled", "mask"], ["masked"]),
      node("Softmax", ["masked"], ["weights"], { axis: -1 }),
      node("MatMul", ["weights", "v"], ["y"]),
    ],
    "weights",
    /ScaledDotProduct/,
  ],
  "attention with a factor of each side": [
    kQkv,
    [
      scalar("root", Math.sqrt(0.5)),
      transposed,
      node("Mul", ["q", "root"], ["qs"]),
      node("Mul", ["kt", "root"], ["ks"]),
      node("MatMul", ["qs", "ks"], ["p"]),
      node("Softmax", ["p"], ["weights"], { axis: -1 }),
      node("MatMul", ["weights", "v"], ["y"]),
    ],
    "weights",
    /ScaledDotProduct/,
  ],
  "attention with the axis counted from the first": [
    kQkv,
    [
      transposed,
      node("MatMul", ["q", "kt"], ["p"]),
      node("Softmax", ["p"], ["weights"], { axis: 3 }),
      node("MatMul", ["weights", "v"], ["y"]),
    ],
    "weights",
    /ScaledDotProduct/,
  ],
  "a softmax over another axis, which is no attention": [
    kQkv,
    [
      transposed,
      node("MatMul", ["q", "kt"], ["p"]),
      node("Softmax", ["p"], ["weights"], { axis: 2 }),
      node("MatMul", ["weights", "v"], ["y"]),
    ],
    "weights",
    null,
  ],
  "attention with a factor of every head": [
    { ...kQkv, each: [1, 3, 1, 1] },
    [
      transposed,
      node("MatMul", ["q", "kt"], ["p"]),
      node("Mul", ["p", "each"], ["scaled"]),
      node("Softmax", ["scaled"], ["weights"], { axis: -1 }),
      node("MatMul", ["weights", "v"], ["y"]),
    ],
    "weights",
    null,
  ],
};

function nodesBehind(tensor) {
  const names = new Set();
  const seen = new Set();
  const visit = (one) => {
    if (one === null || seen.has(one)) return;
    seen.add(one);
    names.add(one.name);
    for (const [next] of one.nextFunctions) visit(next);
  };
  visit(tensor.gradFn);
  return [...names];
}

describe("chains of nodes become one op:", () => {
  for (const [name, [shapes, nodes, inside, expected, initializers = []]] of Object.entries(
    kPatterns,
  )) {
    test(name, async () => {
      const bytes = model({
        inputs: Object.entries(shapes).map(([key, shape]) => valueInfo(key, shape)),
        outputs: [valueInfo("y", null)],
        initializers,
        nodes,
      });
      const fused = await onnx.load(bytes);
      // A value inside that is an output keeps the nodes apart.
      const apart = await onnx.load(bytes, { outputs: ["y", inside] });
      const run = (module) => {
        const inputs = Object.entries(shapes).map(([key, shape], i) => {
          const count = shape.reduce((a, b) => a * b);
          const input = eg.tensor(numbers(count, i)).reshape(shape).detach();
          return key === "mask" ? input : input.requiresGrad_();
        });
        const result = module.call(...inputs);
        const y = Array.isArray(result) ? result[0] : result;
        y.mul(eg.tensor(numbers(y.numel, 9)).reshape(y.shape))
          .sum()
          .backward();
        return {
          y,
          gradients: [...inputs, ...module.parameters()].flatMap(({ grad }) => grad ?? []),
        };
      };
      const [one, other] = [run(fused), run(apart)];
      eg.testing.assertClose(one.y, other.y, { rtol: 1e-5, atol: 1e-5 });
      one.gradients.forEach((gradient, i) => {
        eg.testing.assertClose(gradient, other.gradients[i], { rtol: 1e-4, atol: 1e-5 });
      });
      const isFused = (tensor) =>
        nodesBehind(tensor).some((node) => new RegExp(expected).test(node));
      if (expected !== null) assert.deepEqual([isFused(one.y), isFused(other.y)], [true, false]);
      assert.ok(nodesBehind(one.y).length <= nodesBehind(other.y).length);
      assert.deepEqual(
        fused.namedParameters().map(([key]) => key),
        apart.namedParameters().map(([key]) => key),
      );
    });
  }
});
