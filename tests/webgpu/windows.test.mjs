// Tensors larger than the memory that a shader can bind: on a device that binds 32 KiB, results are those of one that binds all.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClose, randoms, range } from "./support/close.mjs";
import { elementwise, rows } from "./support/kernel_fields.mjs";
import { devices, options, Playing, packedStrides, RandomKind } from "./support/playing.mjs";
import { replacing } from "./support/replacing.mjs";

const kBytes = 2 ** 15;

function binding(device, bytes) {
  const limits = () => replacing(device.limits, { maxStorageBufferBindingSize: () => bytes });
  return device && replacing(device, { limits });
}

// Players without and with the limit, for both kinds of shaders.
const kPlayers = Object.entries(devices).map(([kind, device]) => ({
  kind,
  whole: new Playing({ on: device }),
  limited: new Playing({ on: binding(device, kBytes) }),
}));

/** Defines a test that compares the views that `run` has computed and returns. */
function testBoth(name, run) {
  for (const { kind, whole, limited } of kPlayers)
    test(`${name}: ${kind}`, options, async () => {
      const expected = run(whole);
      const found = run(limited);
      for (const [i, view] of expected.entries())
        assertClose(await limited.read(found[i]), await whole.read(view), { absolute: 5e-3 });
    });
}

const formula = (p, op, shape, operands, constants = [1]) =>
  p.kernel("elementwise", elementwise({ op, constants, compute: "float32", shape }, operands));

testBoth("formulas of lists, at any offset and in place", (p) => {
  const n = 60003;
  const [a, b] = [p.view("float32", randoms(n, 1), 3), p.view("float32", randoms(n, 2), 8)];
  const out = p.empty("float32", n, 5);
  formula(
    p,
    "add",
    [n],
    [
      [out, [1]],
      [a, [1]],
      [b, [1]],
    ],
  );
  formula(
    p,
    "add",
    [n],
    [
      [b, [1]],
      [b, [1]],
      [a, [1]],
    ],
  );
  const bits = p.empty("bool", n, 4);
  p.kernel(
    "elementwise",
    elementwise({ op: "lt", constants: [], compute: "float32", result: "bool", shape: [n] }, [
      [bits, [1]],
      [a, [1]],
      [out, [1]],
    ]),
  );
  return [out, b, bits];
});

testBoth("formulas of matrices: rows, columns, numbers and transposed operands", (p) => {
  const shape = [350, 96];
  const n = 350 * 96;
  const [a, b] = [p.view("float32", randoms(n, 1)), p.view("float32", randoms(n, 2))];
  return [
    [96, 1],
    [0, 1],
    [1, 0],
    [0, 0],
    [1, 350],
  ].map((strides) => {
    const out = p.empty("float32", n);
    formula(p, "sub", shape, [
      [out, [96, 1]],
      [a, [96, 1]],
      [b, strides],
    ]);
    return out;
  });
});

testBoth("formulas of distant parts of the same memory", (p) => {
  const shape = [350, 96];
  const a = p.view("float32", randoms(350 * 96, 4));
  const row = (i) => [{ ...a, offset: a.offset + 4 * 96 * i }, [0, 1]];
  return [0, 1, 349].map((i) => {
    const out = p.empty("float32", 350 * 96);
    formula(p, "sub", shape, [[out, [96, 1]], [a, [96, 1]], row(i)]);
    return out;
  });
});

testBoth("copies: transposed, converted and of bytes", (p) => {
  const [m, n] = [300, 130];
  const from = p.view(
    "float32",
    range(m * n, (i) => i - 4000),
  );
  const transposed = p.empty("float32", m * n);
  const strides = { to: [m, 1], from: [1, n] };
  const copy = (shape, to, toStrides, source, fromStrides) =>
    p.kernel("copy", { shape, to, toStrides, from: source, fromStrides });
  copy([n, m], transposed, strides.to, from, strides.from);
  const converted = p.empty("int64", m * n, 1);
  copy([m * n], converted, [1], from, [1]);
  const bytes = p.view(
    "uint8",
    range(140000, (i) => i % 251),
  );
  const moved = p.empty("uint8", 140000);
  copy([139990], { ...moved, offset: 3 }, [1], { ...bytes, offset: 5 }, [1]);
  return [transposed, converted, moved];
});

testBoth("fills and random numbers, which are the same", (p) => {
  const n = 50001;
  const [filled, normal, integers] = ["float32", "float32", "int64"].map((dtype) =>
    p.empty(dtype, n),
  );
  const position = { keyLow: 7, keyHigh: 1, group: 2 ** 32 - 9 };
  p.kernel("fill", { count: n, value: 3, y: filled });
  p.kernel("draw_random", { kind: RandomKind.Normal, count: n, position, a: 0, b: 1, y: normal });
  p.kernel("draw_random", {
    kind: RandomKind.Integer,
    count: n,
    position,
    a: 0,
    b: 99,
    y: integers,
  });
  const [mask, y, back] = [p.empty("bool", n), p.empty("float32", n), p.empty("float32", n)];
  p.kernel("draw_dropout", { count: n, keep: 0.5, position, x: normal, mask, y });
  p.kernel("dropout", { count: n, keep: 0.5, x: filled, mask, y: back });
  return [filled, normal, integers, mask, y, back];
});

// Half the sum.
function sum(p, shape, dims, x, xStrides = packedStrides(shape)) {
  const kept = shape.filter((_, d) => !dims.includes(d));
  const y = p.empty(
    "float32",
    kept.reduce((product, size) => product * size, 1),
  );
  const reduction = { fold: 0, compute: "float32", divisor: 2, root: false };
  p.kernel("reduce", { reduction, shape, dims, x, xStrides, shifts: undefined, y });
  return y;
}

testBoth("sums of all elements, of rows, of columns and of long rows", (p) => {
  const x = p.view("float32", randoms(120000, 4));
  return [
    sum(p, [120000], [0], x),
    sum(p, [1200, 100], [1], x),
    sum(p, [1200, 100], [0], x),
    sum(p, [3, 40000], [1], x),
    sum(p, [40000, 3], [0], x),
    sum(p, [100, 1200], [1], x, [1, 100]),
  ];
});

test("sums of many columns", options, async () => {
  const [m, n] = [200, 1100];
  const x = randoms(m * n, 5);
  const expected = range(n, (j) => range(m, (i) => x[n * i + j] / 2).reduce((a, b) => a + b));
  for (const device of Object.values(devices)) {
    const p = new Playing({ on: binding(device, 4 * kBytes) });
    assertClose(await p.read(sum(p, [m, n], [0], p.view("float32", x))), expected, {
      absolute: 1e-4,
    });
  }
});

test("other kernels say how much they need", options, async () => {
  for (const { limited: p } of kPlayers) {
    const [x, y] = [p.view("float32", randoms(20000, 1)), p.empty("float32", 20000)];
    p.kernel("softmax", { kind: 0, rows: rows([2, 10000, 1]), x, y });
    await assert.rejects(p.read(y), {
      kind: "out-of-memory",
      message: /^80000 bytes .* this GPU binds 32768: use smaller tensors/,
    });
    assert.equal((await p.read(x)).length, 20000);
  }
});

test(
  "an optimizer's step that needs too much fails what it would have written, and nothing waits forever",
  options,
  async () => {
    for (const { limited: p } of kPlayers) {
      const [param, grad] = range(2, (i) => p.view("float32", randoms(20000, 1 + i)));
      const other = p.view("float32", [1, 2]);
      const options = {
        ...{ lr: 0.5, momentum: 0, dampening: 0, weightDecay: 0 },
        ...{ nesterov: false, maximize: false, first: false },
      };
      p.kernel("sgd_step", { options, count: 20000, param, grad });
      await assert.rejects(p.read(param), { kind: "out-of-memory", op: "sgd_step" });
      assert.deepEqual(await p.read(other), [1, 2]);
      assert.equal((await p.read(grad)).length, 20000);
    }
  },
);

test("recordings replay parts, and merge what fits", options, async () => {
  const { limited: p } = kPlayers[1];
  const n = 40000;
  const [x, y, z] = [
    p.view("float32", randoms(n, 1)),
    p.empty("float32", n),
    p.empty("float32", n),
  ];
  p.stream.beginRecording(1);
  formula(
    p,
    "add",
    [n],
    [
      [y, [1]],
      [x, [1]],
      [x, [1]],
    ],
  );
  formula(
    p,
    "add",
    [n],
    [
      [z, [1]],
      [y, [1]],
      [x, [1]],
    ],
  );
  p.stream.endRecording();
  const changed = randoms(n, 2);
  p.stream.write(x.block, 0, Float32Array.from(changed));
  p.stream.playRecording(1);
  assertClose(
    await p.read(z),
    changed.map((one) => 3 * one),
  );
});
