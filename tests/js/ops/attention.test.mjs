// MultiheadAttention and TransformerEncoderLayer against loops that follow PyTorch's formulas.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const kTolerance = { rtol: 1e-10, atol: 1e-12 };
const kDouble = { dtype: "float64" };

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const affine = (weight, bias, rows) =>
  rows.map((x) => weight.map((row, i) => dot(row, x) + (bias?.[i] ?? 0)));

function softmax(scores) {
  const exps = scores.map((score) => Math.exp(score - Math.max(...scores)));
  const total = exps.reduce((sum, value) => sum + value, 0);
  return exps.map((value) => value / total);
}

/** One sequence: rows of query, key, value; isHidden(head, i, j) masks. */
function reference(layer, [query, key, value], isHidden = () => false) {
  const state = Object.fromEntries(
    Object.entries(layer.stateDict()).map(([name, tensor]) => [name, tensor.arraySync()]),
  );
  const { embedDim: e, headDim: d, numHeads } = layer;
  const project = (rows, i, name) => {
    const weight = state.in_proj_weight?.slice(i * e, (i + 1) * e) ?? state[`${name}_proj_weight`];
    return affine(weight, state.in_proj_bias?.slice(i * e, (i + 1) * e), rows);
  };
  const [q, k, v] = [project(query, 0, "q"), project(key, 1, "k"), project(value, 2, "v")];
  if (state.bias_k) k.push(state.bias_k.flat(2));
  if (state.bias_v) v.push(state.bias_v.flat(2));
  if (layer.addZeroAttn) for (const rows of [k, v]) rows.push(new Array(e).fill(0));
  const weights = [];
  const joined = q.map(() => []);
  for (let head = 0; head < numHeads; head++) {
    const own = (row) => row.slice(head * d, (head + 1) * d);
    weights.push(
      q.map((row, i) => {
        const score = (other, j) =>
          isHidden(head, i, j) ? -Infinity : dot(own(row), own(other)) / Math.sqrt(d);
        return softmax(k.map(score));
      }),
    );
    weights[head].forEach((row, i) => {
      for (let f = 0; f < d; f++)
        joined[i].push(
          dot(
            row,
            v.map((other) => own(other)[f]),
          ),
        );
    });
  }
  const output = affine(state["out_proj.weight"], state["out_proj.bias"], joined);
  return { output, weights };
}

const mean = (weights) =>
  weights[0].map((row, i) =>
    row.map((_, j) => weights.reduce((sum, head) => sum + head[i][j], 0) / weights.length),
  );

describe("MultiheadAttention follows the formula", () => {
  const cases = [
    {},
    { bias: false, batchFirst: true },
    { kdim: 3, vdim: 5 },
    { addBiasKv: true, addZeroAttn: true },
  ];
  for (const options of cases) {
    test(JSON.stringify(options), () => {
      eg.manualSeed(2);
      const layer = new nn.MultiheadAttention(4, 2, { ...options, ...kDouble });
      const sizes = [
        [3, 4],
        [5, options.kdim ?? 4],
        [5, options.vdim ?? 4],
      ];
      const inputs = sizes.map(([length, size]) => eg.randn([length, 2, size], kDouble));
      const turn = (x) => (options.batchFirst ? x.transpose(0, 1) : x);
      const attnMask = eg.tensor([0, 1, 2].map((i) => [0, 1, 2, 3, 4].map((j) => j > i + 1)));
      const hidden = [[0, 1], [2]];
      const keyPaddingMask = eg.tensor(
        hidden.map((positions) => [0, 1, 2, 3, 4].map((j) => positions.includes(j) && j !== 0)),
      );
      const [output, weights] = layer.call(...inputs.map(turn), { attnMask, keyPaddingMask });
      for (let b = 0; b < 2; b++) {
        const rows = inputs.map((x) => x.select(1, b).arraySync());
        const isHidden = (_, i, j) => j < 5 && (j > i + 1 || (j !== 0 && hidden[b].includes(j)));
        const expected = reference(layer, rows, isHidden);
        assertTensor(turn(output).select(1, b), expected.output.flat(), kTolerance);
        assertTensor(weights.select(0, b), mean(expected.weights).flat(), kTolerance);
      }
    });
  }

  test("one sequence, weights per head, no weights, masks that add", () => {
    const layer = new nn.MultiheadAttention(4, 2, kDouble);
    const x = eg.randn([3, 4], kDouble);
    const rows = x.arraySync();
    const expected = reference(layer, [rows, rows, rows], (head, i, j) => head === 1 && j > i);
    const none = [0, 1, 2].map(() => [0, 0, 0]);
    const causal = [0, 1, 2].map((i) => [0, 1, 2].map((j) => (j > i ? -Infinity : 0)));
    const attnMask = eg.tensor([none, causal], kDouble);
    const [output, weights] = layer.call(x, x, x, { attnMask, averageAttnWeights: false });
    assertTensor(output, expected.output.flat(), { ...kTolerance, shape: [3, 4] });
    assertTensor(weights, expected.weights.flat(2), { ...kTolerance, shape: [2, 3, 3] });
    const [same, nothing] = layer.call(x, x, x, null, false, attnMask);
    assert.equal(nothing, null);
    assertTensor(same, output.dataSync(), kTolerance);
  });

  test("keys are PyTorch's, and weights begin as there", () => {
    const keys = (options) => Object.keys(new nn.MultiheadAttention(4, 2, options).stateDict());
    const ends = ["out_proj.weight", "out_proj.bias"];
    assert.deepEqual(keys({}), ["in_proj_weight", "in_proj_bias", ...ends]);
    assert.deepEqual(keys({ kdim: 3, addBiasKv: true }), [
      "q_proj_weight",
      "k_proj_weight",
      "v_proj_weight",
      "in_proj_bias",
      "bias_k",
      "bias_v",
      ...ends,
    ]);
    // The output projection draws its weight and bias first, although the bias is then set to zero.
    eg.manualSeed(5);
    const linear = new nn.Linear(4, 4);
    const weight = nn.init.xavierUniform_(eg.empty([12, 4]));
    eg.manualSeed(5);
    const layer = new nn.MultiheadAttention(4, 2);
    assertTensor(layer.out_proj.weight, linear.weight.dataSync(), { rtol: 0, atol: 0 });
    assertTensor(layer.in_proj_weight, weight.dataSync(), { rtol: 0, atol: 0 });
    assertTensor(layer.out_proj.bias, [0, 0, 0, 0]);
  });

  test("passes gradcheck, and drops weights in training only", () => {
    eg.manualSeed(0);
    const layer = new nn.MultiheadAttention(2, 1, { addBiasKv: true, ...kDouble });
    const x = eg.randn([2, 1, 2], { ...kDouble, requiresGrad: true });
    assert.ok(eg.autograd.gradcheck(() => layer.call(x, x, x)[0], [x, ...layer.parameters()]));
    const noisy = new nn.MultiheadAttention(8, 2, 0.5);
    const y = eg.randn([6, 8]);
    const draw = () => [...noisy.call(y, y, y)[0].dataSync()];
    assert.notDeepEqual(draw(), draw());
    noisy.eval();
    assert.deepEqual(draw(), draw());
  });

  test("what does not fit is refused", () => {
    const layer = new nn.MultiheadAttention(4, 2);
    const x = eg.zeros([3, 1, 4]);
    assertThrows(
      () => new nn.MultiheadAttention(4, 3),
      "InvalidArgument",
      /embedDim must be divisible by numHeads, got/,
    );
    assertThrows(
      () => layer.call(x, x, eg.zeros([3, 1, 5])),
      "ShapeMismatch",
      /value: expected 4 features, got 5/,
    );
    const attnMask = eg.zeros([2, 3]);
    assertThrows(
      () => layer.call(x, x, x, { attnMask }),
      "ShapeMismatch",
      /attnMask: expected the shape \[3, 3\], got \[2, 3\]/,
    );
    assertThrows(
      () => layer.call(x, x, x, { isCausal: true }),
      "InvalidArgument",
      /isCausal: true requires attnMask/,
    );
  });
});

describe("MultiheadAttention without weights", () => {
  const hidden = (rows) => eg.tensor(rows, { dtype: "bool" });
  const causal = eg.ones([5, 5], { dtype: "bool" }).triu(1);
  const padding = hidden([
    [false, false, false, true, true],
    [false, false, false, false, false],
  ]);
  const cases = {
    "no mask": {},
    "a mask": { attnMask: eg.randn([5, 5]) },
    "a mask per head": { attnMask: eg.randn([4, 5, 5]) },
    "a causal mask": { attnMask: causal, isCausal: true },
    "hidden keys": { keyPaddingMask: padding },
    "a causal mask and hidden keys": {
      attnMask: causal,
      keyPaddingMask: padding,
      isCausal: true,
    },
  };
  for (const [name, options] of Object.entries(cases)) {
    test(`gives what it gives with weights: ${name}`, () => {
      for (const extra of [{}, { addBiasKv: true, addZeroAttn: true }]) {
        const layer = new nn.MultiheadAttention(6, 2, { batchFirst: true, ...extra });
        const inputs = [1, 2, 3].map(() => eg.randn([2, 5, 6], { requiresGrad: true }));
        const [withWeights, fused] = [true, false].map((needWeights) => {
          const [output] = layer.call(...inputs, { ...options, needWeights });
          return [output, ...eg.autograd.grad([output.square().sum()], inputs)];
        });
        fused.forEach((tensor, i) => {
          assertTensor(tensor, withWeights[i].contiguous().dataSync(), { rtol: 1e-4, atol: 1e-5 });
        });
      }
    });
  }

  test("a query that may see nothing gets the bias alone", () => {
    const layer = new nn.MultiheadAttention(4, 2);
    const x = eg.randn([3, 4]);
    const attnMask = hidden([
      [true, true, true],
      [false, false, true],
      [false, false, false],
    ]);
    const [output] = layer.call(x, x, x, { attnMask, needWeights: false });
    assert.deepEqual(output.arraySync()[0], layer.out_proj.bias.arraySync());
  });
});

describe("TransformerEncoderLayer", () => {
  const make = (options) => new nn.TransformerEncoderLayer(4, 2, 6, { dropout: 0, ...options });

  for (const normFirst of [false, true]) {
    test(`adds attention and linear layers, normFirst ${normFirst}`, () => {
      const layer = make({ normFirst, activation: "gelu", batchFirst: true, ...kDouble });
      const x = eg.randn([2, 3, 4], kDouble);
      const srcMask = eg.tensor([0, 1, 2].map((i) => [0, 1, 2].map((j) => j > i)));
      const attend = (v) => layer.self_attn.call(v, v, v, { attnMask: srcMask })[0];
      const transform = (v) => layer.linear2.call(layer.linear1.call(v).gelu());
      const { norm1, norm2 } = layer;
      let expected;
      if (normFirst) {
        const seen = x.add(attend(norm1.call(x)));
        expected = seen.add(transform(norm2.call(seen)));
      } else {
        const seen = norm1.call(x.add(attend(x)));
        expected = norm2.call(seen.add(transform(seen)));
      }
      const actual = layer.call(x, { srcMask, isCausal: true });
      assertTensor(actual, expected.dataSync(), { ...kTolerance, shape: [2, 3, 4] });
      assertTensor(layer.call(x, srcMask), actual.dataSync(), { rtol: 0, atol: 0 });
    });
  }

  test("keys are PyTorch's, and every parameter gets a gradient", () => {
    const layer = make({});
    const both = (name) => [`${name}.weight`, `${name}.bias`];
    const attention = ["self_attn.in_proj_weight", "self_attn.in_proj_bias"];
    assert.deepEqual(Object.keys(layer.stateDict()), [
      ...attention,
      ...both("self_attn.out_proj"),
      ...["linear1", "linear2", "norm1", "norm2"].flatMap(both),
    ]);
    layer
      .call(eg.randn([3, 1, 4]))
      .square()
      .sum()
      .backward();
    assert.ok(layer.parameters().every((parameter) => parameter.grad !== null));
    assert.ok(
      make({ bias: false })
        .namedParameters()
        .every(([name]) => !name.includes("bias")),
    );
    assertThrows(
      () => make({ activation: "tanh" }),
      "InvalidArgument",
      /activation: .*"relu", "gelu".*got "tanh"/,
    );
  });
});
