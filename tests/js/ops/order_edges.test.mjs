// Sorting, selecting, counting and transposing with code that depends on sizes and dtypes, compared with plain JavaScript.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";

// Returns a reproducible number from 0 to 1 for each i.
const noise = (i) => (Math.imul(i + 1, 2654435761) >>> 8) / 2 ** 24;

// Sorts NaN last, and -0 equal to 0.
const compare = (a, b) => {
  const [isA, isB] = [a, b].map((value) => Number(Number.isNaN(value)));
  if (isA + isB > 0) return isA - isB;
  return a < b ? -1 : a > b ? 1 : 0;
};

const kSizes = [1, 2, 31, 32, 33, 63, 64, 65, 1000, 4095, 4096, 5000];

const kRows = {
  "float32 with NaN, zeros of both signs and ties": (i) =>
    [Number.NaN, -0, 0, 1.5, -1.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY][
      Math.floor(noise(i) * 7)
    ],
  "float32 all over": (i) => Math.fround((noise(i) - 0.5) * 10 ** (i % 40)),
  "float64 that float32 would not tell apart": (i) => 1 + Math.floor(noise(i) * 50) * 2 ** -50,
  "int64 beyond 2^53": (i) => 2n ** 62n + BigInt(Math.floor(noise(i) * 40)) - 20n,
  "int64 from end to end": (i) =>
    i % 3 === 0 ? -(2n ** 63n) : 2n ** 63n - 1n - BigInt(Math.floor(noise(i) * 9)),
  "int32 in a few places": (i) => Math.floor(noise(i) * 30) - 15,
  uint8: (i) => Math.floor(noise(i) * 256),
  bool: (i) => noise(i) < 0.5,
};
const dtypeOf = (name) => name.split(" ")[0];
const numbersOf = (t) => t.tolist();
const asNumbers = (t) => numbersOf(t).map(Number);

function orderOf(values, isDescending) {
  const places = values.map((_, i) => i);
  const sign = isDescending ? -1 : 1;
  return places.sort((a, b) => sign * compare(values[a], values[b]) || a - b);
}

describe("an order", () => {
  for (const [name, make] of Object.entries(kRows)) {
    test(`of ${name}`, () => {
      for (const size of kSizes) {
        const values = Array.from({ length: size }, (_, i) => make(i));
        const x = eg.tensor(values, { dtype: dtypeOf(name) });
        for (const isDescending of [false, true]) {
          const order = orderOf(values, isDescending);
          assert.deepEqual(asNumbers(eg.argsort(x, 0, isDescending, true)), order);
          for (const k of [1, Math.floor(size / 9), Math.floor(size / 3)]) {
            if (k < 1 || dtypeOf(name) === "bool") continue;
            const [, chosen] = eg.topk(x, k, 0, isDescending);
            assert.deepEqual(asNumbers(chosen), order.slice(0, k));
          }
        }
      }
    });
  }

  test("of what is nearly in order already", () => {
    const rising = Array.from({ length: 3000 }, (_, i) => i);
    const falling = rising.toReversed();
    for (const values of [rising, falling, rising.map(() => 7)]) {
      const x = eg.tensor(values, { dtype: "float32" });
      assert.deepEqual(asNumbers(eg.argsort(x, 0, false, true)), orderOf(values, false));
      assert.deepEqual(asNumbers(eg.topk(x, 5, 0, true)[1]), orderOf(values, true).slice(0, 5));
      assert.deepEqual(asNumbers(eg.topk(x, 5, 0, false)[1]), orderOf(values, false).slice(0, 5));
    }
  });
});

function distinctOf(values, order) {
  const inverse = values.map(() => 0);
  const firsts = [];
  const counts = [];
  order.forEach((place, i) => {
    // NaN equals nothing.
    if (i === 0 || values[place] !== values[order[i - 1]]) {
      firsts.push(place);
      counts.push(0);
    }
    inverse[place] = firsts.length - 1;
    counts[counts.length - 1]++;
  });
  return { values: firsts.map((place) => values[place]), inverse, counts };
}

describe("distinct values", () => {
  const options = { returnInverse: true, returnCounts: true };
  const assertDistinct = ([values, inverse, counts], expected) => {
    assert.deepEqual(numbersOf(values).map(String), expected.values.map(String));
    assert.deepEqual(asNumbers(inverse), expected.inverse);
    assert.deepEqual(asNumbers(counts), expected.counts);
  };
  for (const [name, make] of Object.entries(kRows)) {
    test(`of ${name}`, () => {
      for (const size of kSizes) {
        const values = Array.from({ length: size }, (_, i) => make(i));
        const x = eg.tensor(values, { dtype: dtypeOf(name) });
        const inPlace = values.map((_, i) => i);
        const expected = distinctOf(values, orderOf(values, false));
        assertDistinct(eg.unique(x, options), expected);
        assert.deepEqual(numbersOf(eg.unique(x)).map(String), expected.values.map(String));
        assertDistinct(eg.uniqueConsecutive(x, options), distinctOf(values, inPlace));
      }
    });
  }

  test("of nothing, of strided tensors and of several dimensions", () => {
    const [values, inverse, counts] = eg.unique(eg.zeros([0, 3]), options);
    assert.deepEqual([values.shape, inverse.shape, counts.shape], [[0], [0, 3], [0]]);
    const [, inverseOf, countsOf] = eg.unique(
      eg
        .tensor([
          [3, 1],
          [1, 2],
        ])
        .t(),
      options,
    );
    assert.deepEqual(inverseOf.tolist().flat().map(Number), [2, 0, 0, 1]);
    assert.deepEqual(asNumbers(countsOf), [2, 1, 1]);
  });

  test("of rows longer than any memory: none are quick, others are refused", () => {
    assert.deepEqual(eg.unique(eg.zeros([0, 2 ** 32]), { dim: 0 }).shape, [0, 2 ** 32]);
    for (const rows of [1, 2]) {
      const x = eg.zeros([rows, 1]).expand(rows, 2 ** 32);
      assert.throws(() => eg.unique(x, { dim: 0 }), { code: "OutOfMemory" });
      assert.throws(() => eg.uniqueConsecutive(x, { dim: 0 }), { code: "OutOfMemory" });
    }
  });

  test("have the gradient of those that are first", () => {
    const x = eg.tensor([2, 1, 2, 3], { requiresGrad: true });
    eg.unique(x)
      .mul(eg.tensor([10, 20, 30]))
      .sum()
      .backward();
    assert.deepEqual(numbersOf(x.grad), [20, 10, 0, 30]);
  });

  test("say whether elements are among others", () => {
    for (const [name, make] of Object.entries(kRows)) {
      const values = Array.from({ length: 500 }, (_, i) => make(i));
      const tests = values.filter((_, i) => noise(i + 7) < 0.02);
      const [x, among] = [values, tests].map((list) => eg.tensor(list, { dtype: dtypeOf(name) }));
      const expected = values.map((value) => tests.some((other) => other === value));
      assert.deepEqual(numbersOf(eg.isin(x, among)), expected);
      assert.deepEqual(
        numbersOf(eg.isin(x, among, { invert: true })),
        expected.map((is) => !is),
      );
    }
    assert.deepEqual(numbersOf(eg.isin(eg.tensor([1, 2]), eg.zeros([0]))), [false, false]);
    assert.deepEqual(eg.isin(eg.zeros([0]), eg.tensor([1])).shape, [0]);
  });
});

function permuted(values, shape, order) {
  const steps = shape.map((_, d) => shape.slice(d + 1).reduce((a, b) => a * b, 1));
  return order
    .reduce(
      (places, d) =>
        places.flatMap((place) => Array.from({ length: shape[d] }, (_, i) => place + i * steps[d])),
      [0],
    )
    .map((place) => values[place]);
}

describe("a transposed copy", () => {
  const kDtypes = ["float32", "float64", "int32", "int64", "uint8", "complex64", "complex128"];
  for (const dtype of kDtypes) {
    test(`of ${dtype}`, () => {
      for (const shape of [
        [16, 16],
        [8, 8],
        [7, 40],
        [33, 47],
        [64, 17],
        [3, 20, 35],
        [2, 3, 18, 21],
      ]) {
        const count = shape.reduce((a, b) => a * b, 1);
        const x = eg.arange(count).remainder(200).to(dtype);
        const x4 = x.reshape([...Array(4 - shape.length).fill(1), ...shape]);
        const values = x4.flatten().tolist();
        for (const order of [
          [0, 1, 3, 2],
          [0, 3, 1, 2],
          [0, 2, 3, 1],
          [3, 2, 1, 0],
          [1, 0, 2, 3],
          [2, 0, 3, 1],
        ]) {
          const copy = x4.permute(order).contiguous();
          assert.deepEqual(copy.flatten().tolist(), permuted(values, x4.shape, order));
          // Also into memory with transposed strides.
          const back = eg.zeros(x4.shape, { dtype });
          back.permute(order).copy_(copy);
          assert.deepEqual(back.flatten().tolist(), values);
        }
      }
    });
  }
});
