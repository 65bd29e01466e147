// int64 combined with numbers: all 64 bits are exact, whether a number is passed as a bigint or as a number.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kEdge = 2n ** 53n;
const kNumbers = [
  kEdge - 1n,
  kEdge,
  kEdge + 1n,
  kEdge + 2n,
  -kEdge,
  -kEdge - 1n,
  2n ** 62n + 1n,
  -(2n ** 63n),
  2n ** 63n - 1n,
];
const int64 = (values) => eg.tensor(values.map(BigInt), { dtype: "int64" });
const wrap = (value) => BigInt.asIntN(64, value);
const least = (a, b) => (a < b ? a : b);
const largest = (a, b) => (a > b ? a : b);
// Rounds towards minus infinity, as in PyTorch.
const floored = (a, b) => a / b - (a % b !== 0n && a < 0n !== b < 0n ? 1n : 0n);

const kPairs = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  add: (a, b) => wrap(a + b),
  sub: (a, b) => wrap(a - b),
  mul: (a, b) => wrap(a * b),
  floorDivide: (a, b) => wrap(floored(a, b)),
  remainder: (a, b) => a - floored(a, b) * b,
  fmod: (a, b) => a % b,
  maximum: largest,
  minimum: least,
  clampMin: largest,
  clampMax: least,
  bitwiseAnd: (a, b) => a & b,
  bitwiseOr: (a, b) => a | b,
  bitwiseXor: (a, b) => a ^ b,
};

const elementsOf = (tensor) =>
  Array.from(tensor.dataSync(), (value) => (tensor.dtype === "bool" ? Boolean(value) : value));

// The ways to pass a whole number: as a bigint, and as a number if that is exact.
function spellings(value) {
  const number = Number(value);
  return BigInt(number) === value ? [value, number] : [value];
}

for (const [name, expected] of Object.entries(kPairs)) {
  test(`${name}() of int64 and a number is exact`, () =>
    eg.scope(() => {
      const x = int64(kNumbers);
      for (const value of kNumbers) {
        for (const spelled of spellings(value)) {
          const result = x[name](spelled);
          const isQuestion = typeof expected(1n, 1n) === "boolean";
          assert.equal(result.dtype, isQuestion ? "bool" : "int64");
          const wanted = kNumbers.map((a) => expected(a, value));
          assert.deepEqual(elementsOf(result), wanted, `${spelled}`);
        }
      }
    }));
}

describe("numbers that are put into int64 are exact", () => {
  const value = 2n ** 62n + 1n;
  const x = int64([1, 2]);
  const mask = eg.tensor([true, false]);
  const first = int64([0]);
  const kCalls = {
    where: () => eg.where(mask, value, x),
    maskedFill: () => x.maskedFill(mask, value),
    indexFill: () => x.indexFill(0, first, value),
    scatter: () => x.scatter(0, first, value),
    "set_()": () => {
      const y = x.clone();
      y.set_([0], value);
      return y;
    },
    "clamp(min)": () =>
      x
        .sub(int64([0, -(2n ** 62n)]))
        .clamp(value, null)
        .narrow(0, 0, 1),
    full: () => eg.full([1], value),
    tensor: () => eg.tensor([value]),
    fill_: () => eg.zeros([1], { dtype: "int64" }).fill_(value),
  };
  for (const [name, call] of Object.entries(kCalls)) {
    test(name, () => eg.scope(() => assert.equal(call().dataSync()[0], value)));
  }

  test("clamp between two", () => {
    const y = int64([kEdge - 1n, kEdge + 1n, kEdge + 3n, kEdge + 5n]);
    const limited = y.clamp(kEdge + 1n, kEdge + 3n);
    assert.deepEqual(elementsOf(limited), [kEdge + 1n, kEdge + 1n, kEdge + 3n, kEdge + 3n]);
    assert.deepEqual(elementsOf(y.clone().clamp_(null, kEdge + 1n)), [
      kEdge - 1n,
      kEdge + 1n,
      kEdge + 1n,
      kEdge + 1n,
    ]);
  });

  test("isin", () => {
    const y = int64([kEdge, kEdge + 1n]);
    assert.deepEqual(elementsOf(eg.isin(y, 2 ** 53)), [true, false]);
    assert.deepEqual(elementsOf(eg.isin(y, kEdge + 1n)), [false, true]);
  });
});

test("a bigint that a parameter of 53 bits does not hold is refused", () => {
  const x = int64([1]);
  const odd = kEdge + 1n;
  const named = /53 bits.*got bigint 9007199254740993/;
  assertThrows(() => x.add(x, { alpha: odd }), "InvalidArgument", named);
  assertThrows(() => eg.pad(x, [1, 0], { value: odd }), "InvalidArgument", named);
  assertThrows(() => eg.addcmul(x, x, x, { value: odd }), "InvalidArgument", named);
  assert.deepEqual(elementsOf(x.add(x, { alpha: kEdge + 2n })), [kEdge + 3n]);
});

test("narrow integers are not compared with numbers that they cannot be", () => {
  const message = /does not fit (uint8|int32)/;
  for (const [dtype, number] of [
    ["uint8", 300],
    ["int32", 2 ** 40],
    ["int32", 2 ** 53],
    ["int32", 2n ** 60n],
  ]) {
    const x = eg.tensor([44, 0], { dtype });
    for (const name of ["eq", "ne", "lt", "le", "gt", "ge"]) {
      assertThrows(() => x[name](number), "InvalidArgument", message);
    }
  }
  assert.deepEqual(elementsOf(eg.tensor([255, 0], { dtype: "uint8" }).eq(255)), [true, false]);
});

describe("dtypes are PyTorch's", () => {
  test("square() of bool is int64", () => {
    const x = eg.tensor([true, false]);
    const squares = x.square();
    assert.equal(squares.dtype, "int64");
    assert.deepEqual(elementsOf(squares), [1n, 0n]);
    assertThrows(() => x.square_(), "DtypeMismatch");
    for (const dtype of ["uint8", "int32", "int64", "float32", "complex64"]) {
      assert.equal(x.to(dtype).square().dtype, dtype);
    }
  });

  test("hardtanh() of integers stays what it is, and cuts the fractions of its limits off", () => {
    const x = int64([-3, -1, 0, 1, 3]);
    assert.equal(x.hardtanh().dtype, "int64");
    assert.deepEqual(elementsOf(x.hardtanh()), [-1n, -1n, 0n, 1n, 1n]);
    assert.deepEqual(elementsOf(x.hardtanh(-2.5, 2.5)), [-2n, -1n, 0n, 1n, 2n]);
    assert.equal(x.to("int32").hardtanh(0, 2).dtype, "int32");
    assert.deepEqual(elementsOf(x.to("int32").hardtanh_(0, 2)), [0, 0, 0, 1, 2]);
    const bytes = eg.tensor([0, 5], { dtype: "uint8" });
    assert.deepEqual(elementsOf(bytes.hardtanh(0, 3)), [0, 3]);
    assertThrows(() => bytes.hardtanh(), "DtypeMismatch", /limits for uint8 must not be negative/);
    assertThrows(() => eg.tensor([true]).hardtanh(), "DtypeMismatch");
    assertThrows(
      () => eg.tensor([0.5]).hardtanh(1, 0),
      "InvalidArgument",
      /greater than maxVal, got 1 and 0/,
    );
  });
});

describe("mode() counts every NaN for itself", () => {
  const kCases = [
    [[Number.NaN, Number.NaN, 1], Number.NaN, 0],
    [[1, Number.NaN, Number.NaN], 1, 0],
    [[Number.NaN, 2, 1, 2], 2, 3],
    [[Number.NaN, Number.NaN, Number.NaN, 2, 2], 2, 4],
    [[Number.NaN], Number.NaN, 0],
    [[3, Number.NaN, 1], 1, 2],
    [[...Array(20).fill(Number.NaN), 5, 5], 5, 21],
  ];
  for (const [values, value, index] of kCases) {
    test(`[${values}]`, () => {
      const [values_, indices] = eg.tensor(values).mode();
      assert.ok(Object.is(values_.item(), value), `${values_.item()}`);
      assert.equal(indices.item(), index);
    });
  }
});
