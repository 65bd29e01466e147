// Pooling and convolution of planes match the CPU's.

import assert from "node:assert/strict";
import { eg } from "../js/support/engine.mjs";
import { assertClose, randoms } from "./support/close.mjs";
import { testBoth } from "./support/playing.mjs";

const list = (tensor) => Array.from(tensor.dataSync(), Number);
const product = (sizes) => sizes.reduce((a, b) => a * b, 1);
const leaf = (data, shape) => eg.tensor(data).reshape(shape).detach().requiresGrad_();

function axis({
  in: size,
  out,
  kernel = 1,
  stride = 1,
  padding = 0,
  dilation = 1,
  isAdaptive = false,
}) {
  return { in: size, out, kernel, stride, padding, dilation, isAdaptive };
}

const kPlanes = [2, 3];
const kWindows = [
  { kernel: [2, 3], stride: [2, 3], padding: [0, 0] },
  { kernel: [2, 3], stride: [2, 2], padding: [0, 0] },
  { kernel: [3, 3], stride: [1, 2], padding: [1, 1] },
  { kernel: [3, 2], stride: [2, 1], padding: [1, 0], dilation: [2, 3] },
];

function poolOf(x, y, { kernel, stride, padding, dilation = [1, 1] }) {
  const sizes = (d) => ({
    in: x.shape[2 + d],
    out: y.shape[2 + d],
    kernel: kernel[d],
    stride: stride[d],
    padding: padding[d],
    dilation: dilation[d],
  });
  return { planes: product(kPlanes), rows: axis(sizes(0)), columns: axis(sizes(1)) };
}

const kPaddingAlone = { kernel: [2, 1], stride: [1, 1], padding: [1, 0], dilation: [10, 1] };

testBoth("max pooling", async (p) => {
  for (const windows of [...kWindows, kPaddingAlone]) {
    const shape = [...kPlanes, 9, 10];
    const data = randoms(product(shape), 3);
    const x = leaf(data, shape);
    const { kernel, stride, padding, dilation = [1, 1] } = windows;
    const [y, at] = eg.maxPool2d(x, kernel, stride, padding, dilation, false, true);
    const g = randoms(y.numel, 4);
    const [grad] = eg.autograd.grad(y, [x], { gradOutputs: eg.tensor(g).reshape(y.shape) });
    const pool = poolOf(x, y, windows);
    const from = p.view("float32", data, 1);
    const [out, indices] = [p.empty("float32", y.numel), p.empty("int64", y.numel)];
    p.kernel("max_pool", { pool, x: from, y: out, indices });
    assert.deepEqual(await p.read(out), list(y));
    assert.deepEqual(await p.read(indices), list(at));
    p.kernel("max_pool_pick", { pool, x: from, indices, y: out });
    const picked = list(y).map((value, i) => (list(at)[i] < 0 ? 0 : value));
    assert.deepEqual(await p.read(out), picked);
    const gradX = p.empty("float32", data.length);
    p.kernel("max_pool_backward", { pool, gradY: p.view("float32", g), indices, gradX });
    assertClose(await p.read(gradX), list(grad));
  }
});

testBoth("mean pooling, adaptive too", async (p) => {
  const shape = [...kPlanes, 9, 10];
  const data = randoms(product(shape), 3);
  const cases = [
    ...kWindows.slice(0, 3).flatMap((windows) =>
      [
        [true, 0],
        [false, 0],
        [true, 5],
      ].map(([countPad, divisor]) => ({
        divisor: { countIncludePad: countPad, divisorOverride: divisor },
        call: (x) =>
          eg.avgPool2d(
            x,
            windows.kernel,
            windows.stride,
            windows.padding,
            false,
            countPad,
            divisor || null,
          ),
        pool: (x, y) => poolOf(x, y, windows),
      })),
    ),
    ...[
      [4, 3],
      [9, 1],
      [12, 10],
    ].map((out) => ({
      divisor: { countIncludePad: true, divisorOverride: 0 },
      call: (x) => eg.adaptiveAvgPool2d(x, out),
      pool: () => ({
        planes: 6,
        rows: axis({ in: 9, out: out[0], isAdaptive: true }),
        columns: axis({ in: 10, out: out[1], isAdaptive: true }),
      }),
    })),
  ];
  for (const { divisor, call, pool } of cases) {
    const x = leaf(data, shape);
    const y = call(x);
    const g = randoms(y.numel, 4);
    const [grad] = eg.autograd.grad(y, [x], { gradOutputs: eg.tensor(g).reshape(y.shape) });
    const out = p.empty("float32", y.numel);
    const gradX = p.empty("float32", data.length);
    const fields = { pool: pool(x, y), divisor };
    p.kernel("avg_pool", { ...fields, x: p.view("float32", data), y: out });
    assertClose(await p.read(out), list(y));
    p.kernel("avg_pool_backward", { ...fields, gradY: p.view("float32", g), gradX });
    assertClose(await p.read(gradX), list(grad));
  }
});

const kSquare = { stride: [1, 1], padding: [0, 0], dilation: [1, 1], groups: 1 };
const kConvolutions = [
  { ...kSquare, batch: 2, channels: [3, 5], size: [7, 8], kernel: [3, 3], padding: [1, 1] },
  {
    batch: 3,
    groups: 2,
    channels: [4, 6],
    size: [9, 6],
    kernel: [2, 3],
    stride: [2, 1],
    padding: [0, 2],
    dilation: [1, 2],
  },
  { ...kSquare, batch: 1, channels: [30, 50], size: [12, 11], kernel: [1, 1], stride: [2, 2] },
  // Single positions, in fours.
  { ...kSquare, batch: 3, channels: [12, 20], size: [6, 6], kernel: [1, 1] },
  { ...kSquare, batch: 2, channels: [16, 20], size: [16, 32], kernel: [1, 1] },
  // Single positions: of one sample, of none, and with more weights than positions.
  { ...kSquare, batch: 1, channels: [5, 7], size: [4, 6], kernel: [1, 1] },
  { ...kSquare, batch: 0, channels: [4, 8], size: [2, 2], kernel: [1, 1] },
  { ...kSquare, batch: 2, channels: [40, 48], size: [2, 2], kernel: [1, 1] },
  // Depthwise.
  {
    ...kSquare,
    batch: 4,
    groups: 6,
    channels: [6, 6],
    size: [10, 10],
    kernel: [5, 5],
    stride: [3, 2],
    padding: [2, 2],
  },
  { ...kSquare, batch: 2, groups: 3, channels: [3, 6], size: [5, 19], kernel: [3, 3] },
  // Rows that are longer than the segments of shaders, both in positions and in taps.
  { ...kSquare, batch: 1, channels: [2, 3], size: [1, 45], kernel: [1, 9], padding: [0, 4] },
  {
    ...kSquare,
    batch: 2,
    channels: [2, 2],
    size: [3, 40],
    kernel: [2, 8],
    stride: [1, 3],
    padding: [1, 3],
    dilation: [2, 2],
  },
  // More channels, whose numbers are not multiples of the tile size.
  { ...kSquare, batch: 3, channels: [19, 37], size: [6, 13], kernel: [3, 3], padding: [1, 1] },
  { ...kSquare, batch: 9, channels: [1, 33], size: [28, 28], kernel: [5, 5] },
  // An output of a single position, and an empty batch.
  { ...kSquare, batch: 5, channels: [8, 7], size: [3, 3], kernel: [3, 3] },
  { ...kSquare, batch: 0, channels: [2, 3], size: [4, 4], kernel: [2, 2] },
];

testBoth("convolution and its gradients", async (p) => {
  for (const one of kConvolutions) {
    const { batch, groups, channels, size, kernel, stride, padding, dilation } = one;
    const xShape = [batch, channels[0], ...size];
    const wShape = [channels[1], channels[0] / groups, ...kernel];
    const [data, weights, biases] = [
      randoms(product(xShape), 1),
      randoms(product(wShape), 2),
      randoms(channels[1], 3),
    ];
    const [x, w] = [leaf(data, xShape), leaf(weights, wShape)];
    const y = eg.conv2d(x, w, eg.tensor(biases), stride, padding, dilation, groups);
    const g = randoms(y.numel, 4);
    const [gradX, gradW] = eg.autograd.grad(y, [x, w], {
      gradOutputs: eg.tensor(g).reshape(y.shape),
    });
    const [inChannels, outChannels] = channels;
    const conv = {
      ...{ batch, groups, inChannels, outChannels },
      ...{ in: size, kernel, out: y.shape.slice(2), stride, padding, dilation },
    };
    const [from, weight, bias, gradY] = [data, weights, biases, g].map((values) =>
      p.view("float32", values),
    );
    const results = [y.numel, data.length, weights.length].map((count) =>
      p.empty("float32", count),
    );
    p.kernel("convolve", { conv, x: from, weight, bias, y: results[0] });
    p.kernel("convolve_backward_input", { conv, gradY, weight, gradX: results[1] });
    p.kernel("convolve_backward_weight", { conv, gradY, x: from, gradWeight: results[2] });
    const title = JSON.stringify(one);
    assertClose(await p.read(results[0]), list(y), { title, absolute: 1e-4 });
    assertClose(await p.read(results[1]), list(gradX), { title, absolute: 1e-4 });
    assertClose(await p.read(results[2]), list(gradW), { title, absolute: 1e-4 });
  }
});
