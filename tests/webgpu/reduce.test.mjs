// Reductions and searches match the CPU's in every layout.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { assertClose, randoms, range } from "./support/close.mjs";
import { rows } from "./support/kernel_fields.mjs";
import { options, packedStrides, playing, testBoth } from "./support/playing.mjs";

const kFolds = [
  "sum",
  "prod",
  "max",
  "min",
  "countNonzero",
  "sumAbs",
  "sumSquares",
  "sumCenteredSquares",
  "sumExp",
  "maxAbs",
  "minAbs",
];
const product = (sizes) => sizes.reduce((a, b) => a * b, 1);

function reduction({
  fold,
  compute = "float32",
  divisor = 1,
  root = false,
  shape,
  dims,
  x,
  strides = packedStrides(shape),
  shifts,
  y,
}) {
  return {
    reduction: { fold: kFolds.indexOf(fold), compute, divisor, root },
    ...{ shape, dims, x, xStrides: strides, shifts, y },
  };
}

// A reduction in double precision; the results are in row-major order of the remaining dimensions.
function foldOf(fold, values, shape, strides, dims, shifts = []) {
  const maps = {
    countNonzero: (x) => (x === 0 ? 0 : 1),
    sumAbs: Math.abs,
    sumSquares: (x) => x * x,
    sumCenteredSquares: (x, shift) => (x - shift) ** 2,
    sumExp: (x, shift) => Math.exp(x - shift),
    maxAbs: Math.abs,
    minAbs: Math.abs,
  };
  const combine = /^max/.test(fold)
    ? Math.max
    : /^min/.test(fold)
      ? Math.min
      : fold === "prod"
        ? (a, b) => a * b
        : (a, b) => a + b;
  const neutral = /^max/.test(fold)
    ? -Infinity
    : /^min/.test(fold)
      ? Infinity
      : fold === "prod"
        ? 1
        : 0;
  const kept = shape.map((_, d) => d).filter((d) => !dims.includes(d));
  const results = new Array(product(kept.map((d) => shape[d]))).fill(neutral);
  for (let n = 0; n < product(shape); n++) {
    const place = packedStrides(shape).map((step, d) => Math.floor(n / step) % shape[d]);
    const result = kept.reduce((at, d) => at * shape[d] + place[d], 0);
    const x = values[place.reduce((at, i, d) => at + i * strides[d], 0)];
    results[result] = combine(results[result], (maps[fold] ?? ((v) => v))(x, shifts[result]));
  }
  return results;
}

async function check(call, values, { padding = 0, dtype = "float32", shifts } = {}) {
  const p = playing();
  const strides = call.strides ?? packedStrides(call.shape);
  const expected = foldOf(call.fold, values, call.shape, strides, call.dims, shifts);
  const x = p.view(dtype, values, padding);
  const y = p.empty(call.compute ?? "float32", expected.length, padding);
  const shiftView = shifts && p.view("float32", shifts, padding);
  p.kernel("reduce", reduction({ ...call, x, y, shifts: shiftView }));
  const finish = (total) => {
    const quotient = total / (call.divisor ?? 1);
    return call.root ? Math.sqrt(quotient) : quotient;
  };
  assertClose(await p.read(y), expected.map(finish), { title: JSON.stringify({ ...call, dtype }) });
}

test("every fold, along every dimension", options, async () => {
  const shape = [5, 7, 9];
  const values = randoms(5 * 7 * 9).map((x) => x + (x < 0 ? -0.5 : 0.5));
  for (const fold of kFolds) {
    for (const dims of [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2], []]) {
      const count = product(shape.filter((_, d) => !dims.includes(d)));
      const shifts = /Centered|Exp/.test(fold) ? randoms(count, 5) : undefined;
      await check({ fold, shape, dims }, values, { padding: 1, shifts });
    }
  }
});

test("strides, and what the total becomes", options, async () => {
  const values = randoms(6 * 40, 3);
  await check({ fold: "sum", shape: [40, 6], strides: [1, 40], dims: [0] }, values);
  await check({ fold: "sum", shape: [40, 6], strides: [1, 40], dims: [1] }, values);
  await check({ fold: "sum", shape: [4, 40, 6], strides: [0, 6, 1], dims: [0, 1] }, values);
  await check({ fold: "sumSquares", shape: [240], dims: [0], divisor: 240, root: true }, values);
});

test("long reductions take two passes", options, async () => {
  const values = randoms(100003, 9);
  await check({ fold: "sum", shape: [100003], dims: [0], divisor: 100003 }, values);
  await check({ fold: "max", shape: [100003], dims: [0] }, values);
  await check({ fold: "sum", shape: [10000, 10], dims: [0] }, values);
  await check({ fold: "minAbs", shape: [10, 10000], dims: [1] }, values);
  const shifts = [0.25, -0.5];
  await check({ fold: "sumCenteredSquares", shape: [2, 50000], dims: [1] }, values, { shifts });
  await check(
    { fold: "countNonzero", compute: "int64", shape: [50000], dims: [0] },
    range(50000, (i) => i % 3),
    { dtype: "uint8" },
  );
});

test("integers of every dtype are folded as int64", options, async () => {
  for (const dtype of ["int32", "int64", "uint8", "bool"]) {
    const values = range(60, (i) => (dtype === "bool" ? i % 2 : (i * 7) % 11));
    for (const fold of ["sum", "max", "min", "countNonzero", "prod"])
      await check({ fold, compute: "int64", shape: [5, 12], dims: [1] }, values, {
        dtype,
        padding: 2,
      });
    await check({ fold: "sum", shape: [5, 12], dims: [0] }, values, { dtype });
  }
});

test("NaN wins, and nothing is the neutral element", options, async () => {
  const p = playing();
  const x = p.view("float32", [1, NaN, 3, 4]);
  const y = p.empty("float32", 2);
  for (const fold of ["sum", "max", "min", "maxAbs"]) {
    p.kernel("reduce", reduction({ fold, shape: [2, 2], dims: [1], x, y }));
    assert.ok(Number.isNaN((await p.read(y))[0]), fold);
  }
  p.kernel("reduce", reduction({ fold: "sum", shape: [2, 0], dims: [1], x, y }));
  assert.deepEqual(await p.read(y), [0, 0]);
});

test("arg_reduce finds the first largest or smallest element", options, async () => {
  const shapes = [
    [[4, 300], 1],
    [[300, 4], 0],
    [[3, 5, 7], 1],
    [[1], 0],
  ];
  for (const dtype of ["float32", "int64", "uint8"]) {
    for (const [shape, dim] of shapes) {
      const p = playing();
      const list = randoms(product(shape), 4).map((x) => Math.floor(100 + 20 * x));
      const tensor = eg
        .tensor(dtype === "int64" ? list.map(BigInt) : list, { dtype })
        .reshape(shape);
      const x = p.view(dtype, list, 1);
      const count = list.length / shape[dim];
      const values = p.empty(dtype === "float32" ? dtype : "int64", count);
      const indices = p.empty("int64", count);
      for (const largest of [true, false]) {
        const xStrides = packedStrides(shape);
        p.kernel("arg_reduce", { largest, shape, dim, x, xStrides, values, indices });
        const expected = largest ? tensor.argmax(dim) : tensor.argmin(dim);
        assert.deepEqual(await p.read(indices), Array.from(expected.dataSync(), Number));
        const extreme = largest ? tensor.amax(dim) : tensor.amin(dim);
        assert.deepEqual(await p.read(values), Array.from(extreme.dataSync(), Number));
      }
    }
  }
  const p = playing();
  const x = p.view("float32", [1, NaN, 3, NaN]);
  const values = p.empty("float32", 1);
  const indices = p.empty("int64", 1);
  const fields = { largest: true, shape: [4], dim: 0, x, xStrides: [1], values, indices };
  p.kernel("arg_reduce", fields);
  assert.deepEqual(await p.read(indices), [1]);
});

testBoth("running totals and extremes", async (p) => {
  const shapes = [
    [3, 10, 4],
    [2, 1300, 1],
    [1, 600, 3],
    [500, 2, 1],
    // Rows of several chunks, of which the last one is short.
    [1, 20001, 1],
    [2, 17000, 2],
  ];
  for (const shape of shapes) {
    const count = product(shape);
    const values = randoms(count, 6);
    const x = eg.tensor(values).reshape(shape);
    const [from, factors] = [p.view("float32", values, 1), p.view("float32", randoms(count, 7))];
    const [y, indices] = [p.empty("float32", count), p.empty("int64", count)];
    const fields = { rows: rows(shape), x: from };
    const title = String(shape);
    for (const [kind, expected] of [x.cumsum(1), x.cumprod(1), eg.logcumsumexp(x, 1)].entries()) {
      p.kernel("scan", { ...fields, kind, y });
      assertClose(await p.read(y), Array.from(expected.dataSync()), { title, absolute: 1e-4 });
    }
    for (const largest of [true, false]) {
      p.kernel("running_extreme", { ...fields, largest, indices });
      const [, expected] = largest ? eg.cummax(x, 1) : eg.cummin(x, 1);
      assert.deepEqual(await p.read(indices), Array.from(expected.dataSync(), Number));
    }
    p.kernel("recurrence", { ...fields, factor: factors, y });
    const [, size, inner] = shape;
    const factor = randoms(count, 7);
    const expected = [...values];
    for (let i = 0; i < count; i++)
      if (Math.floor(i / inner) % size > 0) expected[i] += factor[i] * expected[i - inner];
    assertClose(await p.read(y), expected, { title, absolute: 1e-4 });
  }
  const x = p.view(
    "int64",
    range(2000, (i) => i % 10),
  );
  const y = p.empty("int64", 2000);
  p.kernel("scan", { kind: 0, rows: rows([1, 2000, 1]), x, y });
  let total = 0;
  assert.deepEqual(
    await p.read(y),
    range(2000, (i) => (total += i % 10)),
  );
});

testBoth("int64 has all its bits, in one lane and in many", async (p) => {
  for (const size of [7, 1000, 9000]) {
    const values = range(size, (i) => (((i * 7919) % 501) - 250) * 2 ** 32 + i);
    const x = p.view("int64", values);
    const whole = { shape: [size], dims: [0] };
    const sum = values.reduce((total, value) => total + value, 0);
    for (const [fold, expected] of Object.entries({
      sum,
      max: Math.max(...values),
      min: Math.min(...values),
      countNonzero: size - values.filter((value) => value === 0).length,
    })) {
      const y = p.empty("int64", 1);
      p.kernel("reduce", reduction({ fold, compute: "int64", ...whole, x, y }));
      assert.deepEqual(await p.read(y), [expected], `${fold} of ${size}`);
    }
    const [best, places] = [p.empty("int64", 1), p.empty("int64", 1)];
    p.kernel("arg_reduce", {
      ...{ largest: false, shape: [size], dim: 0, x, xStrides: [1] },
      ...{ values: best, indices: places },
    });
    assert.deepEqual(await p.read(places), [values.indexOf(Math.min(...values))]);
    const [sums, order] = [p.empty("int64", size), p.empty("int64", size)];
    p.kernel("scan", { kind: 0, rows: rows([1, size, 1]), x, y: sums });
    let total = 0;
    assert.deepEqual(
      await p.read(sums),
      values.map((value) => (total += value)),
    );
    const sorting = { rows: rows([1, size, 1]), first: 0, count: size, descending: true };
    p.kernel("order_rows", { ...sorting, x, indices: order });
    const sorted = range(size).sort((a, b) => values[b] - values[a]);
    assert.deepEqual(await p.read(order), sorted);
  }
});
