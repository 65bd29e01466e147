// nn.grad: gradients of convolutions as functions.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kDouble = { dtype: "float64" };
const leaf = (shape) => eg.randn(shape, kDouble).requiresGrad_();

// The number of samples, channels and results, and for each dimension the length and that of the kernel; then the options.
const kCases = [
  [[2, 3, 4], [[7], [3]], {}],
  [[2, 4, 6], [[9], [2]], { stride: 3, padding: 1, dilation: 2, groups: 2 }],
  [
    [3, 2, 2],
    [
      [6, 8],
      [3, 2],
    ],
    { stride: [2, 3], padding: [0, 1] },
  ],
  [
    [1, 6, 3],
    [
      [7, 7],
      [2, 3],
    ],
    { dilation: [2, 1], stride: 2, groups: 3 },
  ],
  [
    [2, 2, 4],
    [
      [5, 4, 6],
      [2, 1, 3],
    ],
    { stride: [1, 2, 2], padding: 1, groups: 2 },
  ],
];

describe("the gradients of convolutions", () => {
  test("are those that backward computes", () => {
    for (const [[samples, channels, results], [lengths, kernel], options] of kCases) {
      const spatial = lengths.length;
      const input = leaf([samples, channels, ...lengths]);
      const weight = leaf([results, channels / (options.groups ?? 1), ...kernel]);
      const output = eg.nn.functional[`conv${spatial}d`](input, weight, null, options);
      const weights = eg.randn(output.shape, kDouble);
      const expected = eg.autograd.grad(output, [input, weight], weights);
      const of = eg.nn.grad;
      const ofInput = of[`conv${spatial}dInput`](input.shape, weight, weights, options);
      const ofWeight = of[`conv${spatial}dWeight`](input, weight.shape, weights, options);
      assert.ok(eg.allclose(ofInput, expected[0]));
      assert.ok(eg.allclose(ofWeight, expected[1]));
      assert.deepEqual([ofInput.shape, ofWeight.shape], [input.shape, weight.shape]);
    }
  });

  test("have derivatives, and work inside vmap()", () => {
    const [input, weight, weights] = [leaf([2, 2, 5]), leaf([3, 2, 2]), leaf([2, 3, 4])];
    const { conv1dInput, conv1dWeight } = eg.nn.grad;
    assert.ok(eg.autograd.gradcheck((w, v) => conv1dInput([2, 2, 5], w, v), [weight, weights]));
    assert.ok(eg.autograd.gradcheck((x, v) => conv1dWeight(x, [3, 2, 2], v), [input, weights]));
    const batch = eg.randn([4, 2, 3, 4], kDouble);
    const all = eg.func.vmap((v) => conv1dWeight(input, [3, 2, 2], v))(batch);
    assert.ok(eg.allclose(all.select(0, 3), conv1dWeight(input, [3, 2, 2], batch.select(0, 3))));
  });

  test("check the sizes", () => {
    const [input, weight, weights] = [leaf([2, 2, 5]), leaf([3, 2, 2]), leaf([2, 3, 4])];
    const { conv1dInput, conv1dWeight } = eg.nn.grad;
    assertThrows(() => conv1dInput([2, 5], weight, weights), "ShapeMismatch", /inputSize.*3 dim/);
    assertThrows(() => conv1dInput([2, 3, 5], weight, weights), "ShapeMismatch", /\[2,2,5\]/);
    assertThrows(() => conv1dInput([2, 2, 9], weight, weights), "InvalidArgument", /conv1dInput/);
    assertThrows(() => conv1dWeight(input, [3, 2], weights), "ShapeMismatch", /weightSize.*3 dim/);
    assertThrows(() => conv1dWeight(input, [3, 2, 4], weights), "ShapeMismatch", /\[2,3,2\].*got/);
  });
});

describe("convTbc", () => {
  test("is conv1d with time first", () => {
    const [input, weight, bias] = [leaf([6, 2, 3]), leaf([2, 3, 4]), leaf([4])];
    const result = eg.nn.functional.convTbc(input, weight, bias, 1);
    assert.deepEqual(result.shape, [7, 2, 4]);
    const usual = eg.conv1d(input.permute(1, 2, 0), weight.permute(2, 1, 0), bias, { padding: 1 });
    assert.ok(eg.allclose(result, usual.permute(2, 0, 1)));
    assert.ok(eg.autograd.gradcheck(eg.nn.functional.convTbc, [input, weight, bias]));
    const flat = leaf([6, 3]);
    assertThrows(() => eg.nn.functional.convTbc(flat, weight, bias), "ShapeMismatch", /three dim/);
  });
});
