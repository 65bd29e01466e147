// Matrix products: sizes, layouts, batches, and terms that are added.

import assert from "node:assert/strict";
import { assertClose, randoms, range } from "./support/close.mjs";
import { testBoth } from "./support/playing.mjs";

const layoutOf = ({ batch = [], row, column }) => ({
  batchStrides: batch,
  rowStride: row,
  columnStride: column,
});

function product({ batch = [], m, n, k, a, b, c, alpha = 1, beta = 0, bias }) {
  return {
    sizes: { batch, m, n, k },
    ...{ a: a.view, aLayout: layoutOf(a) },
    ...{ b: b.view, bLayout: layoutOf(b) },
    ...{ c: c.view, cLayout: layoutOf(c) },
    ...{ alpha, beta, bias },
  };
}

function multiplied({ m, n, k }, a, b, aLayout, bLayout, [aFirst, bFirst] = [0, 0]) {
  return range(m * n, (i) => {
    const row = Math.floor(i / n);
    const column = i % n;
    let sum = 0;
    for (let j = 0; j < k; j++)
      sum +=
        a[aFirst + row * aLayout.row + j * aLayout.column] *
        b[bFirst + j * bLayout.row + column * bLayout.column];
    return sum;
  });
}

const rowMajor = (columns) => ({ row: columns, column: 1 });
const columnMajor = (rows) => ({ row: 1, column: rows });

testBoth("sizes from one to more than a tile, both operands either way round", async (p) => {
  const sizes = [
    [1, 1, 1],
    [5, 7, 3],
    [64, 64, 16],
    [33, 70, 45],
    [1, 100, 300],
    [100, 1, 300],
    [3, 40, 65],
    [200, 200, 20],
    [2, 2, 5000],
    [20, 30, 3000],
  ];
  for (const [m, n, k] of sizes) {
    const a = randoms(m * k, 2);
    const b = randoms(k * n, 3);
    for (const aLayout of [rowMajor(k), columnMajor(m)]) {
      for (const bLayout of [rowMajor(n), columnMajor(k)]) {
        const c = p.empty("float32", m * n, 1);
        p.kernel(
          "matrix_product",
          product({
            m,
            n,
            k,
            a: { view: p.view("float32", a, 1), ...aLayout },
            b: { view: p.view("float32", b, 2), ...bLayout },
            c: { view: c, ...rowMajor(n) },
          }),
        );
        const expected = multiplied({ m, n, k }, a, b, aLayout, bLayout);
        assertClose(await p.read(c), expected, { absolute: 2e-4, title: `${m} ${n} ${k}` });
      }
    }
  }
});

testBoth("large enough for the largest tiles", async (p) => {
  const [m, n, k] = [450, 449, 35];
  const a = randoms(m * k, 2);
  const b = randoms(k * n, 3);
  const c = p.empty("float32", m * n);
  const bias = randoms(n, 4);
  p.kernel(
    "matrix_product",
    product({
      m,
      n,
      k,
      a: { view: p.view("float32", a), ...rowMajor(k) },
      b: { view: p.view("float32", b), ...rowMajor(n) },
      c: { view: c, ...rowMajor(n) },
      bias: p.view("float32", bias),
    }),
  );
  const expected = multiplied({ m, n, k }, a, b, rowMajor(k), rowMajor(n)).map(
    (x, i) => x + bias[i % n],
  );
  assertClose(await p.read(c), expected, { absolute: 1e-4 });
});

// If rows and columns start at multiples of four, shaders for software adapters read four numbers at a time.
testBoth("rows and columns that lie in fours, as large as that and larger", async (p) => {
  const sizes = [
    [4, 4, 4],
    [7, 12, 8],
    [5, 10, 20],
    [50, 36, 12],
    [130, 66, 16],
    [130, 68, 16],
    [300, 130, 8],
    [1, 100, 64],
    [3, 66, 300],
    [70, 2, 40],
    [8, 36, 1000],
    [35, 7, 12],
  ];
  const up = (size) => Math.ceil(size / 4) * 4;
  for (const [m, n, k] of sizes) {
    const a = randoms(up(m) * k, 2);
    const b = randoms(k * up(n), 3);
    for (const aLayout of [rowMajor(k), columnMajor(up(m))]) {
      for (const bLayout of [rowMajor(up(n)), columnMajor(k)]) {
        const c = p.empty("float32", m * n, 4);
        p.kernel(
          "matrix_product",
          product({
            m,
            n,
            k,
            a: { view: p.view("float32", a, 4), ...aLayout },
            b: { view: p.view("float32", b), ...bLayout },
            c: { view: c, ...rowMajor(n) },
          }),
        );
        const expected = multiplied({ m, n, k }, a, b, aLayout, bLayout);
        assertClose(await p.read(c), expected, { absolute: 2e-5, title: `${m} ${n} ${k}` });
        const around = await p.read({ ...c, offset: c.offset - 16, count: m * n + 8 });
        const others = [...around.slice(0, 4), ...around.slice(-4)];
        assert.deepEqual(others, new Array(8).fill(77), "what lies around the results");
      }
    }
  }
});

testBoth("fours with alpha, beta and a bias that may lie in an operand's memory", async (p) => {
  const [m, n, k] = [9, 8, 12];
  const batch = [3];
  const numbers = { a: randoms(3 * m * k, 2), b: randoms(3 * k * n, 3), c: randoms(3 * m * 12, 5) };
  const a = p.view("float32", numbers.a);
  for (const bias of [p.view("float32", randoms(n, 6), 1), { ...a, count: n }]) {
    const c = p.view("float32", numbers.c);
    p.kernel(
      "matrix_product",
      product({
        batch,
        m,
        n,
        k,
        a: { view: a, batch: [m * k], ...rowMajor(k) },
        b: { view: p.view("float32", numbers.b), batch: [k * n], ...rowMajor(n) },
        c: { view: c, batch: [m * 12], row: 12, column: 1 },
        alpha: 0.5,
        beta: 2,
        bias,
      }),
    );
    const biases = await p.read(bias);
    const sums = range(3).flatMap((i) =>
      multiplied({ m, n, k }, numbers.a, numbers.b, rowMajor(k), rowMajor(n), [
        i * m * k,
        i * k * n,
      ]),
    );
    const expected = numbers.c.map((x, i) => {
      const [row, column] = [Math.floor(i / 12), i % 12];
      return column >= n ? x : 0.5 * sums[row * n + column] + 2 * x + biases[column];
    });
    assertClose(await p.read(c), expected, { absolute: 1e-5 });
  }
});

testBoth("batches whose matrices lie below one another and meet the same one", async (p) => {
  const [m, n, k] = [6, 8, 4];
  const a = randoms(5 * m * k, 2);
  const b = randoms(k * n, 3);
  const c = p.empty("float32", 5 * m * n);
  p.kernel(
    "matrix_product",
    product({
      batch: [5],
      m,
      n,
      k,
      a: { view: p.view("float32", a), batch: [m * k], ...rowMajor(k) },
      b: { view: p.view("float32", b), batch: [0], ...rowMajor(n) },
      c: { view: c, batch: [m * n], ...rowMajor(n) },
    }),
  );
  const expected = multiplied({ m: 5 * m, n, k }, a, b, rowMajor(k), rowMajor(n));
  assertClose(await p.read(c), expected, { absolute: 1e-5 });
});

testBoth("batches, of which an operand may repeat", async (p) => {
  const [m, n, k] = [5, 6, 7];
  const batch = [2, 3];
  const a = randoms(3 * m * k, 2);
  const b = randoms(2 * k * n, 3);
  const c = p.empty("float32", 6 * m * n);
  p.kernel(
    "matrix_product",
    product({
      batch,
      m,
      n,
      k,
      a: { view: p.view("float32", a), batch: [0, m * k], ...rowMajor(k) },
      b: { view: p.view("float32", b), batch: [k * n, 0], ...rowMajor(n) },
      c: { view: c, batch: [3 * m * n, m * n], ...rowMajor(n) },
    }),
  );
  const expected = range(6).flatMap((i) =>
    multiplied({ m, n, k }, a, b, rowMajor(k), rowMajor(n), [
      (i % 3) * m * k,
      Math.floor(i / 3) * k * n,
    ]),
  );
  assertClose(await p.read(c), expected, { absolute: 1e-5 });
});

testBoth("alpha, beta, a bias, and rows that are apart", async (p) => {
  for (const [m, n, k] of [
    [6, 5, 4],
    [1, 5, 4],
  ]) {
    const a = randoms(m * k, 2);
    const b = randoms(k * n, 3);
    const before = randoms(m * (n + 2), 5);
    const bias = randoms(n, 6);
    const c = p.view("float32", before);
    p.kernel(
      "matrix_product",
      product({
        m,
        n,
        k,
        a: { view: p.view("float32", a), ...rowMajor(k) },
        b: { view: p.view("float32", b), ...rowMajor(n) },
        c: { view: c, row: n + 2, column: 1 },
        alpha: 0.5,
        beta: 2,
        bias: p.view("float32", bias),
      }),
    );
    const sums = multiplied({ m, n, k }, a, b, rowMajor(k), rowMajor(n));
    const expected = before.map((x, i) => {
      const [row, column] = [Math.floor(i / (n + 2)), i % (n + 2)];
      return column >= n ? x : 0.5 * sums[row * n + column] + 2 * x + bias[column];
    });
    assertClose(await p.read(c), expected, { absolute: 1e-5 });
  }
});

testBoth("integers, and no columns to multiply", async (p) => {
  const [m, n] = [5, 6];
  for (const k of [20, 700])
    for (const dtype of ["int32", "int64", "uint8"]) {
      const a = range(m * k, (i) => i % 7);
      const b = range(k * n, (i) => i % 5);
      const c = p.empty(dtype, m * n);
      p.kernel(
        "matrix_product",
        product({
          m,
          n,
          k,
          a: { view: p.view(dtype, a), ...rowMajor(k) },
          b: { view: p.view(dtype, b), ...rowMajor(n) },
          c: { view: c, ...rowMajor(n) },
        }),
      );
      const sums = multiplied({ m, n, k }, a, b, rowMajor(k), rowMajor(n));
      assert.deepEqual(
        await p.read(c),
        sums.map((x) => (dtype === "uint8" ? x & 255 : x)),
      );
    }
  const c = p.empty("float32", 30);
  const nothing = p.empty("float32", 0);
  p.kernel(
    "matrix_product",
    product({
      m,
      n,
      k: 0,
      a: { view: nothing, ...rowMajor(0) },
      b: { view: nothing, ...rowMajor(n) },
      c: { view: c, ...rowMajor(n) },
    }),
  );
  assert.deepEqual(await p.read(c), new Array(30).fill(0));
});
