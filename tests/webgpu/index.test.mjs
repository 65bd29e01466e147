// Moving elements by index.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClose, randoms, range } from "./support/close.mjs";
import { rows } from "./support/kernel_fields.mjs";
import { options, packedStrides, playing } from "./support/playing.mjs";

const kDTypes = ["float32", "int32", "int64", "uint8", "bool"];
const valuesOf = (dtype, count) => range(count, (i) => (dtype === "bool" ? i % 2 : i % 200));

const [outer, height, inner] = [2, 5, 3];
const index = [4, 0, 4, 2];
const packedAt = (o, k, i) => (o * index.length + k) * inner + i;
const indexedAt = (o, row, i) => (o * height + row) * inner + i;

function selectionOf(p, list = index) {
  return { outer, rows: height, inner, count: list.length, index: p.view("int64", list) };
}

function forEachRow(visit) {
  for (let o = 0; o < outer; o++)
    for (let k = 0; k < index.length; k++)
      for (let i = 0; i < inner; i++) visit(packedAt(o, k, i), indexedAt(o, index[k], i));
}

test("rows are taken and put", options, async () => {
  for (const dtype of kDTypes) {
    for (const padding of [0, 1]) {
      const p = playing();
      const block = valuesOf(dtype, outer * height * inner);
      const expected = [];
      forEachRow((packed, indexed) => {
        expected[packed] = block[indexed];
      });
      const indexed = p.view(dtype, block, padding);
      const packed = p.empty(dtype, expected.length, padding);
      p.kernel("take_rows", { selection: selectionOf(p), indexed, packed });
      assert.deepEqual(await p.read(packed), expected, dtype);

      const source = valuesOf(dtype, expected.length).reverse();
      const after = [...block];
      forEachRow((from, to) => {
        after[to] = source[from];
      });
      p.kernel("put_rows", { selection: selectionOf(p), packed: p.view(dtype, source), indexed });
      assert.deepEqual(await p.read(indexed), after, dtype);
    }
  }
  const p = playing();
  const z = p.view("complex64", range(8));
  const packed = p.empty("complex64", 2);
  const selection = { outer: 1, rows: 4, inner: 1, count: 2, index: p.view("int64", [3, 1]) };
  p.kernel("take_rows", { selection, indexed: z, packed });
  assert.deepEqual(await p.read({ ...packed, count: 4 }), [6, 7, 2, 3]);
});

test("rows are added", options, async () => {
  for (const dtype of ["float32", "int32"]) {
    const p = playing();
    const block = range(outer * height * inner);
    const source = range(outer * index.length * inner, (i) => i + 1);
    const after = [...block];
    forEachRow((from, to) => {
      if (Math.floor(to / inner) % height !== 2) after[to] += source[from];
    });
    const indexed = p.view(dtype, block, 1);
    const packed = p.view(dtype, source);
    p.kernel("add_rows", { selection: selectionOf(p), packed, indexed, skip: 2 });
    assert.deepEqual(await p.read(indexed), after);
  }
});

test("many rows are added to one", options, async () => {
  const p = playing();
  const count = 3000;
  const values = randoms(count * 4);
  const indexed = p.view("float32", new Array(8).fill(0));
  const index = p.view("int64", new Array(count).fill(1));
  const selection = { outer: 1, rows: 2, inner: 4, count, index };
  p.kernel("add_rows", { selection, packed: p.view("float32", values), indexed, skip: -1 });
  const sums = range(4, (i) => values.filter((_, at) => at % 4 === i).reduce((a, b) => a + b, 0));
  assertClose(await p.read(indexed), [0, 0, 0, 0, ...sums], { absolute: 1e-3 });
});

test("an index that is out of range", options, async () => {
  const p = playing();
  const indexed = p.view("float32", range(outer * height * inner));
  const packed = p.view("float32", range(outer * 4 * inner));
  const bad = { selection: selectionOf(p, [0, 5, 1, -1]), indexed, packed };
  const kernels = { take_rows: bad, put_rows: bad, add_rows: { ...bad, skip: -1 } };
  const neighbors = [p.view("float32", [1, 2]), p.view("float32", [3, 4])];
  for (const [name, fields] of Object.entries(kernels)) {
    p.kernel(name, fields, "embedding");
    // Where it is taken from or put to is not said, but it is inside the memory.
    await p.read(packed);
    assert.deepEqual(await Promise.all(neighbors.map((view) => p.read(view))), [[1, 2], [3, 4]]); // biome-ignore format: two views
  }
  const checked = p.empty("int64", 3);
  const gather = { op: "gather", count: 3, dim: 0, index: p.view("int64", [3, 7, 2]), checked };
  p.kernel("find_out_of_range", { ...gather, size: 8 }, "gather");
  assert.deepEqual(await p.read(checked), [3, 7, 2]);
  p.kernel("find_out_of_range", { ...gather, size: 7 }, "gather");
  await assert.rejects(p.read(checked), { kind: "index", op: "gather", index: 7 });
  assert.deepEqual(await p.read(gather.index), [3, 7, 2]);
  // A failure that nobody has read when it is known is a warning, once for each op.
  assert.deepEqual(p.warnings, []);
  for (let i = 0; i < 2; i++) {
    p.kernel("find_out_of_range", { ...gather, size: 7 }, "gather");
    await p.read(gather.index);
    assert.deepEqual(p.warnings, ["gather: index 7 is out of range"]);
  }
});

test("elements are taken, put and added", options, async () => {
  const shape = [2, 3, 4];
  const sizes = [2, 5, 4];
  const strides = [20, 1, 5];
  const picks = range(24, (i) => (i * 3) % 5);
  const named = picks.map((pick, i) => {
    const [a, , c] = packedStrides(shape).map((step, d) => Math.floor(i / step) % shape[d]);
    return a * strides[0] + pick * strides[1] + c * strides[2];
  });
  const count = sizes.reduce((a, b) => a * b);
  for (const dtype of kDTypes) {
    const p = playing();
    const block = valuesOf(dtype, count);
    const selection = { shape, dim: 1, strides, index: p.view("int64", picks) };
    const indexed = p.view(dtype, block, 1);
    const packed = p.empty(dtype, 24);
    p.kernel("take_elements", { selection, indexed, packed });
    assert.deepEqual(
      await p.read(packed),
      named.map((at) => block[at]),
      dtype,
    );

    const source = valuesOf(dtype, 24).reverse();
    const from = p.view(dtype, source);
    const after = [...block];
    for (const [i, at] of named.entries()) after[at] = source[i];
    p.kernel("put_elements", { selection, packed: from, indexed });
    assert.deepEqual(await p.read(indexed), after, dtype);
    if (dtype !== "float32" && dtype !== "int32") continue;
    for (const [i, at] of named.entries()) after[at] += source[i];
    p.kernel("add_elements", { selection, packed: from, indexed });
    assert.deepEqual(await p.read(indexed), after);
  }
});

const kWraps = { uint8: (x) => x % 256, bool: (x) => Number(x !== 0) };

test(
  "elements that meet in a place are multiplied, or the largest or smallest of them stays",
  options,
  async () => {
    const at = [4, 0, 4, 2, 4, 0];
    const selectionIn = (p, at) => ({
      ...{ shape: [at.length], dim: 0, strides: [1] },
      index: p.view("int64", at),
    });
    const folds = {
      multiply: (a, b) => a * b,
      largest: Math.max,
      smallest: Math.min,
    };
    for (const dtype of kDTypes) {
      const block = valuesOf(dtype, 5).map((x) => x + (dtype === "bool" ? 0 : 3));
      const source = valuesOf(dtype, at.length).reverse();
      for (const [what, fold] of Object.entries(folds)) {
        const p = playing();
        const indexed = p.view(dtype, block, 1);
        const fields = { selection: selectionIn(p, at), packed: p.view(dtype, source, 2), indexed };
        if (what === "multiply") p.kernel("multiply_elements", fields);
        else p.kernel("extreme_elements", { largest: what === "largest", ...fields });
        const after = [...block];
        for (const [i, place] of at.entries()) after[place] = fold(after[place], source[i]);
        const wrapped = after.map(kWraps[dtype] ?? ((x) => x));
        assert.deepEqual(await p.read(indexed), wrapped, `${what} of ${dtype}`);
      }
    }

    const p = playing();
    // Five complex numbers, of which (4 + 5i) becomes (4 + 5i) (1 + 2i) (-1 + 3i).
    const z = p.view("complex64", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const factors = p.view("complex64", [1, 2, -1, 3]);
    p.kernel("multiply_elements", {
      selection: selectionIn(p, [2, 2]),
      packed: factors,
      indexed: z,
    });
    assert.deepEqual(await p.read(z), [0, 1, 2, 3, -33, -31, 6, 7, 8, 9]);

    const x = p.view("float32", [1, 2, NaN]);
    const values = p.view("float32", [NaN, 5]);
    const ends = selectionIn(p, [0, 2]);
    p.kernel("extreme_elements", { largest: true, selection: ends, packed: values, indexed: x });
    assert.deepEqual(await p.read(x), [NaN, 2, NaN]);
  },
);

test("true elements are counted and found", options, async () => {
  for (const count of [0, 1, 100, 9001]) {
    const p = playing();
    const values = randoms(count).map((x) => Number(x > 0.3));
    const positions = values.flatMap((value, i) => (value ? [i] : []));
    const mask = p.view("bool", values, 3);
    const total = p.empty("int64", 1);
    p.kernel("count_true", { count, mask, trueCount: total });
    assert.deepEqual(await p.read(total), [positions.length]);
    const found = p.empty("int64", positions.length);
    p.kernel("find_true", { count, mask, positions: found });
    assert.deepEqual(await p.read(found), positions);
  }
});

test("triangles are cleared", options, async () => {
  for (const dtype of kDTypes) {
    for (const [lower, diagonal] of [
      [true, 0],
      [false, 1],
      [true, -1],
      [false, -9],
    ]) {
      const p = playing();
      const values = valuesOf(dtype, 24).map((x) => x || 1);
      const matrices = p.view(dtype, values, 1);
      p.kernel("clear_triangle", { count: 24, rows: 4, columns: 3, diagonal, lower, matrices });
      const expected = values.map((x, i) => {
        const beside = (i % 3) - (Math.floor(i / 3) % 4);
        return (lower ? beside > diagonal : beside < diagonal) ? 0 : x;
      });
      assert.deepEqual(await p.read(matrices), expected);
    }
  }
});

test("elements in sorted order", options, async () => {
  const cases = [
    { shape: [3, 20, 4], first: 0, count: 20 },
    { shape: [2, 700, 1], first: 5, count: 9 },
    { shape: [2, 3000, 1], first: 0, count: 3000 },
    { shape: [1, 2500, 2], first: 2400, count: 100 },
  ];
  for (const dtype of ["float32", "int64", "uint8"]) {
    for (const { shape, first, count } of cases) {
      const [blocks, size, step] = shape;
      const p = playing();
      // Many values are equal.
      const values = randoms(blocks * size * step, 9).map(
        (x) => Math.floor(60 + 50 * x) - (dtype === "uint8" ? 0 : 60),
      );
      const x = p.view(dtype, values, 1);
      const indices = p.empty("int64", blocks * count * step);
      for (const descending of [false, true]) {
        p.kernel("order_rows", { rows: rows(shape), descending, first, count, x, indices });
        const expected = new Array(blocks * count * step);
        for (let o = 0; o < blocks; o++) {
          for (let i = 0; i < step; i++) {
            const at = (k) => values[(o * size + k) * step + i];
            const order = range(size).sort(
              (a, b) => (descending ? at(b) - at(a) : at(a) - at(b)) || a - b,
            );
            for (let k = 0; k < count; k++) expected[(o * count + k) * step + i] = order[first + k];
          }
        }
        assert.deepEqual(await p.read(indices), expected, `${dtype} ${shape} ${descending}`);
      }
    }
  }
  const p = playing();
  const x = p.view("float32", [0, NaN, -1, -0, Infinity, -Infinity]);
  const indices = p.empty("int64", 6);
  for (const [descending, expected] of [
    [false, [5, 2, 0, 3, 4, 1]],
    [true, [1, 4, 0, 3, 2, 5]],
  ]) {
    const fields = { rows: rows([1, 6, 1]), descending, first: 0, count: 6, x, indices };
    p.kernel("order_rows", fields);
    assert.deepEqual(await p.read(indices), expected);
  }
});

test("the most frequent elements", options, async () => {
  for (const dtype of ["float32", "int64", "bool"]) {
    for (const [blocks, size, step] of [
      [2, 9, 3],
      [1, 300, 1],
    ]) {
      const p = playing();
      const count = dtype === "bool" ? 2 : 7;
      const values = randoms(blocks * size * step, 3).map((x) => Math.floor((x + 1) * (count / 2)));
      const expected = range(blocks * step, (position) => {
        const [o, i] = [Math.floor(position / step), position % step];
        const row = range(size, (k) => values[(o * size + k) * step + i]);
        const times = (value) => row.filter((x) => x === value).length;
        const best = [...new Set(row)].sort((a, b) => times(b) - times(a) || a - b)[0];
        return row.lastIndexOf(best);
      });
      const indices = p.empty("int64", expected.length);
      const x = p.view(dtype, values, 1);
      p.kernel("mode_rows", { rows: rows([blocks, size, step]), x, indices });
      assert.deepEqual(await p.read(indices), expected);
    }
  }
});
