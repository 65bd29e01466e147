// Matrices of 4 and 8 bits: values by hand, every size of group, and products beside those of floats.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const holds = (tensor, rows) => assertTensor(tensor, [rows].flat(3));
const bytes = (values, shape) => eg.tensor(Uint8Array.from(values), { shape });

const kLayouts = [
  [8, null],
  [8, 32],
  [8, 128],
  [4, null],
  [4, 32],
  [4, 64],
  [4, 128],
];

describe("quantize", () => {
  test("gives the largest element of a row the first code", () => {
    const [codes, scale] = eg.quantize(eg.tensor([[-1, 0.5, 0.25, 0]]));
    holds(codes, [[0, 192, 160, 128]]);
    holds(scale, [[1 / 128]]);
    assert.deepEqual([codes.dtype, scale.dtype], ["uint8", "float32"]);
  });

  test("puts two columns in a byte, the first in the lower half", () => {
    const [codes, scale] = eg.quantize(eg.tensor([[-8, 3, 7]]), { bits: 4 });
    holds(codes, [[0 | (11 << 4), 15]]);
    holds(scale, [[1]]);
  });

  test("has a scale for each group of columns", () => {
    const row = eg.tensor([[...new Array(32).fill(-16), ...new Array(8).fill(8)]]);
    const [codes, scale] = eg.quantize(row, { bits: 4, groupSize: 32 });
    holds(scale, [[2, -1]]);
    holds(codes, [new Array(20).fill(0)]);
    holds(eg.dequantize(codes, scale, { bits: 4, groupSize: 32 }), row.tolist());
  });

  test("of zeros is zero, and NaN stays in its group", () => {
    const zeros = eg.quantize(eg.zeros([2, 3]));
    holds(eg.dequantize(...zeros), [
      [0, 0, 0],
      [0, 0, 0],
    ]);
    const row = eg.zeros([1, 64]);
    row.at(0, 40).fill_(Number.NaN);
    const spoiled = eg.dequantize(...eg.quantize(row, 8, 32), { groupSize: 32 });
    assert.equal(spoiled.isnan().sum().item(), 32);
    holds(spoiled.at(0).narrow(0, 0, 32).abs().sum(), 0);
  });

  test("takes every floating dtype", () => {
    const x = eg.tensor([[-1, 0.5]]);
    for (const dtype of ["float64", "float16", "bfloat16"]) {
      const [codes, scale] = eg.quantize(x.to(dtype));
      holds(codes, [[0, 192]]);
      assert.equal(scale.dtype, "float32");
    }
    assertThrows(() => eg.quantize(x.int()), "DtypeMismatch", /floating-point numbers, got int32/);
  });

  for (const [bits, groupSize] of kLayouts) {
    test(`of ${bits} bits in groups of ${groupSize} is off by one code at most`, () => {
      eg.manualSeed(1);
      const x = eg.randn([7, 300]);
      const [codes, scale] = eg.quantize(x, bits, groupSize);
      const apart = eg.dequantize(codes, scale, bits, groupSize).sub(x).abs();
      // Half a code, or a whole one where an element of the other sign is as large as the largest.
      const codesApart = apart.amax().div(scale.abs().amax()).item();
      assert.ok(codesApart > 0.2 && codesApart < 1.001, `${codesApart}`);
    });
  }
});

describe("quantizedLinear", () => {
  test("multiplies by the numbers of the codes", () => {
    const x = eg.tensor([[1, 2, 3]]);
    const scale = eg.tensor([[0.5], [2]]);
    const eight = bytes([129, 128, 127, 0, 255, 130], [2, 3]);
    // [0.5, 0, -0.5] and [-256, 254, 4]
    holds(eg.quantizedLinear(x, eight, scale), [[-1, 264]]);
    const four = bytes([0x79, 0x08, 0xf0, 0x0a], [2, 2]);
    // [0.5, -0.5, 0] and [-16, 14, 4]
    const bias = eg.tensor([1, -1]);
    holds(eg.quantizedLinear(x, four, scale, bias, { bits: 4 }), [[0.5, 23]]);
  });

  // Up to four rows are multiplied in registers, more in blocks.
  const kSizes = [
    [1, 64, 9],
    [1, 1, 1],
    [2, 33, 5],
    [3, 95, 4],
    [4, 576, 13],
    [5, 31, 3],
    [17, 640, 150],
    [128, 97, 130],
  ];
  for (const [bits, groupSize] of kLayouts) {
    test(`of ${bits} bits in groups of ${groupSize} is linear() with those numbers, also in gradients`, () => {
      eg.manualSeed(2);
      for (const [count, columns, rows] of kSizes) {
        const [codes, scale] = eg.quantize(eg.randn([rows, columns]), bits, groupSize);
        const numbers = numbersOf(codes, scale, { bits, groupSize, columns });
        const x = eg.randn([count, columns], { requiresGrad: true });
        const bias = eg.randn([rows], { requiresGrad: true });
        const y = eg.quantizedLinear(x, codes, scale, bias, bits, groupSize);
        const expected = eg.linear(x.double(), numbers, bias.double());
        const tolerance = { rtol: 1e-4, atol: 2e-4 };
        eg.testing.assertClose(y.double(), expected, tolerance);
        const g = eg.randn([count, rows], { requiresGrad: true });
        const [dx, db] = eg.autograd.grad([y], [x, bias], { gradOutputs: [g], createGraph: true });
        eg.testing.assertClose(dx.double(), g.double().matmul(numbers), tolerance);
        eg.testing.assertClose(db, g.sum(0), tolerance);
        // The gradient is linear in g: its derivative is the product again.
        const v = eg.randn([count, columns]);
        const [dg] = eg.autograd.grad([dx], [g], { gradOutputs: [v] });
        eg.testing.assertClose(dg.double(), v.double().matmul(numbers.t()), tolerance);
      }
    });
  }

  test("takes any leading dimensions, strides and half precision", () => {
    eg.manualSeed(3);
    const [codes, scale] = eg.quantize(eg.randn([6, 40]), 4, 32);
    const x = eg.randn([2, 3, 40]);
    const whole = eg.quantizedLinear(x, codes, scale, null, 4, 32);
    assert.deepEqual(whole.shape, [2, 3, 6]);
    eg.testing.assertClose(
      eg.quantizedLinear(x.at(1, 2), codes, scale, null, 4, 32),
      whole.at(1, 2),
    );
    const turned = x.transpose(0, 1).contiguous().transpose(0, 1);
    eg.testing.assertClose(eg.quantizedLinear(turned, codes, scale, null, 4, 32), whole);
    const half = eg.quantizedLinear(x.to("bfloat16"), codes, scale, null, 4, 32);
    assert.equal(half.dtype, "bfloat16");
    eg.testing.assertClose(half.float(), whole, { rtol: 0.02, atol: 0.1 });
  });

  test("differentiates scales", () => {
    const scale = eg.tensor([[0.5]], { requiresGrad: true });
    const x = eg.tensor([[3, 4]], { requiresGrad: true });
    eg.quantizedLinear(x, bytes([130, 127], [1, 2]), scale).backward();
    holds(x.grad, [[1, -0.5]]);
    holds(scale.grad, [[2]]);
  });

  test("says what does not fit, and leaves its operands as they are", () => {
    const x = eg.ones([1, 4]);
    const codes = bytes([1, 2, 3, 4], [1, 4]);
    const scale = eg.ones([1, 1]);
    const refuses = (call, code, pattern) => assertThrows(call, code, pattern);
    refuses(
      () => eg.quantizedLinear(x, codes, scale, { bits: 3 }),
      "InvalidArgument",
      /4 or 8, got 3/,
    );
    refuses(
      () => eg.quantizedLinear(x, codes, scale, { groupSize: 16 }),
      "InvalidArgument",
      /groupSize must be a positive multiple of 32, got 16/,
    );
    refuses(
      () => eg.quantizedLinear(x, codes, scale, { bits: 4 }),
      "ShapeMismatch",
      /2 bytes per row for the 4 features/,
    );
    refuses(
      () => eg.quantizedLinear(x, codes, eg.ones([1, 2])),
      "ShapeMismatch",
      /\[rows, groups\]/,
    );
    refuses(() => eg.quantizedLinear(x, x, scale), "DtypeMismatch", /weight must be uint8/);
    refuses(() => eg.quantizedLinear(x.int(), codes, scale), "DtypeMismatch", /got int32/);
    refuses(() => eg.quantizedLinear(x, codes, scale, eg.ones([2])), "ShapeMismatch", /bias/);
    refuses(() => eg.dequantize(codes.at(0), scale), "ShapeMismatch", /must be a matrix/);
    refuses(() => eg.quantize(eg.ones([3])), "ShapeMismatch", /must be a matrix/);
    holds(codes, [[1, 2, 3, 4]]);
  });
});

// By the definition, on plain numbers.
function numbersOf(codes, scale, { bits, groupSize, columns }) {
  const [rows, perRow] = codes.shape;
  const own = codes.dataSync();
  const scales = scale.dataSync();
  const groups = scale.shape[1];
  const values = Array.from({ length: rows * columns }, (_, i) => {
    const [row, column] = [Math.floor(i / columns), i % columns];
    const byte = own[row * perRow + Math.floor((column * bits) / 8)];
    const code = bits === 8 ? byte : column % 2 === 0 ? byte & 15 : byte >> 4;
    const group = groupSize === null ? 0 : Math.floor(column / groupSize);
    return (code - 2 ** (bits - 1)) * scales[row * groups + group];
  });
  return eg.tensor(values, { shape: [rows, columns], dtype: "float64" });
}
