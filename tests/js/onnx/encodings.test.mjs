// Every way in which a file can hold the elements of a tensor.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { field, model, node, valueInfo } from "../support/onnx_models.mjs";

const head = (type, shape) => [
  ...shape.flatMap((size) => field(1, size)),
  ...field(2, type),
  ...field(8, "w"),
];
const raw = (type, shape, bytes) => [...head(type, shape), ...field(9, new Uint8Array(bytes))];
const listed = (type, shape, number, values) => [
  ...head(type, shape),
  ...values.flatMap((value) => field(number, value)),
];
const bytesOf = (array) => [...new Uint8Array(array.buffer)];
const fixed = (type, shape, tag, array) => [...head(type, shape), tag, ...bytesOf(array)];

const { NaN: kNaN, POSITIVE_INFINITY: kInfinity } = Number;

/** Each with the tensor of the file, the type of ONNX, the dtype that holds it, and its elements. */
const kEncodings = {
  "float, raw": [raw(1, [2], bytesOf(new Float32Array([1.5, -2]))), 1, "float32", [1.5, -2]],
  "float, as a list": [fixed(1, [1], (4 << 3) | 5, new Float32Array([1.5])), 1, "float32", [1.5]],
  "double, as a list": [
    fixed(11, [1], (10 << 3) | 1, new Float64Array([1.5])),
    11,
    "float64",
    [1.5],
  ],
  "float16, raw": [
    raw(10, [4], [0, 0x3c, 0, 0xc0, 0, 0x7c, 1, 0]),
    10,
    "float16",
    [1, -2, kInfinity, 2 ** -24],
  ],
  "float16, as a list": [listed(10, [2], 5, [0x3c00, 0xc000]), 10, "float16", [1, -2]],
  bfloat16: [raw(16, [2], [0x80, 0x3f, 0, 0xc0]), 16, "bfloat16", [1, -2]],
  "int8, raw": [raw(3, [2], [255, 127]), 3, "int8", [-1, 127]],
  "int8, as a list": [listed(3, [2], 5, [-1n, 127n]), 3, "int8", [-1, 127]],
  uint8: [raw(2, [2], [255, 1]), 2, "uint8", [255, 1]],
  int16: [raw(5, [1], [255, 255]), 5, "int16", [-1]],
  uint16: [raw(4, [1], [255, 255]), 4, "int32", [65535]],
  "uint32, raw": [raw(12, [1], [255, 255, 255, 255]), 12, "int64", [4294967295]],
  "uint32, as a list": [listed(12, [1], 11, [4294967295n]), 12, "int64", [4294967295]],
  "int64, as a list": [listed(7, [2], 7, [-5n, 2n ** 63n - 1n]), 7, "int64", [-5, 2n ** 63n - 1n]],
  bool: [raw(9, [2], [1, 0]), 9, "bool", [true, false]],
  "int4, two in a byte": [raw(22, [3], [0x8f, 0x07]), 22, "int8", [-1, -8, 7]],
  "uint4, as a list": [listed(21, [3], 5, [0x8f, 0x07]), 21, "uint8", [15, 8, 7]],
  float8e4m3fn: [raw(17, [4], [0x7e, 0x7f, 0x38, 0x01]), 17, "float16", [448, kNaN, 1, 2 ** -9]],
  float8e4m3fnuz: [raw(18, [2], [0x80, 0x40]), 18, "float16", [kNaN, 1]],
  float8e5m2: [raw(19, [3], [0x7b, 0x7c, 0x3c]), 19, "float16", [57344, kInfinity, 1]],
  float4e2m1: [raw(23, [4], [0x7f, 0x21]), 23, "float16", [-6, 6, 0.5, 1]],
  float8e8m0: [
    raw(24, [5], [127, 0, 254, 255, 126]),
    24,
    "float32",
    [1, 2 ** -127, 2 ** 127, kNaN, 0.5],
  ],
  "int2, four in a byte": [raw(26, [5], [0b00_01_10_11, 0b10]), 26, "int8", [-1, -2, 1, 0, -2]],
  "uint2, as a list": [listed(25, [3], 5, [0b10_01_11]), 25, "uint8", [3, 1, 2]],
  complex64: [raw(14, [1], bytesOf(new Float32Array([1, 2]))), 14, "complex64", [{ re: 1, im: 2 }]],
  "no elements": [raw(1, [0, 3], []), 1, "float32", []],
};

describe("tensors of a file:", () => {
  for (const [name, [tensor, type, dtype, expected]] of Object.entries(kEncodings)) {
    test(name, async () => {
      const module = await onnx.load(
        model({
          opset: 21,
          outputs: [valueInfo("y", null, type)],
          initializers: [tensor],
          nodes: [node("Identity", ["w"], ["y"])],
        }),
      );
      const y = module.call();
      assert.deepEqual([y.dtype, y.arraySync()], [dtype, expected]);
    });
  }
});

describe("float8e8m0 has powers of two, to which Cast rounds", () => {
  const { MAX_VALUE: kLarge } = Number;
  const values = [0, 0.124, 0.25, -1.1, 1.5, 3, 2 ** -140, 2 ** 127, kLarge, kInfinity, kNaN];
  const most = 2 ** 127;
  const least = 2 ** -127;
  for (const [attributes, expected] of [
    [{}, [least, 0.125, 0.25, 2, 2, 4, least, most, most, most, kNaN]],
    [{ round_mode: "down" }, [least, 0.0625, 0.25, 1, 1, 2, least, most, most, most, kNaN]],
    [
      { round_mode: "nearest", saturate: 0 },
      [least, 0.125, 0.25, 1, 2, 4, least, most, kNaN, kNaN, kNaN],
    ],
  ]) {
    test(`with ${JSON.stringify(attributes)}`, async () => {
      const module = await onnx.load(
        model({
          opset: 25,
          inputs: [valueInfo("x", [values.length])],
          outputs: [valueInfo("y", null, 24)],
          nodes: [node("Cast", ["x"], ["y"], { to: 24, ...attributes })],
        }),
      );
      const y = module.call(eg.tensor(values, { dtype: "float32" }));
      assert.deepEqual([y.dtype, y.arraySync()], ["float32", expected]);
    });
  }
});
