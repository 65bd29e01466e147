// Attention and its gradients match the CPU's.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { assertClose, randoms, range } from "./support/close.mjs";
import { options, Playing, packedStrides, playing, testBoth, webgpu } from "./support/playing.mjs";

const list = (tensor) => Array.from(tensor.dataSync(), Number);
const product = (sizes) => sizes.reduce((a, b) => a * b, 1);

const kCases = [
  { queries: 5, keys: 5, features: 8, valueFeatures: 8, isCausal: true },
  { queries: 7, keys: 40, features: 3, valueFeatures: 6, hasMask: true },
  { queries: 33, keys: 70, features: 16, valueFeatures: 20 },
  { queries: 50, keys: 33, features: 4, valueFeatures: 5, isCausal: true },
  { queries: 20, keys: 300, features: 4, valueFeatures: 4, isCausal: true },
  { queries: 130, keys: 90, features: 40, valueFeatures: 64, isCausal: true },
  { queries: 9, keys: 21, features: 64, valueFeatures: 33, hasMask: true },
  { queries: 9, keys: 21, features: 68, valueFeatures: 8, isCausal: true },
];
const kBatch = [2, 3];
const kNoMask = { strides: [] };

testBoth("attention and its gradients", assertAttention);

test("without room for scores, a software adapter computes none either", options, async () => {
  const kernels = new Map(Object.entries(webgpu.attentionKernels(64)));
  await assertAttention(new Playing({ kernels }), [kCases[0], kCases[1], kCases.at(-1)]);
});

async function assertAttention(p, cases = kCases) {
  for (const one of cases) {
    const { queries, keys, features, valueFeatures, isCausal = false, hasMask = false } = one;
    const shapes = [
      [...kBatch, queries, features],
      [...kBatch, keys, features],
      [...kBatch, keys, valueFeatures],
    ];
    const data = shapes.map((shape, i) => randoms(product(shape), i + 1));
    const leaves = data.map((values, i) =>
      eg.tensor(values).reshape(shapes[i]).detach().requiresGrad_(),
    );
    const mask = hasMask ? range(queries * keys, (i) => (i % 3 ? 0 : -Infinity)) : undefined;
    const y = eg.scaledDotProductAttention(
      ...leaves,
      mask ? eg.tensor(mask).reshape([queries, keys]) : null,
      0,
      isCausal,
    );
    const g = randoms(y.numel, 9);
    const grads = eg.autograd.grad(y, leaves, { gradOutputs: eg.tensor(g).reshape(y.shape) });

    const [query, key, value] = data.map((values, i) => ({
      memory: p.view("float32", values, 1),
      strides: packedStrides(shapes[i]),
    }));
    const attention = {
      batch: kBatch,
      ...{ queries, keys, features, valueFeatures, isCausal, query, key, value },
      scale: 1 / Math.sqrt(features),
      mask: mask ? { memory: p.view("float32", mask), strides: [0, 0, keys, 1] } : kNoMask,
    };
    const yStrides = packedStrides(y.shape);
    const [out, logSums] = [y.numel, 6 * queries].map((count) => p.empty("float32", count));
    p.kernel("attend", { attention, y: out, yStrides, logSums });
    const title = JSON.stringify(one);
    assertClose(await p.read(out), list(y), { title, absolute: 1e-5 });
    const results = data.map((values) => p.empty("float32", values.length));
    const [gradQuery, gradKey, gradValue] = results;
    const gradY = { memory: p.view("float32", g), strides: yStrides };
    p.kernel("attend_backward", { attention, gradY, logSums, gradQuery, gradKey, gradValue });
    for (const [i, result] of results.entries())
      assertClose(await p.read(result), list(grads[i]), { title: `${title} ${i}`, absolute: 1e-5 });
  }
}

test("more scores than there is memory for at a time", options, async () => {
  const kernels = new Map(Object.entries(webgpu.attentionKernels(4 * 50 * 211)));
  const p = new Playing({ kernels });
  // All keys are equal, so all weights are equal; for a causal query they are 1 / (its index + 1).
  const size = 211;
  const zeros = new Array(size).fill(0);
  const values = randoms(size, 3);
  const heads = (data) => ({ memory: p.view("float32", data), strides: [1, 1] });
  // Too many features for registers, all of which are the same number.
  const wide = { memory: p.view("float32", zeros), strides: [0, 0] };
  const attention = {
    ...{ batch: [], queries: size, keys: size, features: 65, valueFeatures: 1 },
    ...{ scale: 1, isCausal: true },
    ...{ query: wide, key: wide, value: heads(values), mask: kNoMask },
  };
  const [y, logSums, gradValue] = [1, 2, 3].map(() => p.empty("float32", size));
  p.kernel("attend", { attention, y, yStrides: [1, 1], logSums });
  const means = values.map((_, i) => values.slice(0, i + 1).reduce((a, b) => a + b) / (i + 1));
  assertClose(await p.read(y), means, { absolute: 1e-5 });
  assertClose(
    await p.read(logSums),
    range(size, (i) => Math.log(i + 1)),
    { absolute: 1e-5 },
  );
  assert.ok(p.stats.dispatches >= 15);
  const gradY = heads(zeros.map(() => 1));
  p.kernel("attend_backward", { attention, gradY, logSums, gradValue });
  const expected = range(size, (i) =>
    range(size - i, (k) => 1 / (i + k + 1)).reduce((a, b) => a + b),
  );
  assertClose(await p.read(gradValue), expected, { absolute: 1e-4 });
});

test("a query that sees nothing", options, async () => {
  const p = playing();
  const heads = { memory: p.view("float32", [1, 2]), strides: [1, 1] };
  const mask = { memory: p.view("float32", [0, 0, -Infinity, -Infinity]), strides: [2, 1] };
  const attention = {
    ...{ batch: [], queries: 2, keys: 2, features: 1, valueFeatures: 1 },
    ...{ scale: 1, isCausal: false },
    ...{ query: heads, key: heads, value: heads, mask },
  };
  const [y, logSums] = [p.empty("float32", 2), p.empty("float32", 2)];
  p.kernel("attend", { attention, y, yStrides: [1, 1], logSums });
  const weight = 1 / (1 + Math.exp(-1));
  assertClose(await p.read(y), [1 - weight + 2 * weight, 0]);
  assertClose((await p.read(logSums)).slice(1), [Infinity]);
});
