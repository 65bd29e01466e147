// Factorisations and solutions of batches of matrices, by the laws that define them.

import assert from "node:assert/strict";
import { assertClose, randoms, range } from "./support/close.mjs";
import { testBoth } from "./support/playing.mjs";

const kTolerance = { relative: 1e-3, absolute: 1e-3 };

// A complex number is a pair. Real matrices are complex ones whose numbers are stored without their imaginary parts.
const times = ([a, b], [c, d]) => [a * c - b * d, a * d + b * c];
const plus = ([a, b], [c, d]) => [a + c, b + d];
const conjugate = ([a, b]) => [a, -b];

const kDTypes = ["float32", "complex64"];
const parts = (dtype) => (dtype === "complex64" ? 2 : 1);

/** The elements of a batch as pairs, from the numbers in memory. */
function pairs(dtype, numbers) {
  if (dtype !== "complex64") return numbers.map((x) => [x, 0]);
  return range(numbers.length / 2, (i) => [numbers[2 * i], numbers[2 * i + 1]]);
}

const stored = (dtype, list) => list.flatMap((pair) => pair.slice(0, parts(dtype)));

/** The products of two batches of matrices m x k and k x n. */
function product(count, [m, k, n], a, b) {
  return range(count * m * n, (at) => {
    const [matrix, i, j] = [Math.floor(at / (m * n)), Math.floor(at / n) % m, at % n];
    const terms = range(k, (l) => times(a[(matrix * m + i) * k + l], b[(matrix * k + l) * n + j]));
    return terms.reduce(plus, [0, 0]);
  });
}

const adjoint = (count, n, a) =>
  range(count * n * n, (at) => {
    const [matrix, i, j] = [Math.floor(at / (n * n)), Math.floor(at / n) % n, at % n];
    return conjugate(a[(matrix * n + j) * n + i]);
  });

/** Well-conditioned matrices whose pivots need exchanges. */
function matrices(dtype, count, rows, columns = rows) {
  const numbers = pairs(dtype, randoms(count * rows * columns * parts(dtype), rows + count));
  return numbers.map(([re, im], at) => {
    const [i, j] = [Math.floor(at / columns) % rows, at % columns];
    return i === (j + 1) % rows ? [re + 3 + rows / 8, im] : [re, im];
  });
}

const breakdownOf = (p) => ({ matrix: p.empty("int64", 1), order: p.empty("int64", 1) });
const assertNone = async (p, { matrix }) => assert.deepEqual(await p.read(matrix), [-1]);

const kSizes = [
  [1, 1],
  [3, 2],
  [70, 3],
  [2, 17],
  [1, 40],
];

testBoth("solutions, also without a right-hand side", async (p) => {
  for (const dtype of kDTypes) {
    for (const [count, n] of kSizes) {
      for (const columns of [1, 3, 35]) {
        const a = matrices(dtype, count, n);
        const right = pairs(dtype, randoms(count * n * columns * parts(dtype), 9));
        const x = p.empty(dtype, count * n * columns, dtype === "float32" ? 1 : 0);
        const breakdown = breakdownOf(p);
        const given = { a: p.view(dtype, stored(dtype, a)), x, breakdown };
        const batch = { count, rows: n, columns: n };
        const b = p.view(dtype, stored(dtype, right));
        p.kernel("solve", { batch, columns, ...given, b });
        const found = pairs(dtype, await p.read(x));
        assertClose(
          stored(dtype, product(count, [n, n, columns], a, found)),
          stored(dtype, right),
          {
            ...kTolerance,
            title: `${dtype} ${count} ${n} ${columns}`,
          },
        );
        await assertNone(p, breakdown);
      }
      const a = matrices(dtype, count, n);
      const x = p.empty(dtype, count * n * n);
      p.kernel("solve", {
        batch: { count, rows: n, columns: n },
        columns: n,
        a: p.view(dtype, stored(dtype, a)),
        b: undefined,
        x,
        breakdown: { matrix: undefined, order: undefined },
      });
      const identity = range(count * n * n, (at) => [Number(Math.floor(at / n) % n === at % n), 0]);
      const found = pairs(dtype, await p.read(x));
      assertClose(
        stored(dtype, product(count, [n, n, n], a, found)),
        stored(dtype, identity),
        kTolerance,
      );
    }
  }
});

testBoth("triangular systems, of which one triangle is read", async (p) => {
  for (const dtype of kDTypes)
    for (const [count, n] of kSizes)
      for (const upper of [false, true])
        for (const unit of [false, true]) {
          const columns = 33;
          const isRead = (i, j) => (i === j ? !unit : i < j === upper);
          const place = (at) => [Math.floor(at / n) % n, at % n];
          const numbers = randoms(count * n * n * parts(dtype), 5).map((x) => x / 8);
          const triangle = pairs(dtype, numbers).map(([re, im], at) => {
            const [i, j] = place(at);
            if (i === j) return unit ? [1, 0] : [re + 2, im];
            return isRead(i, j) ? [re, im] : [0, 0];
          });
          const given = triangle.map((x, at) => (isRead(...place(at)) ? x : [Number.NaN, 1]));
          const right = pairs(dtype, randoms(count * n * columns * parts(dtype), 6));
          const x = p.empty(dtype, count * n * columns);
          p.kernel("solve_triangular", {
            batch: { count, rows: n, columns: n },
            ...{ columns, upper, unit },
            a: p.view(dtype, stored(dtype, given)),
            b: p.view(dtype, stored(dtype, right)),
            x,
          });
          const found = pairs(dtype, await p.read(x));
          assertClose(
            stored(dtype, product(count, [n, n, columns], triangle, found)),
            stored(dtype, right),
            { ...kTolerance, title: `${dtype} ${count} ${n} ${upper} ${unit}` },
          );
        }
});

testBoth("factors with exchanged rows, of any shape", async (p) => {
  for (const dtype of kDTypes)
    for (const [count, rows, columns] of [
      [1, 1, 1],
      [3, 4, 4],
      [2, 5, 20],
      [2, 20, 5],
      [1, 33, 40],
    ]) {
      const a = matrices(dtype, count, rows, columns);
      const steps = Math.min(rows, columns);
      const lu = p.empty(dtype, count * rows * columns);
      const permutation = p.empty(dtype, count * rows * rows);
      const pivots = p.empty("int64", count * steps);
      const breakdown = breakdownOf(p);
      p.kernel("lu", {
        batch: { count, rows, columns },
        ...{ a: p.view(dtype, stored(dtype, a)), lu, p: permutation, pivots, breakdown },
      });
      const factors = pairs(dtype, await p.read(lu));
      const at = (matrix, i, j) => factors[(matrix * rows + i) * columns + j];
      const lower = range(count * rows * steps, (k) => {
        const [matrix, i, j] = [
          Math.floor(k / (rows * steps)),
          Math.floor(k / steps) % rows,
          k % steps,
        ];
        return i === j ? [1, 0] : i > j ? at(matrix, i, j) : [0, 0];
      });
      // All factors below the diagonal are at most 1, or the pivots were not the largest elements.
      for (const [re, im] of lower) assert.ok(Math.hypot(re, im) <= Math.SQRT2 + 1e-5);
      const upper = range(count * steps * columns, (k) => {
        const [matrix, i, j] = [
          Math.floor(k / (steps * columns)),
          Math.floor(k / columns) % steps,
          k % columns,
        ];
        return i <= j ? at(matrix, i, j) : [0, 0];
      });
      const moved = product(count, [rows, steps, columns], lower, upper);
      const found = product(
        count,
        [rows, rows, columns],
        pairs(dtype, await p.read(permutation)),
        moved,
      );
      assertClose(stored(dtype, found), stored(dtype, a), kTolerance);
      for (const [k, pivot] of (await p.read(pivots)).entries())
        assert.ok(pivot >= (k % steps) + 1 && pivot <= rows);
      await assertNone(p, breakdown);
    }
});

testBoth("Cholesky factors, of which the lower triangle is read", async (p) => {
  for (const dtype of kDTypes)
    for (const [count, n] of kSizes) {
      const root = matrices(dtype, count, n);
      const a = product(count, [n, n, n], root, adjoint(count, n, root));
      const isUpper = (at) => Math.floor(at / n) % n < at % n;
      const given = a.map((x, at) => (isUpper(at) ? [Number.NaN, 3] : x));
      const l = p.empty(dtype, count * n * n);
      const breakdown = breakdownOf(p);
      p.kernel("cholesky", {
        batch: { count, rows: n, columns: n },
        ...{ a: p.view(dtype, stored(dtype, given)), l, breakdown },
      });
      const found = pairs(dtype, await p.read(l));
      for (const [at, x] of found.entries()) if (isUpper(at)) assert.deepEqual(x, [0, 0]);
      assertClose(
        stored(dtype, product(count, [n, n, n], found, adjoint(count, n, found))),
        stored(dtype, a),
        { relative: 1e-3, absolute: 1e-2 },
      );
      await assertNone(p, breakdown);
    }
});

async function determinantsOf(p, dtype, count, n, numbers) {
  const [det, sign] = [p.empty(dtype, count), p.empty(dtype, count)];
  const logAbs = p.empty("float32", count);
  const breakdown = breakdownOf(p);
  const a = p.view(dtype, numbers);
  p.kernel("determinants", {
    batch: { count, rows: n, columns: n },
    a,
    det,
    sign,
    logAbs,
    breakdown,
  });
  const views = [det, sign, logAbs, breakdown.matrix, breakdown.order];
  return Promise.all(views.map((view) => p.read(view)));
}

testBoth("determinants, their signs and logarithms", async (p) => {
  const numbers = [2, 1, 1, 3, 0, 2, 4, 0, 1, 2, 2, 4, 0, 0, 0, 0];
  const [det, sign, logAbs, matrix, order] = await determinantsOf(p, "float32", 4, 2, numbers);
  assertClose(det, [5, -8, 0, 0]);
  assertClose(sign, [1, -1, 0, 0]);
  assertClose(logAbs, [Math.log(5), Math.log(8), -Infinity, -Infinity]);
  assert.deepEqual([matrix, order], [[2], [2]]);
  // (1 + i)(2 - i) - i * i = 4 + i
  const complex = await determinantsOf(p, "complex64", 1, 2, [1, 1, 0, 1, 0, 1, 2, -1]);
  assertClose(complex[0], [4, 1]);
  assertClose(complex[1], [4 / Math.sqrt(17), 1 / Math.sqrt(17)]);
  assertClose(complex[2], [Math.log(17) / 2]);
  const empty = await determinantsOf(p, "float32", 1, 0, []);
  assert.deepEqual(empty, [[1], [1], [0], [-1], [0]]);
});

testBoth("the first matrix of a batch that cannot be factorised is reported", async (p) => {
  const good = [2, 1, 1, 2];
  const batch = (list) => ({ count: list.length, rows: 2, columns: 2 });
  const report = async (name, list, fields) => {
    const breakdown = breakdownOf(p);
    const a = p.view("float32", list.flat());
    p.kernel(name, { batch: batch(list), a, ...fields(list.length), breakdown });
    return [await p.read(breakdown.matrix), await p.read(breakdown.order)].flat();
  };
  const x = (count) => ({ columns: 2, b: undefined, x: p.empty("float32", 4 * count) });
  const l = (count) => ({ l: p.empty("float32", 4 * count) });
  const many = Array.from({ length: 600 }, () => good);
  for (const at of [0, 1, 299, 599]) {
    const list =
      many.with?.(at, [1, 2, 2, 4]) ?? many.map((one, i) => (i === at ? [1, 2, 2, 4] : one));
    assert.deepEqual(await report("solve", [...list, [0, 0, 0, 0]], x), [at, 2]);
    assert.deepEqual(await report("cholesky", [...list, [0, 0, 0, 0]], l), [at, 2]);
  }
  assert.deepEqual(await report("cholesky", [good, [-1, 0, 0, 1]], l), [1, 1]);
  assert.deepEqual(await report("cholesky", [good, [Number.NaN, 0, 0, 1]], l), [1, 1]);
  assert.deepEqual(await report("solve", [], x), [-1, 0]);
});

testBoth("places in sorted sequences", async (p) => {
  const { NaN: nan } = Number;
  const search = async (dtype, sequences, values, right) => {
    const positions = p.empty("int64", values.flat().length, 1);
    p.kernel("search_sorted", {
      sequences: sequences.length,
      size: sequences[0].length,
      count: values[0].length,
      right,
      sequence: p.view(dtype, sequences.flat(), 1),
      values: p.view(dtype, values.flat(), 1),
      positions,
    });
    return p.read(positions);
  };
  const floats = [[1, 2, 2, 3, nan], [-1, 0, 5, 6, 7]]; // biome-ignore format: rows
  const values = [[2, nan, 0, 9], [5, -1, 6.5, 7]]; // biome-ignore format: rows
  assert.deepEqual(await search("float32", floats, values, false), [1, 5, 0, 5, 2, 0, 4, 4]);
  // A NaN in the middle of what is left counts as before the value, as in PyTorch.
  assert.deepEqual(await search("float32", floats, values, true), [5, 5, 0, 5, 3, 1, 4, 5]);
  const far = 2 ** 40;
  assert.deepEqual(
    await search("int64", [[-far, 1, far]], [[1, far, -far - 1, far + 1]], false),
    [1, 2, 0, 3],
  );
  assert.deepEqual(await search("uint8", [[0, 100, 200]], [[150, 200]], true), [2, 3]);
  assert.deepEqual(await search("int32", [[]], [[1, 2]], true), [0, 0]);
});
