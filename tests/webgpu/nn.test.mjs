// Softmax, norms, dropout and losses of classes match the CPU's.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { assertClose, randoms, range } from "./support/close.mjs";
import { rows } from "./support/kernel_fields.mjs";
import { options, playing, testBoth } from "./support/playing.mjs";

// [outer, size, inner]
const kShapes = [
  [3, 5, 1],
  [2, 700, 1],
  [200, 10, 1],
  [3, 4, 6],
  [1, 90, 40],
  [2, 1, 3],
];
const product = (sizes) => sizes.reduce((a, b) => a * b, 1);
const list = (tensor) => Array.from(tensor.dataSync(), Number);

test("softmax and its logarithm, and their gradients", options, async () => {
  for (const shape of kShapes) {
    for (const kind of [0, 1]) {
      const p = playing();
      const count = product(shape);
      const data = randoms(count, 2).map((x) => 20 * x);
      const g = randoms(count, 3);
      const x = eg.tensor(data, { requiresGrad: true }).reshape(shape);
      const y = kind ? x.logSoftmax(1) : x.softmax(1);
      const [grad] = eg.autograd.grad(y, [x], { gradOutputs: eg.tensor(g).reshape(shape) });
      const out = p.empty("float32", count, 1);
      p.kernel("softmax", {
        kind,
        rows: rows(shape),
        x: p.view("float32", data, 1),
        y: out,
      });
      const title = `${shape} ${kind}`;
      assertClose(await p.read(out), list(y), { title });
      const gradX = p.empty("float32", count);
      p.kernel("softmax_backward", {
        kind,
        rows: rows(shape),
        gradY: p.view("float32", g),
        y: out,
        gradX,
      });
      assertClose(await p.read(gradX), list(grad), { title, absolute: 1e-5 });
    }
  }
});

function targetsOf(shape, { index, weight, ignoreIndex = -100, smoothing = 0 }) {
  return { rows: rows(shape), index, weight, ignoreIndex, smoothing };
}

/** The memory that `cross_entropy` writes to. */
function lossMemory(p, positions) {
  const [losses, largest, logSum] = [1, 2, 3].map(() => p.empty("float32", positions));
  return { losses, largest, logSum };
}

test("cross entropy and its gradient", options, async () => {
  for (const shape of kShapes) {
    const [outer, size, inner] = shape;
    const positions = outer * inner;
    const data = randoms(product(shape), 2).map((x) => 8 * x);
    const classes = range(positions, (i) => (i % 4 === 3 ? -100 : (i * 7) % size));
    const weights = randoms(size, 8).map((x) => x + 1.5);
    for (const smoothing of [0, 0.1]) {
      for (const weight of [undefined, weights]) {
        const p = playing();
        const x = eg.tensor(data, { requiresGrad: true }).reshape(shape);
        const t = eg.tensor(classes.map(BigInt), { dtype: "int64" }).reshape([outer, inner]);
        const w = weight && eg.tensor(weight);
        const losses = eg.crossEntropy(x, t, w ?? null, -100, "none", smoothing);
        const g = randoms(positions, 5);
        const [grad] = eg.autograd.grad(losses, [x], {
          gradOutputs: eg.tensor(g).reshape([outer, inner]),
          retainGraph: true,
        });
        const targets = targetsOf(shape, {
          index: p.view("int64", classes),
          weight: weight && p.view("float32", weight),
          smoothing,
        });
        const scores = p.view("float32", data);
        const out = lossMemory(p, positions);
        p.kernel("cross_entropy", { targets, scores, ...out });
        const title = `${shape} ${smoothing} ${weight !== undefined}`;
        assertClose(await p.read(out.losses), list(losses), { title, absolute: 1e-5 });
        const gradX = p.empty("float32", data.length);
        const { largest, logSum } = out;
        const backward = { targets, scores, largest, logSum, gradScores: gradX };
        p.kernel("cross_entropy_backward", {
          ...backward,
          grad: p.view("float32", g),
          gradStep: 1,
        });
        assertClose(await p.read(gradX), list(grad), { title, absolute: 1e-5 });
        for (const shares of [4, 0]) {
          p.kernel("cross_entropy_backward", {
            ...backward,
            grad: p.view("float32", [2]),
            gradStep: 0,
            totalWeight: p.view("float32", [shares]),
          });
          const ones = eg.ones([outer, inner]).mul(shares ? 2 / shares : 0);
          const [shared] = eg.autograd.grad(losses, [x], { gradOutputs: ones, retainGraph: true });
          assertClose(await p.read(gradX), list(shared), { title, absolute: 1e-5 });
        }
      }
    }
  }
});

test("the parts of a class loss", options, async () => {
  const p = playing();
  const shape = [4, 3, 1];
  const data = randoms(12, 2);
  const classes = [2, 0, -100, 1];
  const weights = [0.5, 1, 2];
  const index = p.view("int64", classes);
  const weight = p.view("float32", weights);
  const targets = targetsOf(shape, { index, weight });
  const losses = p.empty("float32", 4);
  p.kernel("nll_losses", { targets, logProbabilities: p.view("float32", data), losses });
  assertClose(
    await p.read(losses),
    classes.map((t, i) => (t < 0 ? 0 : -weights[t] * data[3 * i + t])),
  );
  const [mean, totalWeight] = [p.empty("float32", 1), p.empty("float32", 1)];
  p.kernel("mean_loss", { targets, losses, mean, totalWeight });
  assert.deepEqual(await p.read(totalWeight), [3.5]);
  const sum = (await p.read(losses)).reduce((a, b) => a + b);
  assertClose(await p.read(mean), [sum / 3.5]);
  const ignored = targetsOf([1, 3, 1], { index: p.view("int64", [-100]) });
  const nothing = p.view("float32", [0]);
  p.kernel("mean_loss", { targets: ignored, losses: nothing, mean, totalWeight });
  assert.deepEqual([...(await p.read(mean)), ...(await p.read(totalWeight))], [NaN, 0]);
  const q = p.empty("float32", 12);
  const smoothed = targetsOf(shape, { index, weight, smoothing: 0.3 });
  p.kernel("target_distribution", { targets: smoothed, distribution: q });
  const expected = range(12, (i) => {
    const t = classes[Math.floor(i / 3)];
    return t < 0 ? 0 : 0.1 * weights[i % 3] + (t === i % 3 ? 0.7 * weights[t] : 0);
  });
  assertClose(await p.read(q), expected);
});

test("a class that there is not", options, async () => {
  const p = playing();
  const scores = p.view("float32", randoms(6));
  const out = lossMemory(p, 2);
  const bad = targetsOf([2, 3, 1], { index: p.view("int64", [1, 3]) });
  const good = targetsOf([2, 3, 1], { index: p.view("int64", [1, 2]) });
  const checked = p.empty("int64", 2);
  const find = (targets) =>
    p.kernel("find_bad_target", { op: "nll_loss", targets, checked }, "nll_loss");
  find(good);
  assert.deepEqual(await p.read(checked), [1, 2]);
  find({ ...bad, ignoreIndex: 3 });
  assert.deepEqual(await p.read(checked), [1, 3]);
  find(bad);
  p.kernel("cross_entropy", { targets: good, scores, ...out });
  await p.read(out.losses);
  p.kernel("cross_entropy", { targets: targetsOf([2, 3, 1], { index: checked }), scores, ...out });
  await assert.rejects(p.read(out.losses), { kind: "index", op: "nll_loss", index: 3 });
  await assert.rejects(p.read(checked), { kind: "index", op: "nll_loss", index: 3 });
});

test("layer norm and RMS norm, and their gradients", options, async () => {
  for (const [height, width] of [
    [4, 7],
    [3, 600],
    [300, 4],
  ]) {
    for (const isRms of [false, true]) {
      for (const isAffine of [false, true]) {
        const p = playing();
        const count = height * width;
        const data = randoms(count, 2).map((x) => 3 * x + 1);
        const leaf = (values) => values && eg.tensor(values, { requiresGrad: true });
        const w = isAffine ? randoms(width, 3) : undefined;
        const b = isAffine && !isRms ? randoms(width, 4) : undefined;
        const x = eg.tensor(data).reshape([height, width]).detach().requiresGrad_();
        const [weight, bias] = [leaf(w), leaf(b)];
        const y = isRms
          ? eg.rmsNorm(x, [width], weight ?? null, 1e-5)
          : eg.layerNorm(x, [width], weight ?? null, bias ?? null, 1e-5);
        const g = randoms(count, 5);
        const leaves = [x, weight, bias].filter(Boolean);
        const grads = eg.autograd.grad(y, leaves, {
          gradOutputs: eg.tensor(g).reshape([height, width]),
        });
        const view = (values) => values && p.view("float32", values);
        const [from, weights, biases, gradY] = [data, w, b, g].map(view);
        const [out, rstd, gradX] = [count, height, count].map((size) => p.empty("float32", size));
        const mean = isRms ? undefined : p.empty("float32", height);
        const norm = { rows: height, width, x: from, mean, rstd };
        p.kernel("row_norm", { ...norm, eps: 1e-5, weight: weights, bias: biases, y: out });
        const title = `${height} x ${width} ${isRms} ${isAffine}`;
        assertClose(await p.read(out), list(y), { title, absolute: 1e-5 });
        p.kernel("row_norm_backward_input", { ...norm, weight: weights, gradY, gradX });
        assertClose(await p.read(gradX), list(grads[0]), { title, absolute: 1e-5 });
        if (!isAffine) continue;
        const [gradWeight, gradBias] = [1, 2].map(() => p.empty("float32", width));
        p.kernel("row_norm_backward_parameters", {
          ...norm,
          gradY,
          gradWeight,
          gradBias: b && gradBias,
        });
        assertClose(await p.read(gradWeight), list(grads[1]), { title, absolute: 1e-4 });
        if (b) assertClose(await p.read(gradBias), list(grads[2]), { title, absolute: 1e-4 });
      }
    }
  }
});

test("dropout", options, async () => {
  const p = playing();
  const x = p.view("float32", [1, 2, NaN, 4, 5, -6]);
  const mask = p.view("bool", [1, 0, 0, 1, 1, 0], 1);
  const y = p.empty("float32", 6);
  p.kernel("dropout", { count: 6, keep: 0.5, x, mask, y });
  assertClose(await p.read(y), [2, 0, NaN, 8, 10, -0]);
});

// [samples, channels, neighbors in a channel of a sample]
const kChannels = [
  [64, 5, 1],
  [9, 70, 1],
  [7, 3, 2],
  [3, 4, 30],
  [1, 2, 500],
];

testBoth(
  "batch norm and its gradients, of channels with few and with many neighbors",
  async (p) => {
    for (const [outer, channels, inner] of kChannels) {
      const count = outer * channels * inner;
      const [data, g] = [randoms(count, 2), randoms(count, 3)];
      const [scales, shifts] = [randoms(channels, 4), randoms(channels, 5)];
      const leaf = (values, shape) => eg.tensor(values).reshape(shape).detach().requiresGrad_();
      const [x, weight, bias] = [
        leaf(data, [outer, channels, inner]),
        leaf(scales, [channels]),
        leaf(shifts, [channels]),
      ];
      const y = eg.batchNorm(x, null, null, { weight, bias, training: true });
      const gradients = eg.autograd.grad(y, [x, weight, bias], {
        gradOutputs: eg.tensor(g).reshape(y.shape),
      });
      const sizes = { outer, channels, inner };
      const [xView, weightView, biasView, gradY] = [data, scales, shifts, g].map((values) =>
        p.view("float32", values),
      );
      const [yView, gradX] = [count, count].map((size) => p.empty("float32", size));
      const [mean, rstd, gradWeight, gradBias] = range(4, () => p.empty("float32", channels));
      p.kernel("channel_norm", {
        ...sizes,
        eps: 1e-5,
        ...{ x: xView, weight: weightView, bias: biasView, y: yView, mean, rstd },
        running: { momentum: 0.1 },
      });
      p.kernel("channel_norm_backward", {
        ...sizes,
        ...{ x: xView, weight: weightView, mean, rstd, gradY, gradX, gradWeight, gradBias },
      });
      const title = String([outer, channels, inner]);
      assertClose(await p.read(yView), list(y), { title, absolute: 1e-4 });
      for (const [i, view] of [gradX, gradWeight, gradBias].entries())
        assertClose(await p.read(view), list(gradients[i]), { title, absolute: 2e-4 });
    }
  },
);
