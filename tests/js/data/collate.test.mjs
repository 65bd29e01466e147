// Batches of samples that can be combined, and errors for samples that cannot.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects, assertThrows } from "../support/assert.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const { data } = eg;
const { DataLoader, TensorDataset, Subset } = data;

async function collect(loader) {
  const batches = [];
  for await (const batch of loader) batches.push(batch);
  return batches;
}

async function batchOf(samples, options = {}) {
  const [batch] = await collect(new DataLoader(samples, { batchSize: samples.length, ...options }));
  return batch;
}

async function* asStream(samples) {
  yield* samples;
}

/** Returns a tensor's dtype, shape and elements; other values of a batch unchanged. */
function plain(value) {
  if (value instanceof eg.Tensor) return [value.dtype, value.shape, value.arraySync()];
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return new Map([...value].map(([key, one]) => [key, plain(one)]));
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}

describe("samples that go together", () => {
  for (const [what, samples, expected] of [
    ["whole numbers", [1, 2], ["int64", [2], [1, 2]]],
    ["numbers", [1, 2.5], ["float32", [2], [1, 2.5]]],
    ["numbers that are none", [Number.NaN, 1], ["float32", [2], [Number.NaN, 1]]],
    ["bigints", [1n, 2n ** 60n], ["int64", [2], [1, 2n ** 60n]]],
    ["booleans", [true, false], ["bool", [2], [true, false]]],
    ["texts", ["a", "b"], ["a", "b"]],
    ["tensors", [eg.ones([1]), eg.zeros([1])], ["float32", [2, 1], [[1], [0]]]],
    [
      "tensors whose dtypes have a common one",
      [eg.ones([1]), eg.tensor([2n])],
      ["float32", [2, 1], [[1], [2]]],
    ],
    ["typed arrays", [new Int32Array([1, 2]), new Int32Array([3, 4])], ["int32", [2, 2], [[1, 2], [3, 4]]]], // biome-ignore format: rows
    ["lists", [[1, "a"], [2, "b"]], [["int64", [2], [1, 2]], ["a", "b"]]], // biome-ignore format: rows
    ["empty lists", [[], []], []],
    [
      "objects whose keys have another order",
      [
        { x: 1n, y: [true] },
        { y: [false], x: 2n },
      ],
      { x: ["int64", [2], [1, 2]], y: [["bool", [2], [true, false]]] },
    ],
    [
      "Maps",
      [new Map([[1, { a: 1 }]]), new Map([[1, { a: 2 }]])],
      new Map([[1, { a: ["int64", [2], [1, 2]] }]]),
    ],
  ]) {
    test(`${what}: from a list, from an iterable, by defaultCollate`, async () => {
      assert.deepEqual(plain(await batchOf(samples)), expected);
      const [streamed] = await collect(new DataLoader(asStream(samples), { batchSize: 9 }));
      assert.deepEqual(plain(streamed), expected);
      assert.deepEqual(plain(data.defaultCollate(samples)), expected);
    });
  }
});

class Point {
  x = 1;
}

const kCyclic = { x: 1 };
kCyclic.self = kCyclic;

/** Two samples that cannot be combined, the path of the difference, and the message about it. */
const kMismatches = [
  ["keys that are missing", { a: 1, b: 2 }, { a: 1 }, "", /lacks "b"/],
  ["keys of the second only", { a: 1 }, { a: 1, b: 2 }, "", /has "b"/],
  ["keys deep inside", { a: [{ b: 1 }] }, { a: [{ c: 1 }] }, ".a[0]", /lacks "b"/],
  ["keys of Maps", new Map([["a", 1]]), new Map([["b", 1]]), "", /lacks "a"/],
  ["ragged lists", { a: [1, 2] }, { a: [1] }, ".a", /has 1 elements where/, "ShapeMismatch"],
  ["longer lists", [1], [1, 2], "", /has 2 elements where/, "ShapeMismatch"],
  ["ragged typed arrays", new Float32Array(2), new Float32Array(3), "", /\[3\]/, "ShapeMismatch"],
  ["null beside a number", 1, null, "", /null/],
  ["undefined beside a number", [1], [undefined], "[0]", /undefined/],
  ["a hole in a list", [1], new Array(1), "[0]", /undefined/],
  ["a text beside a number", 1, "7", "", /a string where sample \d+ is a number/],
  ["a number beside a text", "7", 1, "", /a number where/],
  ["a boolean beside a number", { y: 1 }, { y: true }, ".y", /a boolean where/],
  ["a bigint beside a number", 1, 1n, "", /a bigint where/],
  ["a number beside a tensor", eg.ones([]), 1, "", /a number where sample \d+ is a tensor/],
  ["a list beside a tensor", { x: eg.ones([1]) }, { x: [1] }, ".x", /an array where/],
  ["a list beside an object", {}, [], "", /an array where/],
  ["a Map beside an object", {}, new Map(), "", /a Map where/],
  ["tensors of other shapes", { x: eg.ones([2]) }, { x: eg.ones([3]) }, ".x", /\[3\] where sample \d+ has shape \[2\]/, "ShapeMismatch"], // biome-ignore format: rows
  ["tensors of other ranks", eg.ones([1]), eg.ones([]), "", /shape \[\]/, "ShapeMismatch"],
  ["a bigint that is too large", 1n, 2n ** 63n, "", /int64/],
];

/** Values that samples must not contain. */
const kStrangers = [
  ["null", null],
  ["undefined", undefined],
  ["a class instance", new Point()],
  ["a Date", new Date(0)],
  ["a Set", new Set([1])],
  ["a function", () => 1],
  ["a symbol", Symbol("s")],
  ["a DataView", new DataView(new ArrayBuffer(1))],
  ["an ArrayBuffer", new ArrayBuffer(1)],
];

describe("samples that do not go together are refused", () => {
  for (const [what, first, second, place, text, code = "InvalidArgument"] of kMismatches) {
    test(`${what}, with the sample and the place in it`, async () => {
      const samples = [first, first, second];
      const named = (number) =>
        new RegExp(`sample ${number}${place && " at "}${place.replace(/[.[\]]/g, "\\$&")} `);
      for (const text_ of [text, named(2), /collateFn/]) {
        await assertRejects(batchOf(samples), code, text_);
        assertThrows(() => data.defaultCollate(samples), code, text_);
      }
      // The message has the sample's index in the dataset, not in the batch.
      const padded = { length: 20, get: (i) => (i === 17 ? second : first) };
      const options = { batchSampler: [[3, 17]] };
      await assertRejects(collect(new DataLoader(padded, options)), code, named(17));
      const stream = new DataLoader(asStream([first, first, first, second]), { batchSize: 2 });
      await assertRejects(collect(stream), code, named(3));
    });
  }

  for (const [what, stranger] of kStrangers) {
    test(`${what}, alone, in lists and in objects`, async () => {
      for (const [sample, place] of [
        [stranger, ""],
        [[1, stranger], " at \\[1\\]"],
        [{ a: { b: stranger } }, " at \\.a\\.b"],
      ]) {
        const text = new RegExp(`^\\[DataLoader\\] sample 0${place} is .*collateFn`);
        await assertRejects(batchOf([sample, sample]), "InvalidArgument", text);
      }
    });
  }

  test("what holds itself, and what is no list of samples", async () => {
    await assertRejects(batchOf([kCyclic, kCyclic]), "InvalidArgument", /nested deeper than 64/);
    for (const given of [undefined, null, 5, "ab", new Set([1]), []]) {
      assertThrows(() => data.defaultCollate(given), "InvalidArgument", /samples/);
    }
  });

  test("and nothing is left of the tensors made until then", async () => {
    await collectGarbage();
    const before = eg.memory().jsHandles;
    const samples = [{ a: 1, b: [2], c: 3 }, { a: 1, b: [2], c: null }]; // biome-ignore format: rows
    await assertRejects(batchOf(samples), "InvalidArgument", /sample 1 at \.c/);
    assert.ok(eg.memory().jsHandles <= before);
  });
});

describe("positions", () => {
  const rows = [10, 11, 12, 13];
  const kinds = {
    list: rows,
    tensors: new TensorDataset(eg.tensor(rows)),
    own: { length: 4, get: (i) => rows[i] },
    subset: new Subset(rows, [0, 1, 2, 3]),
    concatenated: new data.ConcatDataset([rows.slice(0, 2), rows.slice(2)]),
  };
  const bad = [
    [4, "IndexOutOfRange", /4 is out of range for 4 samples/],
    [-1, "IndexOutOfRange", /-1 is out of range/],
    [1e9, "IndexOutOfRange", /out of range/],
    [0.5, "InvalidArgument", /whole number.*0\.5/],
    [Number.NaN, "InvalidArgument", /NaN/],
    [Infinity, "InvalidArgument", /Infinity/],
    ["1", "InvalidArgument", /"1"/],
    [4n, "IndexOutOfRange", /4 is out of range/],
    [null, "InvalidArgument", /null/],
    [undefined, "InvalidArgument", /undefined/],
    [[1], "InvalidArgument", /\[1\]/],
  ];

  for (const [kind, dataset] of Object.entries(kinds)) {
    test(`that a sampler must not give are refused by name: ${kind}`, async () => {
      for (const [position, code, text] of bad) {
        for (const [name, options] of [
          ["sampler", { sampler: [0, position], batchSize: 2 }],
          ["sampler", { sampler: [position], batchSize: null }],
          ["batchSampler", { batchSampler: [[0, position]] }],
          ["sampler", { sampler: new data.SequentialSampler({ length: 5 }), prefetch: 2 }],
          ["sampler", { sampler: [0, position], prefetch: 3, collateFn: (samples) => samples }],
        ]) {
          const loader = new DataLoader(dataset, options);
          const isOwn = Array.isArray(options.sampler) || options.batchSampler !== undefined;
          const expected = isOwn ? [code, text] : ["IndexOutOfRange", /4 is out of range/];
          await assertRejects(collect(loader), expected[0], expected[1]);
          await assertRejects(
            collect(loader),
            expected[0],
            new RegExp(`^\\[DataLoader\\] ${name}:`),
          );
        }
      }
    });
  }

  test("may be elements of int64 tensors, or the tensor", async () => {
    const order = eg.tensor([2n, 0n, 3n]);
    for (const sampler of [order, order.dataSync(), order.arraySync()]) {
      const batches = await collect(new DataLoader(rows, { sampler, batchSize: 2 }));
      assert.deepEqual(batches.map((batch) => batch.arraySync()), [[12, 10], [13]]); // biome-ignore format: rows
    }
    const batchSampler = eg.tensor([[2n, 0n], [3n, 1n]]); // biome-ignore format: rows
    const batches = await collect(new DataLoader(rows, { batchSampler }));
    assert.deepEqual(batches.map((batch) => batch.arraySync()), [[12, 10], [13, 11]]); // biome-ignore format: rows
    const halves = new DataLoader(rows, { sampler: eg.tensor([0.5]) });
    await assertRejects(collect(halves), "InvalidArgument", /whole number.*0\.5/);
  });

  test("are none where the data has no length that is one", async () => {
    for (const length of [undefined, Number.NaN, 2.5, -1, "3"]) {
      const odd = { length, get: (i) => i };
      assertThrows(() => new Subset(odd, [0]), "InvalidArgument", /the length of the dataset/);
      assertThrows(() => new data.ConcatDataset([odd]), "InvalidArgument", /length of the dataset/);
      const { SequentialSampler, RandomSampler } = data;
      for (const Sampler of [SequentialSampler, RandomSampler]) {
        assertThrows(() => [...new Sampler(odd)], "InvalidArgument", new RegExp(Sampler.name));
      }
    }
    const odd = { length: 2, get: (i) => i, getBatch: null };
    assert.deepEqual((await batchOf(odd, { batchSize: 2 })).arraySync(), [0, 1]);
  });

  test("of a batch are any iterable of them, but not none, nor a number", async () => {
    const values = async (batchSampler) =>
      (await collect(new DataLoader(rows, { batchSampler }))).map((batch) => batch.arraySync());
    const expected = [[12, 10], [13]];
    assert.deepEqual(await values([[2, 0], [3]]), expected);
    assert.deepEqual(await values([new Int32Array([2, 0]), new Set([3])]), expected);
    await assertRejects(values([[]]), "InvalidArgument", /empty array/);
    await assertRejects(values([0, 1]), "InvalidArgument", /an array of indices.*got number 0/);
    await assertRejects(values(["12"]), "InvalidArgument", /an array of indices/);
    const none = new DataLoader(rows, { batchSampler: [[]], collateFn: ({ length }) => length });
    assert.deepEqual(await collect(none), [0]);
  });

  test("of parts of a dataset are checked when the part is made, and when a sample is requested", () => {
    for (const [position, code] of [
      [4, "IndexOutOfRange"],
      [-1, "IndexOutOfRange"],
      [0.5, "InvalidArgument"],
      ["1", "InvalidArgument"],
    ]) {
      assertThrows(() => new Subset(rows, [0, position]), code, /\[Subset\] indices/);
    }
    const subset = new Subset(rows, [3, 2]);
    assert.deepEqual([subset.get(0), subset.get(-1)], [13, 12]);
    const both = new data.ConcatDataset([subset, rows]);
    assert.deepEqual([both.get(1), both.get(2), both.get(-1)], [12, 10, 13]);
    const [split] = data.randomSplit(rows, [2, 2]);
    for (const dataset of [subset, both, split]) {
      for (const position of [dataset.length, -dataset.length - 1]) {
        assertThrows(() => dataset.get(position), "IndexOutOfRange");
      }
      for (const position of [0.5, Number.NaN, "0", undefined]) {
        assertThrows(() => dataset.get(position), "InvalidArgument", /whole number/);
      }
    }
  });

  test("and samples of a dataset that has fewer than it says are missed by their number", async () => {
    const short = { length: 4, get: (i) => [1, 2, 3][i] };
    await assertRejects(
      batchOf({ ...short, length: 4 }, { batchSize: 4 }),
      "InvalidArgument",
      /sample 3 is undefined/,
    );
  });
});
