// Datasets, loaders and IDX files.

// Before edgegrad.
import "../support/clock.mjs";

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { holdClock } from "../support/clock.mjs";
import { eg } from "../support/engine.mjs";

const { DataLoader, TensorDataset } = eg.data;

async function collect(loader) {
  const batches = [];
  for await (const batch of loader) batches.push(batch);
  return batches;
}

describe("DataLoader", () => {
  const dataset = new TensorDataset(eg.arange(10).reshape(5, 2), eg.arange(5, { dtype: "int64" }));

  test("gives batches in order, the last one smaller or left out", async () => {
    const loader = new DataLoader(dataset, { batchSize: 2 });
    assert.equal(loader.length, 3);
    const batches = await collect(loader);
    assert.deepEqual(
      batches.map(([, labels]) => labels.arraySync()),
      [[0, 1], [2, 3], [4]],
    );
    assert.deepEqual(batches[1][0].arraySync(), [
      [4, 5],
      [6, 7],
    ]);
    const full = new DataLoader(dataset, { batchSize: 2, dropLast: true });
    assert.equal((await collect(full)).length, 2);
    assert.equal((await collect(new DataLoader(dataset))).length, 5);
  });

  test("shuffles by its own seed or by manualSeed(), differently in each pass", async () => {
    const big = new TensorDataset(eg.arange(100, { dtype: "int64" }));
    const order = async (loader) => (await collect(loader)).flatMap(([batch]) => batch.arraySync());
    const make = (seed) => new DataLoader(big, { batchSize: 7, shuffle: true, seed });
    const loader = make(5);
    const first = await order(loader);
    const second = await order(loader);
    assert.deepEqual(
      [...first].sort((a, b) => a - b),
      Array.from({ length: 100 }, (_, i) => i),
    );
    assert.notDeepEqual(first, second);
    assert.deepEqual(await order(make(5)), first);
    assert.notDeepEqual(await order(make(6)), first);
    const global = async () => {
      eg.manualSeed(1);
      return order(new DataLoader(big, { batchSize: 7, shuffle: true }));
    };
    assert.deepEqual(await global(), await global());
  });

  test("returns to the event loop during a long pass", async (t) => {
    let now = 0;
    holdClock(t, () => now);
    /** Returns how often the event loop has run when each batch comes, if the program takes so many milliseconds for each. */
    const visits = async (time) => {
      const seen = [];
      let count = 0;
      for await (const [batch] of new DataLoader(dataset, { batchSize: 1 })) {
        seen.push(count);
        setImmediate(() => count++);
        now += time;
        batch.dispose();
      }
      return seen;
    };
    assert.deepEqual(await visits(15), [0, 1, 2, 3, 4]);
    assert.deepEqual(await visits(4), [0, 0, 0, 3, 3]);
  });

  test("stacks the samples of any dataset", async () => {
    const squares = { length: 3, get: (i) => ({ x: eg.full([2], i), y: i * i, name: `n${i}` }) };
    const [batch] = await collect(new DataLoader(squares, { batchSize: 3 }));
    assert.deepEqual(batch.x.arraySync(), [
      [0, 0],
      [1, 1],
      [2, 2],
    ]);
    assert.deepEqual(batch.y.arraySync(), [0, 1, 4]);
    assert.equal(batch.y.dtype, "int64");
    assert.deepEqual(batch.name, ["n0", "n1", "n2"]);
  });

  test("refuses bad options and tensors of unequal length", () => {
    assertThrows(() => new DataLoader(dataset, { batchSize: 0 }), "InvalidArgument", /batchSize/);
    assertThrows(() => new DataLoader(dataset, { seed: 0.5 }), "InvalidArgument", /seed/);
    assertThrows(() => new TensorDataset(eg.zeros([2]), eg.zeros([3])), "ShapeMismatch");
    assertThrows(() => new TensorDataset(eg.zeros([])), "InvalidArgument");
    assert.deepEqual(dataset.get(1)[0].arraySync(), [2, 3]);
  });
});

describe("idx", () => {
  /** Returns an IDX file of a type, with big-endian elements. */
  function file(type, sizes, elements) {
    const header = sizes.flatMap((size) => [
      size >>> 24,
      (size >>> 16) & 255,
      (size >>> 8) & 255,
      size & 255,
    ]);
    return Uint8Array.from([0, 0, type, sizes.length, ...header, ...elements]);
  }

  test("reads every element type", () => {
    const cases = [
      [0x08, [1, 255], "uint8", [1, 255]],
      [0x09, [1, 255], "int8", [1, -1]],
      [0x0b, [1, 0, 255, 254], "int16", [256, -2]],
      [0x0c, [0, 0, 1, 0, 255, 255, 255, 255], "int32", [256, -1]],
      [0x0d, [0x3f, 0xc0, 0, 0, 0xbf, 0x80, 0, 0], "float32", [1.5, -1]],
      [
        0x0e,
        [0x3f, 0xf8, ...Array(6).fill(0), 0xbf, 0xf0, ...Array(6).fill(0)],
        "float64",
        [1.5, -1],
      ],
    ];
    for (const [type, elements, dtype, values] of cases) {
      const x = eg.data.idx(file(type, [1, 2], elements));
      assert.equal(x.dtype, dtype);
      assert.deepEqual(x.arraySync(), [values]);
    }
    // A view of a larger buffer, as Node's Buffer often is.
    const padded = Uint8Array.from([9, 9, 9, ...file(0x08, [2], [5, 6])]).subarray(3);
    assert.deepEqual(eg.data.idx(padded).arraySync(), [5, 6]);
  });

  test("refuses damaged files", () => {
    const good = file(0x08, [2], [5, 6]);
    for (const [bytes, text] of [
      [new Uint8Array(0), /header/],
      [good.subarray(0, 6), /sizes/],
      [good.subarray(0, 9), /10 bytes, got 9/],
      [Uint8Array.from([...good, 0]), /10 bytes, got 11/],
      [file(0x07, [1], [0]), /00 00 07 01/],
      [Uint8Array.from([1, ...good.subarray(1)]), /IDX/],
      [file(0x08, [0xffffffff, 0xffffffff, 0xffffffff], [1]), /no tensor can have/],
      [file(0x08, [0, 0xffffffff, 0xffffffff], []), /no tensor can have/],
      [file(0x08, Array(65).fill(1), [7]), /65 dimensions/],
      [file(0x08, Array(255).fill(1), [7]), /255 dimensions/],
      [file(0x08, [3, 0xffff], [1]), /needs a file of/],
      [Uint8Array.from([0x1f, 0x8b, 8, 0]), /gunzip/],
    ]) {
      assertThrows(() => eg.data.idx(bytes), "InvalidArgument", text);
    }
    assert.equal(eg.data.idx(file(0x08, Array(64).fill(1), [7])).ndim, 64);
  });

  test("refuses what are no bytes", () => {
    for (const value of [undefined, null, -1, 2 ** 40, "file", [1, 2], {}]) {
      assertThrows(
        () => eg.data.idx(value),
        "InvalidArgument",
        /^\[idx\] expected the bytes of a file/,
      );
    }
  });
});
