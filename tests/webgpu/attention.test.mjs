// Attention and its gradients give what the CPU's do.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { assertClose, randoms, range } from "./support/close.mjs";
import { options, Playing, packedStrides, playing, testBoth, webgpu } from "./support/playing.mjs";
import { field, none } from "./support/stream_writer.mjs";

const list = (tensor) => Array.from(tensor.dataSync(), Number);
const product = (sizes) => sizes.reduce((a, b) => a * b, 1);

const kCases = [
  { queries: 5, keys: 5, features: 8, valueFeatures: 8, isCausal: true },
  { queries: 7, keys: 40, features: 3, valueFeatures: 6, hasMask: true },
  { queries: 33, keys: 70, features: 16, valueFeatures: 20 },
  { queries: 50, keys: 33, features: 4, valueFeatures: 5, isCausal: true },
  { queries: 20, keys: 300, features: 4, valueFeatures: 4, isCausal: true },
];
const kBatch = [2, 3];

testBoth("attention and its gradients", async (p) => {
  for (const one of kCases) {
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

    const heads = (view, strides) => [field.in(view), field.longs(strides)];
    const attention = [
      field.longs(kBatch),
      [queries, keys, features, valueFeatures].map(field.long),
      field.double(1 / Math.sqrt(features)),
      field.number(isCausal),
      data.map((values, i) => heads(p.view("float32", values, 1), packedStrides(shapes[i]))),
      mask ? heads(p.view("float32", mask), [0, 0, keys, 1]) : heads(none, []),
    ];
    const yStrides = packedStrides(y.shape);
    const [out, logSums] = [y.numel, 6 * queries].map((count) => p.empty("float32", count));
    p.kernel("attend", [attention, field.out(out), field.longs(yStrides), field.out(logSums)]);
    const title = JSON.stringify(one);
    assertClose(await p.read(out), list(y), { title, absolute: 1e-5 });
    const results = data.map((values) => p.empty("float32", values.length));
    p.kernel("attend_backward", [
      attention,
      heads(p.view("float32", g), yStrides),
      field.in(logSums),
      results.map(field.out),
    ]);
    for (const [i, result] of results.entries())
      assertClose(await p.read(result), list(grads[i]), { title: `${title} ${i}`, absolute: 1e-5 });
  }
});

test("more scores than there is memory for at a time", options, async () => {
  const kernels = new Map(Object.entries(webgpu.attentionKernels(4 * 50 * 211)));
  const p = new Playing({ kernels });
  // Every key alike: weights are all the same, and those of a causal query 1 / (its number + 1).
  const size = 211;
  const zeros = new Array(size).fill(0);
  const values = randoms(size, 3);
  const heads = (data) => [field.in(p.view("float32", data)), field.longs([1, 1])];
  const attention = [
    field.longs([]),
    [size, size, 1, 1].map(field.long),
    field.double(1),
    field.number(1),
    [heads(zeros), heads(zeros), heads(values), [field.in(none), field.longs([])]],
  ];
  const [y, logSums, gradValue] = [1, 2, 3].map(() => p.empty("float32", size));
  p.kernel("attend", [attention, field.out(y), field.longs([1, 1]), field.out(logSums)]);
  const means = values.map((_, i) => values.slice(0, i + 1).reduce((a, b) => a + b) / (i + 1));
  assertClose(await p.read(y), means, { absolute: 1e-5 });
  assertClose(
    await p.read(logSums),
    range(size, (i) => Math.log(i + 1)),
    { absolute: 1e-5 },
  );
  assert.ok(p.stats.dispatches >= 15);
  p.kernel("attend_backward", [
    attention,
    heads(zeros.map(() => 1)),
    field.in(logSums),
    [none, none, gradValue].map(field.out),
  ]);
  const expected = range(size, (i) =>
    range(size - i, (k) => 1 / (i + k + 1)).reduce((a, b) => a + b),
  );
  assertClose(await p.read(gradValue), expected, { absolute: 1e-4 });
});

test("a query that sees nothing", options, async () => {
  const p = playing();
  const x = field.in(p.view("float32", [1, 2]));
  const heads = [x, field.longs([1, 1])];
  const mask = [field.in(p.view("float32", [0, 0, -Infinity, -Infinity])), field.longs([2, 1])];
  const attention = [
    field.longs([]),
    [2, 2, 1, 1].map(field.long),
    field.double(1),
    field.number(0),
    [heads, heads, heads, mask],
  ];
  const [y, logSums] = [p.empty("float32", 2), p.empty("float32", 2)];
  p.kernel("attend", [attention, field.out(y), field.longs([1, 1]), field.out(logSums)]);
  const weight = 1 / (1 + Math.exp(-1));
  assertClose(await p.read(y), [1 - weight + 2 * weight, 0]);
  assertClose((await p.read(logSums)).slice(1), [Infinity]);
});
