// Formulas and copies of memory: dtypes, strides, offsets, and results written to the memory of operands.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { elementwise } from "./support/kernel_fields.mjs";
import { options, packedStrides, playing, testBoth } from "./support/playing.mjs";

const range = (count, value = (i) => i) => Array.from({ length: count }, (_, i) => value(i));

test("operands of one shape", options, async () => {
  const p = playing();
  const n = 1001;
  const a = p.view("float32", range(n), 3);
  const b = p.view(
    "float32",
    range(n, (i) => 2 * i),
    5,
  );
  const out = p.empty("float32", n, 1);
  const shape = [n];
  p.kernel(
    "elementwise",
    elementwise({ op: "add", constants: [0.5], compute: "float32", shape }, [
      [out, [1]],
      [a, [1]],
      [b, [1]],
    ]),
  );
  assert.deepEqual(
    await p.read(out),
    range(n, (i) => 2 * i),
  );
});

test("broadcast and permuted operands", options, async () => {
  const p = playing();
  const x = eg.tensor(range(24)).reshape([2, 3, 4]);
  const y = eg.tensor(range(3, (i) => 10 * i));
  const expected = Array.from(x.permute(2, 0, 1).mul(y).dataSync());
  const a = p.view("float32", range(24));
  const b = p.view(
    "float32",
    range(3, (i) => 10 * i),
  );
  const out = p.empty("float32", 24);
  const shape = [4, 2, 3];
  p.kernel(
    "elementwise",
    elementwise({ op: "mul", compute: "float32", shape }, [
      [out, packedStrides(shape)],
      [a, [1, 12, 4]],
      [b, [0, 0, 1]],
    ]),
  );
  assert.deepEqual(await p.read(out), expected);
});

test("a result with the strides of its operands, and a number for all", options, async () => {
  const p = playing();
  const a = p.view("float32", range(12));
  const b = p.view("float32", [3]);
  const out = p.empty("float32", 12);
  const shape = [3, 4];
  p.kernel(
    "elementwise",
    elementwise({ op: "sub", constants: [1], compute: "float32", shape }, [
      [out, [1, 3]],
      [a, [1, 3]],
      [b, [0, 0]],
    ]),
  );
  assert.deepEqual(
    await p.read(out),
    range(12, (i) => i - 3),
  );
});

test("every dtype is converted when it is read and written", options, async () => {
  const values = {
    float32: [1.5, -2.5, 0, 300, 7],
    int32: [1, -2, 0, 300, 7],
    int64: [1, -2, 0, 300, 7],
    uint8: [1, 254, 0, 44, 7],
    bool: [1, 1, 0, 1, 1],
  };
  for (const [from, list] of Object.entries(values)) {
    for (const to of Object.keys(values)) {
      for (const compute of ["float32", "int32", "uint8"]) {
        const p = playing();
        const a = p.view(from, list, 1);
        const out = p.empty(to, 5, 1);
        p.kernel(
          "elementwise",
          elementwise({ op: "abs", compute, shape: [5] }, [
            [out, [1]],
            [a, [1]],
          ]),
        );
        const expected = eg
          .tensor(from === "int64" ? list.map(BigInt) : list, { dtype: from })
          .to(compute)
          .abs()
          .to(to);
        assert.deepEqual(
          await p.read(out),
          Array.from(expected.dataSync(), Number),
          `${from} -> ${compute} -> ${to}`,
        );
      }
    }
  }
});

test("bytes: four in a word, and adjacent bytes are unchanged", options, async () => {
  for (const count of [1, 3, 4, 6, 9]) {
    for (const padding of [0, 1, 4]) {
      const p = playing();
      const a = p.view(
        "float32",
        range(count, (i) => i % 3),
      );
      const b = p.view("float32", [1]);
      const out = p.empty("bool", count, padding);
      p.kernel(
        "elementwise",
        elementwise({ op: "gt", compute: "float32", result: "bool", shape: [count] }, [
          [out, [1]],
          [a, [1]],
          [b, [0]],
        ]),
      );
      assert.deepEqual(
        await p.read(out),
        range(count, (i) => Number(i % 3 > 1)),
      );
      const around = await p.read({ ...out, offset: 0, count: count + 2 * padding });
      assert.ok(
        [...around.slice(0, padding), ...around.slice(padding + count)].every((x) => x === 77),
      );
    }
  }
  const p = playing();
  const a = p.view("uint8", range(8));
  const out = p.empty("uint8", 16);
  p.kernel(
    "elementwise",
    elementwise({ op: "add", constants: [1], compute: "uint8", shape: [8] }, [
      [out, [2]],
      [a, [1]],
      [a, [1]],
    ]),
  );
  assert.deepEqual(
    await p.read(out),
    range(16, (i) => (i % 2 ? 77 : i)),
  );
});

test("the result in the memory of an operand", options, async () => {
  for (const dtype of ["float32", "int64", "uint8"]) {
    const p = playing();
    const a = p.view(dtype, range(9), 1);
    const compute = dtype === "int64" ? "int64" : dtype;
    p.kernel(
      "elementwise",
      elementwise({ op: "mul", compute, shape: [9] }, [
        [a, [1]],
        [a, [1]],
        [a, [1]],
      ]),
    );
    assert.deepEqual(
      await p.read(a),
      range(9, (i) => i * i),
    );
  }
});

test("gradients of ops with several operands and of the output", options, async () => {
  const p = playing();
  const g = p.view("float32", [1, 2, 3]);
  const a = p.view("float32", [4, 5, 6]);
  const b = p.view("float32", [2, 4, 8]);
  const y = p.view("float32", [0.5, 0.25, 2]);
  const out = p.empty("float32", 3);
  const call = { op: "div", gradientOf: 1, compute: "float32", shape: [3] };
  p.kernel(
    "elementwise",
    elementwise(
      call,
      [out, g, a, b, y].map((view) => [view, [1]]),
    ),
  );
  assert.deepEqual(await p.read(out), [-1, -0.625, -0.28125]);
  p.kernel(
    "elementwise",
    elementwise(
      { ...call, op: "sigmoid", gradientOf: 0 },
      [out, g, a, y].map((view) => [view, [1]]),
    ),
  );
  assert.deepEqual(await p.read(out), [0.25, 0.375, -6]);
});

test("large and empty operands", options, async () => {
  const p = playing();
  const n = 65536 * 9 + 5;
  const a = p.view("uint8", new Uint8Array(n).fill(3));
  const out = p.empty("float32", n);
  p.kernel(
    "elementwise",
    elementwise({ op: "neg", compute: "float32", shape: [n] }, [
      [out, [1]],
      [a, [1]],
    ]),
  );
  p.kernel(
    "elementwise",
    elementwise({ op: "neg", compute: "float32", shape: [0, 5] }, [
      [out, [5, 1]],
      [a, [5, 1]],
    ]),
  );
  const result = await p.read({ ...out, offset: 4 * (n - 9), count: 9 });
  assert.deepEqual(result, new Array(9).fill(-3));
});

const copyRow = (p, count, to, from) =>
  p.kernel("copy", { shape: [count], to, toStrides: [1], from, fromStrides: [1] });

testBoth(
  "many elements, four at a time: operands of every layout, in place, and parts of memory",
  async (p) => {
    const [rows, columns] = [130, 128];
    const n = rows * columns;
    const shape = [rows, columns];
    const at = (strides, i) => strides[0] * Math.floor(i / columns) + strides[1] * (i % columns);
    const values = range(2 * n, (i) => (i % 1009) - 500);
    // The strides of the second operand, and the elements before it.
    const layouts = [
      [[columns, 1], 0],
      [[columns, 1], 4],
      [[columns, 1], 3],
      [[0, 1], 0],
      [[0, 1], 2],
      [[1, 0], 0],
      [[0, 0], 1],
      [[1, rows], 0],
      [[2 * columns, 2], 0],
      [[columns + 2, 1], 0],
      [[columns + 4, 1], 8],
    ];
    for (const [strides, padding] of layouts)
      for (const isInPlace of [false, true]) {
        const a = p.view("float32", range(n), 8);
        const b = p.view("float32", values, padding);
        const out = isInPlace ? a : p.empty("float32", n, 4);
        p.kernel(
          "elementwise",
          elementwise({ op: "sub", constants: [2], compute: "float32", shape }, [
            [out, [columns, 1]],
            [a, [columns, 1]],
            [b, strides],
          ]),
        );
        assert.deepEqual(
          await p.read(out),
          range(n, (i) => i - 2 * values[at(strides, i)]),
          `${strides} after ${padding}`,
        );
      }
  },
);

test("many elements in rows whose length is no multiple of four", options, async () => {
  const p = playing();
  const [rows, columns] = [4096, 6];
  const a = p.view("float32", range(rows * columns));
  const b = p.view(
    "float32",
    range(columns, (i) => 100 * i),
  );
  const integers = p.view(
    "int32",
    range(rows * columns, () => 1),
  );
  const out = p.empty("float32", rows * columns);
  const run = (operand, strides) =>
    p.kernel(
      "elementwise",
      elementwise({ op: "add", constants: [1], compute: "float32", shape: [rows, columns] }, [
        [out, [columns, 1]],
        [a, [columns, 1]],
        [operand, strides],
      ]),
    );
  run(b, [0, 1]);
  assert.deepEqual(
    await p.read(out),
    range(rows * columns, (i) => i + 100 * (i % columns)),
  );
  run(integers, [columns, 1]);
  assert.deepEqual(
    await p.read(out),
    range(rows * columns, (i) => i + 1),
  );
});

test("copies of every layout", options, async () => {
  for (const dtype of ["float32", "int64", "bool", "uint8"]) {
    const p = playing();
    const values = range(12, (i) => (dtype === "bool" ? i % 2 : i));
    const a = p.view(dtype, values, 1);
    const out = p.empty(dtype, 12, 2);
    p.kernel("copy", { shape: [3, 4], to: out, toStrides: [4, 1], from: a, fromStrides: [1, 3] });
    const transposed = range(12, (i) => values[(i % 4) * 3 + Math.floor(i / 4)]);
    assert.deepEqual(await p.read(out), transposed, dtype);
    copyRow(p, 12, out, a);
    assert.deepEqual(await p.read(out), values);
    copyRow(p, 4, a, { ...a, offset: a.offset + 4 * a.offset });
    assert.deepEqual((await p.read(a)).slice(0, 4), values.slice(4, 8));
  }
});

test("copies convert, complex numbers too", options, async () => {
  const p = playing();
  const z = p.view("complex64", [1, 2, 0, 3, 0, 0]);
  const out = p.empty("complex64", 3);
  copyRow(p, 3, out, z);
  assert.deepEqual(await p.read({ ...out, count: 6 }), [1, 2, 0, 3, 0, 0]);
  const truth = p.empty("bool", 3);
  copyRow(p, 3, truth, z);
  assert.deepEqual(await p.read(truth), [1, 1, 0]);
  const real = p.empty("int32", 3);
  copyRow(p, 3, real, z);
  assert.deepEqual(await p.read(real), [1, 0, 0]);
  const widened = p.empty("complex64", 3);
  copyRow(p, 3, widened, real);
  assert.deepEqual(await p.read({ ...widened, count: 6 }), [1, 0, 0, 0, 0, 0]);
});

test("memory is filled with a value", options, async () => {
  const values = { float32: -1.5, int32: -3, int64: -3, uint8: 200, bool: 1 };
  for (const [dtype, value] of Object.entries(values)) {
    for (const padding of [0, 1]) {
      const p = playing();
      const y = p.empty(dtype, 7, padding);
      p.kernel("fill", { count: 7, value, y });
      assert.deepEqual(await p.read(y), new Array(7).fill(value));
      const around = await p.read({ ...y, offset: 0, count: 7 + 2 * padding });
      assert.ok([...around.slice(0, padding), ...around.slice(padding + 7)].every((x) => x === 77));
    }
  }
  const p = playing();
  const z = p.empty("complex64", 2);
  p.kernel("fill", { count: 2, value: 2, y: z });
  assert.deepEqual(await p.read({ ...z, count: 4 }), [2, 0, 2, 0]);
});
