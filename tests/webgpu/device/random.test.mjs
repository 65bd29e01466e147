// Random numbers and factories of the device: drawn there, repeatable, and without a transfer.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects } from "../../js/support/assert.mjs";
import { eg, options } from "../support/engine.mjs";

const { nn } = eg;
const device = "webgpu";

/** Returns what `fn` returns, and the bytes that it wrote to the device. */
async function written(fn) {
  const marker = eg.zeros([], { device });
  const bytes = async () => {
    await marker.data();
    return eg.webgpuStats().bytesWritten;
  };
  const before = await bytes();
  const result = fn();
  return { result, bytes: (await bytes()) - before };
}

const kDraws = {
  rand: () => eg.rand([33], { device }),
  randn: () => eg.randn([5, 7], { device }),
  "rand of float16": () => eg.rand([33], { device, dtype: "float16" }),
  "randn of bfloat16": () => eg.randn([33], { device, dtype: "bfloat16" }),
  bernoulli: () => eg.bernoulli(eg.full([60], 0.5, { device })),
  rrelu: () => nn.functional.rrelu(eg.full([20], -1, { device }), { training: true }),
  "complex randn": () => eg.randn([5], { device, dtype: "complex64" }),
  "complex randLike": () => eg.randLike(eg.zeros([5], { device, dtype: "complex64" })),
  "complex normal_": () => eg.zeros([5], { device, dtype: "complex64" }).normal_(1, 2),
  randint: () => eg.randint(-5, 9, [40], { device }),
  randperm: () => eg.randperm(50, { device }),
  normal: () => eg.normal(2, 3, [9], { device }),
  uniform_: () => eg.zeros([4, 4], { device }).uniform_(-1, 1),
  "uniform_ of a part": () => eg.zeros([4, 4], { device }).narrow(1, 1, 2).uniform_(1, 2),
  normal_: () => eg.zeros([30], { device }).normal_(0, 2),
  bernoulli_: () => eg.zeros([30], { device }).bernoulli_(0.4),
  exponential_: () => eg.zeros([30], { device }).exponential_(2),
  geometric_: () => eg.zeros([30], { device }).geometric_(0.1),
  "geometric_ of int64": () => eg.zeros([30], { device, dtype: "int64" }).geometric_(0.1),
  cauchy_: () => eg.zeros([30], { device }).cauchy_(1, 2),
  logNormal_: () => eg.zeros([30], { device }).logNormal_(1, 0.5),
  poisson: () => eg.poisson(eg.full([30], 4, { device })),
  "poisson of float16": () => eg.poisson(eg.full([30], 4, { device, dtype: "float16" })),
  multinomial: () => eg.multinomial(eg.ones([3, 40], { device }), 9),
  "multinomial of one": () => eg.multinomial(eg.ones([40, 9], { device }), 1),
  "multinomial with replacement": () => eg.multinomial(eg.ones([40], { device }), 30, true),
  random_: () => eg.zeros([30], { device, dtype: "uint8" }).random_(),
  randnLike: () => eg.randnLike(eg.zeros([6], { device })),
  dropout: () => eg.dropout(eg.ones([100], { device }), 0.5, true),
  xavierUniform: () => nn.init.xavierUniform_(eg.zeros([8, 4], { device })),
  truncNormal: () => nn.init.truncNormal_(eg.zeros([20], { device })),
};

// The bytes of the numbers that are operands.
const kNumbers = { "rand of float16": 4, bernoulli: 12, rrelu: 8, truncNormal: 8 };

/** Returns the chi-square statistic of whole numbers, in standard deviations from its mean; rare numbers are counted together. */
function chiSquare(found, chances) {
  const counts = new Array(chances.length).fill(0);
  for (const x of found) counts[Number(x)]++;
  assert.equal(
    counts.length,
    chances.length,
    "a number that none of the chances is for has been drawn",
  );
  let sum = 0;
  let cells = 0;
  const rare = { chance: 0, count: 0 };
  const add = (chance, count) => {
    sum += (count - chance * found.length) ** 2 / (chance * found.length);
    cells++;
  };
  for (const [i, chance] of chances.entries()) {
    if (chance === 0) assert.equal(counts[i], 0, `${i} has no chance`);
    else if (chance * found.length >= 10) add(chance, counts[i]);
    else {
      rare.chance += chance;
      rare.count += counts[i];
    }
  }
  if (rare.chance * found.length >= 1) add(rare.chance, rare.count);
  return (sum - (cells - 1)) / Math.sqrt(2 * (cells - 1));
}

describe("random numbers of the device", options, () => {
  for (const [name, draw] of Object.entries(kDraws))
    test(`${name}: drawn there, and the same after manualSeed()`, async () => {
      eg.manualSeed(3);
      const { result, bytes } = await written(draw);
      // The numbers of arithmetic are written to the device.
      assert.equal(bytes, kNumbers[name] ?? 0);
      assert.equal(result.device, device);
      const first = Array.from(await result.data());
      assert.notDeepEqual(Array.from(await draw().data()), first);
      eg.manualSeed(3);
      assert.deepEqual(Array.from(await draw().data()), first);
      eg.manualSeed(4);
      assert.notDeepEqual(Array.from(await draw().data()), first);
    });

  test("the state of the generator has the device's position, too", async () => {
    eg.manualSeed(8);
    eg.rand([5], { device });
    const state = eg.random.getState();
    const draw = async () => Array.from(await eg.rand([5], { device }).data());
    const next = await draw();
    assert.notDeepEqual(await draw(), next);
    eg.random.setState(state);
    assert.deepEqual(await draw(), next);
  });

  test("what the CPU draws does not depend on it", () => {
    eg.manualSeed(8);
    const expected = Array.from(eg.rand([5]).dataSync());
    eg.manualSeed(8);
    eg.rand([5], { device });
    assert.deepEqual(Array.from(eg.rand([5]).dataSync()), expected);
  });

  test("a permutation has every number once", async () => {
    for (const n of [0, 1, 1000]) {
      const found = Array.from(await eg.randperm(n, { device }).data(), Number);
      assert.deepEqual(
        found.sort((a, b) => a - b),
        Array.from({ length: n }, (_, i) => i),
      );
    }
  });

  test("arguments are checked before anything is drawn", async () => {
    const x = eg.zeros([3], { device });
    assert.throws(() => x.uniform_(2, 1), { code: "InvalidArgument" });
    assert.throws(() => x.normal_(0, -1), { code: "InvalidArgument" });
    assert.throws(() => x.bernoulli_(1.5), { code: "InvalidArgument" });
    assert.throws(() => x.exponential_(0), { code: "InvalidArgument" });
    assert.throws(() => eg.randint(5, 5, [2], { device }), { code: "InvalidArgument" });
    assert.throws(() => eg.zeros([2], { device, dtype: "float64" }), { code: "DtypeMismatch" });
    assert.deepEqual(Array.from(await x.data()), [0, 0, 0]);
    assert.equal(eg.zeros([1]).device, "cpu");
  });

  test("bernoulli samples each probability, and what is none gives NaN", async () => {
    const p = eg.tensor([0, 1, 0.25, -0.1, 1.5, Number.NaN], { device });
    const [zero, one, some, ...none] = await eg
      .bernoulli(p.unsqueeze(1).expand(6, 4000))
      .mean(1)
      .data();
    assert.deepEqual([zero, one, ...none], [0, 1, NaN, NaN, NaN]);
    assert.ok(Math.abs(some - 0.25) < 0.04);
    const x = eg.full([3], 0.5, { device, requiresGrad: true });
    eg.bernoulli(x).sum().backward();
    assert.deepEqual(Array.from(await x.grad.data()), [0, 0, 0]);
  });

  test("poisson has the mean and the variance of every rate", async () => {
    const rates = [0, 0.01, 0.5, 3, 9.9, 10, 25, 400, 1e5, 1e8];
    const count = 20_000;
    eg.manualSeed(5);
    const found = eg.poisson(eg.tensor(rates, { device }).unsqueeze(1).expand(rates.length, count));
    const means = await found.sub(eg.tensor(rates, { device }).unsqueeze(1)).mean(1).data();
    const variances = await found.var(1).data();
    for (const [i, rate] of rates.entries()) {
      const name = `rate ${rate}: ${means[i]}, ${variances[i]}`;
      assert.ok(Math.abs(means[i]) <= 5 * Math.sqrt(rate / count), name);
      const error = Math.sqrt((rate + 2 * rate ** 2) / count);
      assert.ok(Math.abs(variances[i] - rate) <= 5 * error, name);
    }
    assert.ok((await found.data()).every((x) => x >= 0 && Number.isInteger(x)));
  });

  test("poisson counts each number as often as its rate says", async () => {
    const count = 40_000;
    for (const rate of [2.5, 14, 60]) {
      eg.manualSeed(6);
      const found = await eg.poisson(eg.full([count], rate, { device })).data();
      const chances = [Math.exp(-rate)];
      for (let k = 1; k < 8 * rate + 10; k++) chances.push((chances[k - 1] * rate) / k);
      assert.ok(chiSquare(found, chances) < 4, `${rate}`);
    }
  });

  test("multinomial draws by the weights, never one of zero", async () => {
    const weights = [0, 3, 0, 0.5, 1.5, 0, 5, 0];
    const rows = eg.tensor([weights, weights.map((x) => 1e-3 * x)], { device });
    const chances = weights.map((x) => x / 10);
    eg.manualSeed(7);
    for (const dtype of ["float32", "float16"]) {
      const found = await eg.multinomial(rows.to(dtype), 10_000, true).array();
      for (const row of found) assert.ok(chiSquare(row, chances) < 4, `${row.slice(0, 20)}`);
    }
    const firsts = await eg.multinomial(rows.select(0, 0).expand(10_000, 8), 1).data();
    assert.ok(chiSquare(firsts, chances) < 4);
    const orders = await eg.multinomial(rows.select(0, 0).expand(200, 8), 4).array();
    for (const order of orders)
      assert.deepEqual([...order].map(Number).sort(), [1, 3, 4, 6], `${order}`);
  });

  test("multinomial draws from many categories", async () => {
    const size = 100_000;
    eg.manualSeed(8);
    const isOdd = eg.arange(size, { device, dtype: "float32" }).remainder(2);
    const found = await eg.multinomial(isOdd, 5000, true).data();
    assert.ok(found.every((i) => i % 2n === 1n && i < size));
    const mean = found.reduce((sum, i) => sum + Number(i), 0) / found.length;
    assert.ok(Math.abs(mean / size - 0.5) < 0.02, `${mean}`);
    const distinct = await eg.multinomial(isOdd, size / 2).data();
    assert.equal(new Set(distinct).size, size / 2);
    assert.ok(distinct.every((i) => i % 2n === 1n));
  });

  test("what is wrong with parameters fails the read of the numbers, and no other", async () => {
    const innocent = eg.ones([2], { device });
    const row = (...weights) => eg.tensor([[1, 2, 3], weights], { device });
    const cases = [
      [() => eg.poisson(eg.tensor([2, -1], { device })), /\[poisson\] rates .* element 1/],
      [() => eg.poisson(eg.tensor([Number.NaN], { device })), /element 0/],
      ...[
        [-1, 1, 1],
        [Number.NaN, 1, 1],
        [1, Number.POSITIVE_INFINITY, 1],
        [0, 0, 0],
      ].flatMap((weights) =>
        [1, 2, true].map((how) => [
          () =>
            how === true
              ? eg.multinomial(row(...weights), 5, true)
              : eg.multinomial(row(...weights), how),
          /\[multinomial\] weights must be finite, not negative, and not all zero.* row 1/,
        ]),
      ),
    ];
    for (const [draw, message] of cases) {
      await assertRejects(draw().add(1).data(), "InvalidArgument", message);
      assert.throws(() => draw().arraySync(), { code: "InvalidArgument", message });
      assert.deepEqual(Array.from(await innocent.add(1).data()), [2, 2]);
    }
    const none = eg.zeros([0, 3], { device });
    assert.deepEqual(eg.multinomial(none, 2).shape, [0, 2]);
    assert.deepEqual(eg.poisson(none).shape, [0, 3]);
    assert.throws(() => eg.multinomial(eg.zeros([2, 0], { device }), 2, true), {
      code: "InvalidArgument",
    });
    assert.throws(() => eg.poisson(eg.ones([2], { device, dtype: "int32" })), {
      code: "DtypeMismatch",
    });
  });

  test("half-precision numbers of rand are below 1", async () => {
    for (const dtype of ["float16", "bfloat16"]) {
      const found = await eg.rand([20_000], { device, dtype }).data();
      assert.ok(found.every((x) => x >= 0 && x < 1));
    }
  });

  test("the gradient of dropout has its mask", async () => {
    const x = eg.ones([200], { device, requiresGrad: true });
    const y = eg.dropout(x, 0.25, true);
    y.sum().backward();
    const found = Array.from(await y.data());
    assert.deepEqual(Array.from(await x.grad.data()), found);
    assert.deepEqual([...new Set(found)].sort(), [0, Math.fround(1 / 0.75)]);
  });
});

test(
  "logspace is computed on the device, as precisely as its exponents are floats",
  options,
  async () => {
    for (const given of [
      [0, 2, 5],
      [-1, 1, 400, 2],
      [-3, 3, 7, 0.5],
      [1, 1, 2],
      [0, 1, 0],
      [-20, 30, 51],
    ]) {
      const { result, bytes } = await written(() => eg.logspace(...given, { device }));
      assert.equal(bytes, 0);
      const expected = eg.logspace(...given).dataSync();
      const [start, end, , base = 10] = given;
      const largest = Math.max(1, Math.abs(start), Math.abs(end)) * Math.abs(Math.log(base));
      const found = await result.data();
      assert.equal(found.length, expected.length);
      for (const [i, x] of found.entries())
        assert.ok(
          Math.abs(x / expected[i] - 1) <= 2e-7 * (1 + largest),
          `${given}: ${x}, ${expected[i]}`,
        );
    }
    const whole = eg.logspace(0, 3, 4, { device, dtype: "int32" });
    assert.deepEqual(Array.from(await whole.data()), [1, 10, 100, 1000]);
  },
);

describe("factories of the device", options, () => {
  const kFactories = {
    zeros: (on) => eg.zeros([3, 2], on),
    ones: (on) => eg.ones([3], { ...on, dtype: "bool" }),
    full: (on) => eg.full([3], 2.5, on),
    arange: (on) => eg.arange(3, 11, 2, on),
    "arange of floats": (on) => eg.arange(0, 1, 0.25, on),
    linspace: (on) => eg.linspace(-3, 5, 9, on),
    "linspace of two": (on) => eg.linspace(5, -3, 2, on),
    eye: (on) => eg.eye(3, on),
    tril: (on) => eg.tril(eg.ones([3, 3], on)),
  };
  for (const [name, make] of Object.entries(kFactories))
    test(`${name} transfers nothing`, async () => {
      const { result, bytes } = await written(() => make({ device }));
      assert.equal(bytes, 0);
      const expected = make({});
      assert.equal(result.dtype, expected.dtype);
      assert.deepEqual(Array.from(await result.data()), Array.from(expected.dataSync()));
    });
});

test("a step of training transfers its batch and nothing else", options, async () => {
  const model = new nn.Sequential(
    new nn.Linear(6, 16),
    new nn.BatchNorm1d(16),
    new nn.GELU(),
    new nn.Dropout(0.2),
    new nn.Linear(16, 3),
  ).to(device);
  const optimizer = new eg.optim.AdamW(model.parameters(), { lr: 0.01 });
  const images = eg.randn([8, 6]);
  const classes = eg.randint(0, 3, [8]);
  const step = () =>
    eg.scope(() => {
      optimizer.zeroGrad();
      eg.crossEntropy(model.call(images.to(device)), classes.to(device)).backward();
      optimizer.step();
    });
  const batch = 8 * 6 * 4 + 8 * 8;
  // Also the number that batch norm adds to its count.
  for (let i = 0; i < 3; i++) assert.equal((await written(step)).bytes, batch + 8);
});
