// Dispatches of a recording that do not depend on each other run as one on a GPU.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClose, randoms, range } from "./support/close.mjs";
import { elementwise, rows } from "./support/kernel_fields.mjs";
import { devices, options, Playing } from "./support/playing.mjs";

function add(p, a, b, y) {
  p.kernel(
    "elementwise",
    elementwise({ op: "add", constants: [1], shape: [y.count] }, [
      [y, [1]],
      [a, [1]],
      [b, [1]],
    ]),
    "add",
  );
}

function multiply(p, [m, n, k], a, b, c) {
  const layout = (rowStride, columnStride) => ({ batchStrides: [], rowStride, columnStride });
  p.kernel("matrix_product", {
    ...{ sizes: { batch: [], m, n, k }, a, b, c, alpha: 1, beta: 0 },
    ...{ aLayout: layout(k, 1), bLayout: layout(n, 1), cLayout: layout(n, 1) },
  });
}

/** Records what `work` calls, replays it, and returns the number of dispatches of a replay. */
async function dispatchesOf(p, work) {
  p.stream.beginRecording(1);
  work();
  p.stream.endRecording();
  const any = p.view("float32", [0]);
  await p.read(any);
  const before = p.stats.dispatches;
  p.stream.playRecording(1);
  await p.read(any);
  return p.stats.dispatches - before;
}

test("kernels of different kinds", options, async () => {
  const p = new Playing({ on: devices.hardware });
  const data = randoms(70 * 60, 3);
  const weights = randoms(60 * 50, 4);
  const [a, b] = [p.view("float32", data), p.view("float32", weights)];
  const [c, shares, totals, twice] = [70 * 50, 70 * 60, 70 * 60, 70 * 60].map((n) =>
    p.empty("float32", n),
  );
  const count = await dispatchesOf(p, () => {
    multiply(p, [70, 50, 60], a, b, c);
    p.kernel("softmax", { kind: 0, rows: rows([70, 60, 1]), x: a, y: shares });
    add(p, a, a, twice);
    p.kernel("scan", { kind: 0, rows: rows([70, 60, 1]), x: a, y: totals });
  });
  assert.ok(count <= 2, `${count} dispatches`);
  const product = range(70 * 50, (i) => {
    let sum = 0;
    for (let k = 0; k < 60; k++)
      sum += data[Math.floor(i / 50) * 60 + k] * weights[k * 50 + (i % 50)];
    return sum;
  });
  assertClose(await p.read(c), product, { absolute: 1e-4 });
  assertClose(
    await p.read(twice),
    data.map((x) => 2 * x),
  );
  const row = (list) => list.slice(69 * 60);
  const exponentials = row(data).map(Math.exp);
  const whole = exponentials.reduce((sum, x) => sum + x, 0);
  assertClose(
    row(await p.read(shares)),
    exponentials.map((x) => x / whole),
  );
  let total = 0;
  assertClose(
    row(await p.read(totals)),
    row(data).map((x) => (total += x)),
    { absolute: 1e-5 },
  );
});

test("what depends on another dispatch stays after it", options, async () => {
  const p = new Playing({ on: devices.hardware });
  const [x, y, z, w] = [1, 2, 3, 4].map((i) => p.view("float32", [i, 10 * i]));
  const count = await dispatchesOf(p, () => {
    add(p, x, x, y); // y = 2x
    add(p, y, x, z); // reads y
    add(p, x, x, w); // beside the first
    add(p, w, w, y); // writes what the second has read
    add(p, y, z, x); // writes what the first has read
  });
  assert.equal(count, 4);
  // Twice, because the recording has run when it was made: x = 4x + 3x, each time.
  assert.deepEqual(await p.read(x), [49, 490]);
  assert.deepEqual(await p.read(y), [28, 280]);
});

test("a software adapter runs them one after the other", options, async () => {
  const p = new Playing();
  const [x, y, z] = [1, 2, 3].map((i) => p.view("float32", [i, 10 * i]));
  const count = await dispatchesOf(p, () => {
    add(p, x, x, y);
    add(p, x, x, z);
  });
  assert.equal(count, 2);
});
