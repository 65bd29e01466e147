// Dispatches of a recording that do not depend on each other run as one on a GPU.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClose, randoms, range } from "./support/close.mjs";
import { elementwise, rows } from "./support/kernel_fields.mjs";
import { devices, options, Playing } from "./support/playing.mjs";
import { replacing } from "./support/replacing.mjs";

function add(p, a, b, y) {
  apply(p, "add", [1], [y, a, b]);
}

/** Calls a formula with packed operands; the first one is written. */
function apply(p, op, constants, operands) {
  const given = { op, form: 0, gradientOf: -1, constants, shape: [operands[0].count] };
  p.kernel(
    "elementwise",
    elementwise(
      given,
      operands.map((one) => [one, [1]]),
    ),
    op,
  );
}

function multiply(p, [m, n, k], a, b, c) {
  const layout = (rowStride, columnStride) => ({ batchStrides: [], rowStride, columnStride });
  p.kernel("matrix_product", {
    ...{ sizes: { batch: [], m, n, k }, a, b, c, alpha: 1, beta: 0 },
    ...{ aLayout: layout(k, 1), bLayout: layout(n, 1), cLayout: layout(n, 1) },
  });
}

let recordings = 0;

/** Records what `work` calls, replays it after `change`, and returns the number of dispatches of a replay. */
async function dispatchesOf(p, work, change = () => undefined) {
  const recording = ++recordings;
  p.stream.beginRecording(recording);
  work();
  p.stream.endRecording();
  const any = p.view("float32", [0]);
  await p.read(any);
  change();
  const before = p.stats.dispatches;
  p.stream.playRecording(recording);
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

function sumColumns(p, [rows, columns], x, y) {
  p.kernel("reduce", {
    reduction: { fold: 0, compute: "float32", divisor: 1, root: false },
    ...{ shape: [rows, columns], dims: [0], x, xStrides: [columns, 1], shifts: undefined, y },
  });
}

test("kernels whose workgroups have different sizes", options, async () => {
  const p = new Playing({ on: devices.hardware });
  const [m, n, k] = [70, 52, 60];
  const [left, right, many] = [randoms(m * k, 3), randoms(k * n, 4), randoms(5000, 5)];
  const [a, b, d] = [left, right, many].map((one) => p.view("float32", one));
  const [c, sums, twice] = [m * n, k, 5000].map((count) => p.empty("float32", count));
  const count = await dispatchesOf(
    p,
    () => {
      sumColumns(p, [m, k], a, sums); // 256 invocations that share sums
      add(p, d, d, twice); // 256, each by itself
      multiply(p, [m, n, k], a, b, c); // 64
    },
    () =>
      p.stream.write(
        a.block,
        0,
        Float32Array.from(left, (x) => 2 * x),
      ),
  );
  assert.equal(count, 1);
  const tolerance = { absolute: 1e-4 };
  const expected = multiplied([m, n, k], left, right).map((x) => 2 * x);
  assertClose(await p.read(c), expected, tolerance);
  const columns = range(k, (j) => range(m, (i) => 2 * left[i * k + j]).reduce((x, y) => x + y, 0));
  assertClose(await p.read(sums), columns, tolerance);
  assertClose(
    await p.read(twice),
    many.map((x) => 2 * x),
  );
});

test("only as many as the device has workgroup memory for", options, async () => {
  // A product of these tiles takes 4 KiB.
  for (const [kibibytes, expected] of Object.entries({ 4: 4, 8: 2, 16: 1 })) {
    const limits = (device) =>
      replacing(device.limits, { maxComputeWorkgroupStorageSize: () => 1024 * kibibytes });
    const p = new Playing({ on: replacing(devices.hardware, { limits }) });
    const sizes = [40, 40, 16];
    const [a, b] = range(2, () => p.view("float32", randoms(40 * 16, 3)));
    const results = range(4, () => p.empty("float32", 40 * 40));
    const count = await dispatchesOf(p, () => {
      for (const c of results) multiply(p, sizes, a, b, c);
    });
    assert.equal(count, expected, `${kibibytes} KiB`);
  }
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
  assert.equal(count, 3); // the second is a part of the first
  // Twice, because the recording has run when it was made: x = 4x + 3x, each time.
  assert.deepEqual(await p.read(x), [49, 490]);
  assert.deepEqual(await p.read(y), [28, 280]);
});

/** The sums of products of rows and columns. */
function multiplied([m, n, k], a, b) {
  return range(m * n, (i) => {
    let sum = 0;
    for (let j = 0; j < k; j++) sum += a[Math.floor(i / n) * k + j] * b[j * n + (i % n)];
    return sum;
  });
}

for (const [title, sizes] of Object.entries({
  "of tiles": [70, 52, 60],
  "of split sums": [8, 12, 700],
  "of a few rows": [2, 40, 60],
}))
  test(
    `what is computed element by element from a product ${title} becomes a part of it`,
    options,
    async () => {
      const [m, n, k] = sizes;
      const p = new Playing({ on: devices.hardware });
      const [left, right, rest] = [randoms(m * k, 3), randoms(k * n, 4), randoms(m * n, 5)];
      const other = randoms(m * k, 6);
      const [a, b, r] = [left, right, rest].map((one) => p.view("float32", one));
      const [c, sum, twice, product] = range(4, () => p.empty("float32", m * n));
      const alone = await dispatchesOf(p, () => multiply(p, sizes, a, b, c));
      const count = await dispatchesOf(
        p,
        () => {
          multiply(p, sizes, a, b, c);
          add(p, r, c, sum);
          add(p, sum, sum, twice); // from the element that has just been computed
          apply(p, "mul", [], [product, twice, c]); // from two of them: a dispatch of its own
        },
        () => p.stream.write(a.block, 0, Float32Array.from(other)),
      );
      assert.equal(count, alone + 1);
      const expected = multiplied(sizes, other, right);
      const added = expected.map((x, i) => x + rest[i]);
      const tolerance = { absolute: 1e-3 };
      assertClose(await p.read(c), expected, tolerance);
      assertClose(await p.read(sum), added, tolerance);
      assertClose(
        await p.read(twice),
        added.map((x) => 2 * x),
        tolerance,
      );
      assertClose(
        await p.read(product),
        added.map((x, i) => 2 * x * expected[i]),
        { absolute: 1e-2 },
      );
    },
  );

test("a part that is computed in place replaces what it reads", options, async () => {
  const sizes = [20, 24, 12];
  const p = new Playing({ on: devices.hardware });
  const [left, right, changed] = [randoms(20 * 12, 3), randoms(12 * 24, 4), randoms(20 * 12, 6)];
  const [a, b] = [left, right].map((one) => p.view("float32", one));
  const [c, other] = [p.empty("float32", 480), p.empty("float32", 480)];
  const count = await dispatchesOf(
    p,
    () => {
      multiply(p, sizes, a, b, c);
      apply(p, "square", [], [c, c]);
      add(p, c, c, other);
      apply(p, "neg", [], [c, c]);
    },
    () => p.stream.write(a.block, 0, Float32Array.from(changed)),
  );
  assert.equal(count, 1);
  const squares = multiplied(sizes, changed, right).map((x) => x * x);
  assertClose(
    await p.read(c),
    squares.map((x) => -x),
    { absolute: 1e-3 },
  );
  assertClose(
    await p.read(other),
    squares.map((x) => 2 * x),
    { absolute: 1e-3 },
  );
});

test(
  "a chain of formulas that compute four elements at a time is one dispatch",
  options,
  async () => {
    const n = 2 ** 14;
    const p = new Playing({ on: devices.hardware });
    const [left, right, changed] = range(3, (i) => randoms(n, 3 + i));
    const [a, b] = [left, right].map((one) => p.view("float32", one));
    const [sum, square, other] = range(3, () => p.empty("float32", n));
    const count = await dispatchesOf(
      p,
      () => {
        add(p, a, b, sum);
        apply(p, "square", [], [square, sum]);
        apply(p, "neg", [], [sum, sum]);
        add(p, square, b, other);
      },
      () => p.stream.write(a.block, 0, Float32Array.from(changed)),
    );
    assert.equal(count, 1);
    const expected = changed.map((x, i) => x + right[i]);
    const tolerance = { absolute: 1e-5 };
    assertClose(
      await p.read(sum),
      expected.map((x) => -x),
      tolerance,
    );
    assertClose(
      await p.read(square),
      expected.map((x) => x * x),
      tolerance,
    );
    assertClose(
      await p.read(other),
      expected.map((x, i) => x * x + right[i]),
      tolerance,
    );
  },
);

test("a product comes later where its elements cannot be used earlier", options, async () => {
  const sizes = [20, 24, 12];
  const p = new Playing({ on: devices.hardware });
  const [left, right] = [randoms(20 * 12, 3), randoms(12 * 24, 4)];
  const [a, b] = [left, right].map((one) => p.view("float32", one));
  const [c, old, total] = [
    p.empty("float32", 480),
    p.view(
      "float32",
      range(480, () => 1),
    ),
    p.empty("float32", 480),
  ];
  const count = await dispatchesOf(p, () => {
    multiply(p, sizes, a, b, c);
    add(p, old, old, total); // reads what is written next
    add(p, c, c, old);
  });
  assert.equal(count, 2);
  const expected = multiplied(sizes, left, right).map((x) => 2 * x);
  assertClose(await p.read(old), expected, { absolute: 1e-4 });
  // The recording has run when it was made, and once more.
  assertClose(
    await p.read(total),
    expected.map((x) => 2 * x),
    { absolute: 1e-4 },
  );
});

test(
  "what would change elements that others still need stays a dispatch of its own",
  options,
  async () => {
    const sizes = [20, 24, 12];
    const p = new Playing({ on: devices.hardware });
    const [left, right] = [randoms(20 * 12, 3), randoms(12 * 24, 4)];
    const memory = p.view("float32", [...left, ...range(240, () => 0)]);
    const [a, b] = [{ ...memory, count: 240 }, p.view("float32", right)];
    const [c, other] = [p.empty("float32", 480), p.empty("float32", 480)];
    const count = await dispatchesOf(p, () => {
      multiply(p, sizes, a, b, c);
      add(p, c, c, { ...memory, count: 480 }); // over the operand of the product
      multiply(p, [20, 24, 12], { ...memory, count: 240 }, b, other);
    });
    assert.equal(count, 3);
    const once = multiplied(sizes, left, right).map((x) => 2 * x);
    const twice = multiplied(sizes, once.slice(0, 240), right).map((x) => 2 * x);
    assertClose(await p.read({ ...memory, count: 480 }), twice, { absolute: 1e-3 });
  },
);

test("a software adapter runs them one after the other", options, async () => {
  const p = new Playing();
  const [x, y, z] = [1, 2, 3].map((i) => p.view("float32", [i, 10 * i]));
  const count = await dispatchesOf(p, () => {
    add(p, x, x, y);
    add(p, x, x, z);
  });
  assert.equal(count, 2);
});

test("calls that are repeated in a recording, and known from before", options, async () => {
  const p = new Playing({ on: devices.hardware });
  const [x, two, first, second] = [
    [1, 2],
    [2, 2],
    [0, 0],
    [0, 0],
  ].map((of) => p.view("float32", of));
  const copied = [first, second].map(({ count }) => p.empty("int32", count));
  const double = () => apply(p, "mul", [], [x, x, two]);
  const work = () => {
    for (const to of copied) {
      double();
      p.kernel("copy", { shape: [2], to, toStrides: [1], from: x, fromStrides: [1] });
    }
    // Something that is merged.
    add(p, two, two, first);
    add(p, two, two, second);
  };
  // From the third time on, the work of a command is what it recorded before.
  work();
  work();
  await p.play();
  await dispatchesOf(p, work);
  assert.deepEqual(await p.read(copied[0]), [2 ** 7, 2 ** 8]);
  assert.deepEqual(await p.read(copied[1]), [2 ** 8, 2 ** 9]);
});
