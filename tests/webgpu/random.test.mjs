// Kernels that draw random numbers.

import assert from "node:assert/strict";
import { RandomKind, testBoth } from "./support/playing.mjs";

const position = (group = 0, keyLow = 0, keyHigh = 0) => ({ keyLow, keyHigh, group });

async function draw(p, dtype, count, { kind, a = 0, b = 0, from = position(), padding = 0 }) {
  const y = p.empty(dtype, count, padding);
  p.kernel("draw_random", { kind, count, position: from, a, b, y });
  return p.read(y);
}

const words = (p, from) => draw(p, "int32", 4, { kind: RandomKind.Integer, from });

testBoth("the words are those of Philox 4x32-10", async (p) => {
  // The known answers that its authors publish, for counters whose upper half is 0.
  const expected = [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8].map((word) => word | 0);
  assert.deepEqual(await words(p, position()), expected);
  // The group is a counter of 64 bits.
  const next = await draw(p, "int32", 8, { kind: RandomKind.Integer, from: position(2 ** 32 - 1) });
  assert.deepEqual(next.slice(4), await words(p, position(2 ** 32)));
  assert.notDeepEqual(next.slice(0, 4), next.slice(4));
  assert.notDeepEqual(await words(p, position(0, 1)), await words(p, position(0, 0, 1)));
});

const mean = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;
const spread = (list) => Math.sqrt(mean(list.map((x) => (x - mean(list)) ** 2)));

testBoth("numbers have the distribution that is asked for", async (p) => {
  const count = 20001;
  const of = (dtype, kind, a, b) => draw(p, dtype, count, { kind, a, b, from: position(5, 7, 9) });
  const near = (actual, expected, error) =>
    assert.ok(Math.abs(actual - expected) < error, `${actual}, not ${expected}`);

  const uniform = await of("float32", RandomKind.Uniform, -1, 3);
  assert.ok(uniform.every((x) => x >= -1 && x < 3));
  near(mean(uniform), 1, 0.05);
  near(spread(uniform), 4 / Math.sqrt(12), 0.05);

  const normal = await of("float32", RandomKind.Normal, 2, 0.5);
  near(mean(normal), 2, 0.02);
  near(spread(normal), 0.5, 0.02);
  // The share within a standard deviation, and no relation between neighbors, of which two come from the same words.
  near(mean(normal.map((x) => Number(Math.abs(x - 2) < 0.5))), 0.6827, 0.02);
  near(mean(normal.slice(1).map((x, i) => (x - 2) * (normal[i] - 2))), 0, 0.01);

  const integers = await of("int64", RandomKind.Integer, -3, 5);
  for (let i = -3; i < 2; i++) near(integers.filter((x) => x === i).length / count, 1 / 5, 0.02);

  for (const dtype of ["float32", "int32", "bool"]) {
    const kept = await of(dtype, RandomKind.Bernoulli, 0.3);
    assert.deepEqual([...new Set(kept)].sort(), [0, 1]);
    near(mean(kept), 0.3, 0.02);
  }
  assert.equal(mean(await of("bool", RandomKind.Bernoulli, 1)), 1);
  assert.equal(mean(await of("bool", RandomKind.Bernoulli, 0)), 0);

  const waits = await of("float32", RandomKind.Exponential, 2);
  assert.ok(waits.every((x) => x >= 0));
  near(mean(waits), 0.5, 0.02);
  near(spread(waits), 0.5, 0.03);
});

testBoth("numbers have the distribution that is asked for, of skew ones", async (p) => {
  const count = 20001;
  const of = (dtype, kind, a, b) => draw(p, dtype, count, { kind, a, b, from: position(5, 7, 9) });
  const share = (list, isCounted) => list.filter(isCounted).length / count;
  const near = (actual, expected) =>
    assert.ok(Math.abs(actual - expected) < 0.02, `${actual}, not ${expected}`);

  for (const dtype of ["float32", "int32", "int64"]) {
    const trials = await of(dtype, RandomKind.Geometric, -Math.log1p(-0.3));
    for (let k = 1; k < 5; k++)
      near(
        share(trials, (x) => x === k),
        0.3 * 0.7 ** (k - 1),
      );
    assert.ok(trials.every((x) => x >= 1 && Number.isInteger(Number(x))));
  }
  const cauchy = await of("float32", RandomKind.Cauchy, 1, 2);
  for (const [limit, expected] of [
    [-1, 0.25],
    [1, 0.5],
    [3, 0.75],
    [1 + 2 * Math.tan(0.4 * Math.PI), 0.9],
  ])
    near(
      share(cauchy, (x) => x < limit),
      expected,
    );
  const logNormal = await of("float32", RandomKind.LogNormal, 1, 0.5);
  for (const [limit, expected] of [
    [Math.exp(0.5), 0.1587],
    [Math.E, 0.5],
    [Math.exp(1.5), 0.8413],
  ])
    near(
      share(logNormal, (x) => x < limit),
      expected,
    );
});

testBoth("numbers with a rate or weights of their own", async (p) => {
  const count = 5001;
  const rates = Array.from({ length: count }, (_, i) => [2, 30][i % 2]);
  const y = p.empty("float32", count, 1);
  p.kernel("draw_poisson", {
    ...{
      op: "poisson",
      count,
      position: position(2 ** 32 - 9, 3),
      rates: p.view("float32", rates),
      y,
    },
  });
  const events = await p.read(y);
  const few = events.filter((_, i) => i % 2 === 0);
  const many = events.filter((_, i) => i % 2 === 1);
  for (const [found, rate] of [
    [few, 2],
    [many, 30],
  ]) {
    const error = Math.abs(mean(found) - rate);
    assert.ok(error < 5 * Math.sqrt(rate / found.length), `${rate}: ${mean(found)}`);
    assert.ok(Math.abs(spread(found) / Math.sqrt(rate) - 1) < 0.05, `${spread(found)}`);
  }

  const weights = [0, 1, 0, 3, 5, 0, 5, 0];
  const from = {
    ...{ rows: 2, size: 4, weights: p.view("float32", weights, 1) },
    ...{ least: p.view("float32", [0, 0]), most: p.view("float32", [3, 5]) },
  };
  const sums = p.view("float32", [0, 1, 1, 4, 5, 5, 10, 10]);
  const positions = p.empty("int64", 2 * count, 1);
  const drawn = { op: "multinomial", from, position: position(3), count, sums, positions };
  p.kernel("draw_positions", drawn);
  const found = await p.read(positions);
  const share = (row, wanted) =>
    found.slice(row * count, (row + 1) * count).filter((at) => at === wanted).length / count;
  for (const [row, wanted, chance] of [
    [0, 1, 0.25],
    [0, 3, 0.75],
    [1, 0, 0.5],
    [1, 2, 0.5],
  ])
    assert.ok(Math.abs(share(row, wanted) - chance) < 0.04, `${row} ${wanted}`);

  const quotients = p.empty("float32", 8);
  p.kernel("draw_races", { op: "multinomial", from, position: position(4), quotients });
  for (const [i, quotient] of (await p.read(quotients)).entries())
    assert.ok(weights[i] === 0 ? quotient === 0 : quotient > 0, `${i}: ${quotient}`);
});

testBoth("a dtype does not change what is drawn, and nothing else is written", async (p) => {
  const draws = { kind: RandomKind.Integer, a: 3, b: 200, from: position(1, 2, 3) };
  const expected = await draw(p, "int32", 11, draws);
  for (const dtype of ["int64", "uint8", "float32"])
    for (const padding of [0, 1, 4])
      assert.deepEqual(await draw(p, dtype, 11, { ...draws, padding }), expected, dtype);
  // The bytes after the last element belong to another tensor.
  const whole = p.empty("uint8", 16);
  p.kernel("draw_random", {
    ...{ kind: RandomKind.Integer, count: 5, position: position(), a: 0, b: 10 },
    y: { ...whole, offset: 4 },
  });
  const bytes = await p.read(whole);
  assert.deepEqual([...bytes.slice(0, 4), ...bytes.slice(9)], new Array(11).fill(77));
  assert.ok(bytes.slice(4, 9).every((x) => x < 10));
});

testBoth("dropout keeps what its mask has", async (p) => {
  const values = Array.from({ length: 1003 }, (_, i) => (i === 7 ? NaN : i + 1));
  const x = p.view("float32", values);
  const [mask, y] = [p.empty("bool", values.length, 1), p.empty("float32", values.length)];
  p.kernel("draw_dropout", {
    ...{ count: values.length, keep: 0.75, position: position(0, 4), x, mask, y },
  });
  const kept = await p.read(mask);
  const found = await p.read(y);
  assert.ok(Math.abs(mean(kept) - 0.75) < 0.06);
  for (const [i, value] of values.entries()) {
    const expected = Number.isNaN(value) ? NaN : kept[i] ? Math.fround(value / 0.75) : 0;
    const isClose = Math.abs(found[i] - expected) <= 1e-6 * Math.abs(expected);
    assert.ok(isClose || Object.is(found[i], expected), `${i}: ${found[i]}`);
  }
});

testBoth("numbers in equal steps", async (p) => {
  for (const dtype of ["float32", "int32", "int64", "uint8", "bool"]) {
    const y = p.empty(dtype, 7, 4);
    p.kernel("ramp", { count: 7, first: 20, step: -3, y });
    const expected = [20, 17, 14, 11, 8, 5, 2].map((x) => (dtype === "bool" ? 1 : x));
    assert.deepEqual(await p.read(y), expected, dtype);
  }
});
