// Samplers, subsets, splits and other ways to select the samples of a DataLoader. The expected orders are those of
// PyTorch 1.13.1.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../../support/until.mjs";
import { assertRejects, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { data } = eg;
const kRows = new data.TensorDataset(eg.arange(10, { dtype: "int64" }));
const kWeights = [0.1, 0.9, 0.4, 0.7, 3, 0.6];

async function collect(loader) {
  const batches = [];
  for await (const batch of loader) batches.push(batch);
  return batches;
}

/** Returns the batches of the rows 0 to 9, as numbers. */
async function rowsOf(options) {
  const batches = await collect(new data.DataLoader(kRows, options));
  return batches.map(([rows]) => rows.arraySync());
}

/** Returns the next number of a generator, which shows how many numbers have been drawn. */
const next = (generator) => eg.rand([1], { dtype: "float64", generator }).item();

const range = (length) => ({ length });

describe("a DataLoader draws as PyTorch's does", () => {
  test("shuffled by the common generator", async () => {
    eg.manualSeed(0);
    assert.deepEqual(await rowsOf({ batchSize: 4, shuffle: true }), [
      [6, 7, 1, 4],
      [2, 0, 9, 8],
      [3, 5],
    ]);
    assert.equal(next(), 0.45938294312745087);
  });

  test("a seed per pass even in order", async () => {
    eg.manualSeed(0);
    await rowsOf({ batchSize: 4 });
    assert.equal(next(), 0.707819864399788);
  });

  test("shuffled by a generator of its own, or by a seed", async () => {
    const first = [[7, 4, 8, 1], [2, 3, 6, 5], [9, 0]]; // biome-ignore format: rows
    const second = [[2, 1, 6, 3], [5, 9, 4, 7], [8, 0]]; // biome-ignore format: rows
    const generator = new eg.Generator(5);
    for (const option of [{ generator }, { seed: 5 }]) {
      const loader = new data.DataLoader(kRows, { batchSize: 4, shuffle: true, ...option });
      for (const expected of [first, second]) {
        const batches = await collect(loader);
        assert.deepEqual(
          batches.map(([rows]) => rows.arraySync()),
          expected,
        );
      }
    }
    assert.equal(next(generator), 0.6549981746058934);
  });

  test("by a sampler", async () => {
    eg.manualSeed(6);
    const weights = Array.from({ length: 10 }, (_, i) => i + 1);
    const sampler = new data.WeightedRandomSampler(weights, 6);
    assert.deepEqual(await rowsOf({ sampler, batchSize: 4 }), [
      [9, 9, 6, 6],
      [8, 2],
    ]);
  });
});

describe("samplers", () => {
  test("RandomSampler, with and without replacement, of another length, with a generator", () => {
    eg.manualSeed(1);
    const replaced = new data.RandomSampler(range(5), { replacement: true, numSamples: 40 });
    assert.deepEqual(
      [...replaced],
      [
        1, 2, 0, 4, 1, 4, 0, 0, 4, 1, 2, 1, 4, 3, 0, 2, 4, 2, 1, 4, 2, 3, 3, 0, 3, 1, 1, 3, 2, 1, 1,
        4, 0, 3, 1, 3, 2, 4, 3, 0,
      ],
    );
    assert.equal(next(), 0.2245545065676504);
    eg.manualSeed(2);
    const longer = new data.RandomSampler(range(5), false, 12);
    assert.deepEqual([...longer], [3, 2, 0, 4, 1, 4, 3, 2, 0, 1, 0, 4]);
    assert.equal(longer.length, 12);
    const generator = new eg.Generator(6);
    assert.deepEqual([...new data.RandomSampler(range(4), { generator })], [2, 1, 3, 0]);
    assert.equal(next(generator), 0.39469116692991446);
  });

  test("positions and weights may be tensors of one dimension", () => {
    const drawn = (make) => {
      eg.manualSeed(3);
      return [...make()];
    };
    const { SubsetRandomSampler, Subset, WeightedRandomSampler } = data;
    for (const [ofTensor, ofList] of [
      [
        () => new WeightedRandomSampler(eg.tensor(kWeights), 8),
        new WeightedRandomSampler(kWeights, 8),
      ],
      [() => new SubsetRandomSampler(eg.tensor([4n, 2n, 7n])), new SubsetRandomSampler([4, 2, 7])],
    ]) {
      assert.deepEqual(
        drawn(ofTensor),
        drawn(() => ofList),
      );
    }
    assert.deepEqual(new Subset(kRows, eg.tensor([3n, 1n])).indices, [3, 1]);
    const weights = eg.ones([2, 2]);
    assertThrows(
      () => new WeightedRandomSampler(weights, 2),
      "ShapeMismatch",
      /weights: expected a one-dimensional tensor/,
    );
    const half = eg.tensor([0.5]);
    assertThrows(() => new Subset(kRows, half), "InvalidArgument", /\[Subset\] indices/);
  });

  test("SubsetRandomSampler and WeightedRandomSampler", () => {
    eg.manualSeed(3);
    assert.deepEqual([...new data.SubsetRandomSampler([7, 8, 9, 3])], [9, 3, 8, 7]);
    assert.equal(next(), 0.21563877625691585);
    eg.manualSeed(4);
    const apart = new data.WeightedRandomSampler(kWeights, 5, { replacement: false });
    assert.deepEqual([...apart], [2, 4, 5, 1, 3]);
    const again = new data.WeightedRandomSampler(kWeights, 8);
    assert.deepEqual([...again], [4, 4, 1, 4, 2, 4, 4, 0]);
  });

  test("BatchSampler and SequentialSampler", () => {
    const sampler = new data.SequentialSampler(range(5));
    const batches = new data.BatchSampler(sampler, 2, false);
    assert.deepEqual([...batches], [[0, 1], [2, 3], [4]]);
    assert.equal(batches.length, 3);
    const full = new data.BatchSampler(sampler, 2, true);
    assert.deepEqual([...full], [[0, 1], [2, 3]]); // biome-ignore format: rows
    assert.equal(full.length, 2);
  });

  test("refuse what they cannot draw from", () => {
    assertThrows(() => new data.RandomSampler(range(0)), "InvalidArgument", /at least one sample/);
    assertThrows(() => new data.RandomSampler(5), "InvalidArgument", /dataSource/);
    assertThrows(() => new data.RandomSampler(range(5), { num: 3 }), "InvalidArgument", /num/);
    assertThrows(() => new data.WeightedRandomSampler([-1, 2], 2), "InvalidArgument", /weights/);
    assertThrows(() => new data.SubsetRandomSampler(["a"]), "InvalidArgument", /indices/);
    assertThrows(() => new data.BatchSampler([1, 2], 0, false), "InvalidArgument", /batchSize/);
    const unsized = new data.BatchSampler(new Set([1, 2]), 1, false);
    assertThrows(() => unsized.length, "InvalidArgument", /no length/);
  });
});

describe("parts of datasets", () => {
  test("randomSplit by lengths, by fractions, with a generator", () => {
    const split = (...args) => data.randomSplit(kRows, ...args).map(({ indices }) => indices);
    eg.manualSeed(5);
    assert.deepEqual(split([0.5, 0.3, 0.2]), [[1, 4, 9, 6, 3], [5, 0, 2], [8, 7]]); // biome-ignore format: rows
    assert.deepEqual(split([0.33, 0.33, 0.34]), [[4, 2, 8, 7], [6, 1, 0], [3, 5, 9]]); // biome-ignore format: rows
    const generator = new eg.Generator(7);
    assert.deepEqual(split([6, 4], { generator }), [[5, 0, 3, 4, 1, 7], [9, 6, 8, 2]]); // biome-ignore format: rows
    assertThrows(() => split([6, 5]), "InvalidArgument", /\[6,5\] do not add up to the 10 samples/);
    assertThrows(() => split([12, -2]), "InvalidArgument", /lengths/);
    assertThrows(() => split([6, 4], { seed: 3 }), "InvalidArgument", /seed/);
  });

  test("Subset and ConcatDataset, whose samples are those of their datasets", async () => {
    const subset = new data.Subset(kRows, [3, 1, 4]);
    assert.equal(subset.length, 3);
    assert.equal(subset.get(-1)[0].item(), 4);
    const both = new data.ConcatDataset([subset, new data.Subset(kRows, [9])]);
    assert.equal(both.length, 4);
    const [[rows]] = await collect(new data.DataLoader(both, { batchSize: 4 }));
    assert.deepEqual(rows.arraySync(), [3, 1, 4, 9]);
    const [[batch]] = await collect(new data.DataLoader(subset, { batchSize: 3 }));
    assert.deepEqual(batch.arraySync(), [3, 1, 4]);
    assertThrows(() => both.get(4), "IndexOutOfRange", /4 samples/);
    assertThrows(() => subset.get(3), "IndexOutOfRange", /3 samples/);
    assertThrows(() => new data.ConcatDataset([]), "InvalidArgument", /at least one dataset/);
    assertThrows(() => new data.Subset(5, [1]), "InvalidArgument", /dataset/);
  });
});

describe("other datasets", () => {
  async function* numbers() {
    for (let i = 0; i < 7; i++) yield i;
  }

  test("iterables come in their own order", async () => {
    const batches = async (dataset, options) =>
      (await collect(new data.DataLoader(dataset, options))).map((batch) => batch.arraySync());
    const expected = [[0, 1, 2], [3, 4, 5], [6]];
    assert.deepEqual(await batches(numbers(), { batchSize: 3 }), expected);
    assert.deepEqual(await batches(new Set([0, 1, 2, 3, 4, 5, 6]), { batchSize: 3 }), expected);
    assert.equal((await batches(numbers(), { batchSize: 3, dropLast: true })).length, 2);
    assert.deepEqual(await batches(numbers(), { batchSize: 3, prefetch: 2 }), expected);
    assert.deepEqual(
      await collect(new data.DataLoader(numbers(), { batchSize: null })),
      [0, 1, 2, 3, 4, 5, 6],
    );
    const loader = new data.DataLoader(numbers());
    assertThrows(() => loader.length, "InvalidArgument", /no length/);
  });

  test("arrays are datasets of their elements", async () => {
    const loader = new data.DataLoader([1, 2, 3, 4, 5], { batchSize: 2, shuffle: true, seed: 1 });
    assert.equal(loader.length, 3);
    const rows = (await collect(loader)).flatMap((batch) => batch.arraySync());
    assert.deepEqual(rows.sort(), [1, 2, 3, 4, 5]);
  });

  test("collateFn makes the batches; without batches it gets each sample", async () => {
    const collateFn = (samples) => samples.map(([row]) => row.item()).join();
    const options = { batchSize: 4, collateFn };
    assert.deepEqual(await collect(new data.DataLoader(kRows, options)), ["0,1,2,3", "4,5,6,7", "8,9"]); // biome-ignore format: rows
    const alone = { batchSize: null, collateFn: ([row]) => -row.item() };
    const [, second] = await collect(new data.DataLoader(kRows, alone));
    assert.equal(second, -1);
    const promised = { batchSize: 5, collateFn: async (samples) => samples.length };
    assert.deepEqual(await collect(new data.DataLoader(kRows, promised)), [5, 5]);
  });

  test("batchSampler decides about batches", async () => {
    assert.deepEqual(await rowsOf({ batchSampler: [[3, 1], [7]] }), [[3, 1], [7]]);
    assert.equal(new data.DataLoader(kRows, { batchSampler: [[3, 1], [7]] }).length, 2);
  });
});

describe("samples that are promises", () => {
  /** Returns a dataset that records how many of its samples are being loaded at the same time, and gives none before `open()`. */
  function slow(length) {
    const dataset = { length, active: 0, most: 0, started: [] };
    const opened = new Promise((resolve) => {
      dataset.open = resolve;
    });
    dataset.get = async (index) => {
      dataset.started.push(index);
      dataset.most = Math.max(dataset.most, ++dataset.active);
      await opened;
      dataset.active--;
      if (index === 6) throw new Error("sample 6 is lost");
      return index;
    };
    return dataset;
  }

  test("of a batch load together, and with prefetch those of the next batches too", async () => {
    for (const [prefetch, most] of [
      [0, 2],
      [2, 6],
    ]) {
      const dataset = slow(6);
      const collected = collect(new data.DataLoader(dataset, { batchSize: 2, prefetch }));
      await until(`${most} samples`, () => dataset.active === most);
      dataset.open();
      const batches = await collected;
      assert.deepEqual(
        batches.map((batch) => batch.arraySync()),
        [
          [0, 1],
          [2, 3],
          [4, 5],
        ],
      );
      assert.equal(dataset.most, most);
      assert.deepEqual(dataset.started, [0, 1, 2, 3, 4, 5]);
    }
  });

  test("fail where the failed one is due", async () => {
    const dataset = slow(8);
    dataset.open();
    const loader = new data.DataLoader(dataset, { batchSize: 2, prefetch: 3 });
    const seen = [];
    await assert.rejects(async () => {
      for await (const batch of loader) seen.push(batch.arraySync());
    }, /sample 6 is lost/);
    assert.equal(seen.length, 3);
    // A caller that stops early does not see the error.
    for await (const _ of loader) break;
    await new Promise(setImmediate);
  });
});

describe("options of a DataLoader", () => {
  test("that exclude one another are refused in PyTorch's words", () => {
    const sampler = [1, 2];
    for (const [options, text] of [
      [{ sampler, shuffle: true }, /sampler and shuffle/],
      [{ batchSampler: [[0]], batchSize: 2 }, /batchSampler cannot be used with/],
      [{ batchSampler: [[0]], dropLast: true }, /batchSampler cannot be used with/],
      [{ batchSize: null, dropLast: true }, /dropLast cannot be used with batchSize: null/],
      [{ generator: new eg.Generator(), seed: 1 }, /seed and generator/],
      [{ sampler: 5 }, /sampler: expected an iterable/],
      [{ generator: 5 }, /a Generator/],
      [{ prefetch: -1 }, /prefetch/],
      [{ collateFn: 5 }, /collateFn: expected a function/],
    ]) {
      assertThrows(() => new data.DataLoader(kRows, options), "InvalidArgument", text);
    }
    for (const option of ["shuffle", "sampler", "batchSampler"]) {
      const options = { [option]: option === "shuffle" ? true : [1] };
      const make = () => new data.DataLoader(new Set([1]), options);
      assertThrows(
        make,
        "InvalidArgument",
        new RegExp(`${option} cannot be used with an iterable`),
      );
    }
    assertThrows(
      () => new data.DataLoader(5),
      "InvalidArgument",
      /dataset: expected an array, or an object/,
    );
  });

  test("may be given by position, as in PyTorch", () => {
    const loader = new data.DataLoader(kRows, 4, true, { dropLast: true });
    assert.deepEqual([loader.batchSize, loader.shuffle, loader.dropLast], [4, true, true]);
    assertThrows(() => new data.DataLoader(kRows, "4"), "InvalidArgument", /batchSize: expected/);
  });

  test("positions outside the dataset are refused", async () => {
    await assertRejects(rowsOf({ sampler: [99] }), "IndexOutOfRange");
  });
});
