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

describe("numbers beside uint8 and bool", () => {
  const bytes = () => eg.tensor([1, 2, 200], { dtype: "uint8" });
  const square = () => eg.tensor([1, 2, 3, 4], { dtype: "uint8" }).reshape(2, 2);
  const mask = () => eg.tensor([true, false]);
  const place = () => eg.tensor([0], { dtype: "int64" });

  const wrapped = {
    "add alpha": [() => eg.add(bytes(), bytes(), { alpha: -3 }), [254, 252, 112]],
    "sub alpha": [() => eg.sub(bytes(), bytes(), { alpha: -3 }), [4, 8, 32]],
    "rsub alpha": [() => eg.rsub(bytes(), bytes(), { alpha: -3 }), [4, 8, 32]],
    "add_ alpha": [() => bytes().add_(bytes(), { alpha: -3 }), [254, 252, 112]],
    addcmul: [() => eg.addcmul(bytes(), bytes(), bytes(), { value: -3 }), [254, 246, 8]],
    indexAdd: [
      () => bytes().indexAdd(0, place(), bytes().narrow(0, 0, 1), { alpha: -3 }),
      [254, 2, 200],
    ],
    addmm: [() => eg.addmm(square(), square(), square(), { alpha: -3 }), [236, 228, 214, 194]],
    add: [() => bytes().add(300), [45, 46, 244]],
    mul: [() => bytes().mul(300), [44, 88, 96]],
    bitwiseAnd: [() => bytes().bitwiseAnd(300), [0, 0, 8]],
    "pow of a number": [() => eg.pow(300, bytes()), [44, 144, 0]],
  };
  for (const [name, [call, expected]] of Object.entries(wrapped)) {
    test(`${name} counts modulo 256`, () => assert.deepEqual(elementsOf(call()), expected));
  }

  test("alpha of bool is true or false", () => {
    for (const alpha of [255, 256, 2, 1, -1]) {
      assert.deepEqual(elementsOf(eg.add(mask(), mask(), { alpha })), [true, false]);
      assert.deepEqual(elementsOf(eg.add(mask(), eg.tensor([true, true]), { alpha })), [
        true,
        true,
      ]);
    }
  });

  const refused = {
    "add alpha": () => eg.add(bytes(), bytes(), { alpha: 300 }),
    "add_ alpha": () => bytes().add_(bytes(), { alpha: 300 }),
    addcmul: () => eg.addcmul(bytes(), bytes(), bytes(), { value: 300 }),
    "indexAdd alpha": () => bytes().indexAdd(0, place(), bytes().narrow(0, 0, 1), { alpha: 300 }),
    "addmm alpha": () => eg.addmm(square(), square(), square(), { alpha: 300 }),
    "addmm beta": () => eg.addmm(square(), square(), square(), { beta: 300 }),
    clampMin: () => bytes().clampMin(300),
    clampMin_: () => bytes().clampMin_(300),
    clampMax: () => bytes().clampMax(300),
    "clamp min": () => bytes().clamp(300),
    "clamp max": () => bytes().clamp(null, 300),
    clamp_: () => bytes().clamp_(300),
    "a negative limit": () => bytes().clamp(-1),
    "a negative maximum": () => bytes().clampMax(-1),
    hardtanh: () => bytes().hardtanh(0, 300),
    maximum: () => bytes().maximum(300),
    fmod: () => bytes().fmod(300),
    remainder: () => bytes().remainder(300),
    floorDivide: () => bytes().floorDivide(300),
    where: () => eg.where(bytes().gt(1), bytes(), 300),
    linspace: () => eg.linspace(0, 300, 3, { dtype: "uint8" }),
    "linspace from -5": () => eg.linspace(-5, 5, 3, { dtype: "uint8" }),
    arange: () => eg.arange(0, 600, 100, { dtype: "uint8" }),
    "arange of int32": () => eg.arange(0, 2 ** 33, 2 ** 32, { dtype: "int32" }),
    "clamp of int32": () => eg.tensor([1], { dtype: "int32" }).clamp(2 ** 40),
  };
  for (const [name, call] of Object.entries(refused)) {
    test(`${name}: what does not fit is refused`, () =>
      assertThrows(call, "InvalidArgument", /does not fit (uint8|int32)/));
  }

  test("a factor with a fraction is refused", () => {
    const sentence = /value must be an integer, got 0.5/;
    const call = () => eg.addcmul(bytes(), bytes(), bytes(), { value: 0.5 });
    assertThrows(call, "InvalidArgument", sentence);
  });

  test("isclose() takes the distance of the farthest integers", () => {
    const ends = { int32: 2n ** 31n, int64: 2n ** 63n };
    for (const [dtype, end] of Object.entries(ends)) {
      const x = eg.tensor([end - 1n, -end, 5n], { dtype });
      const y = eg.tensor([-end, end - 1n, 5n], { dtype });
      assert.deepEqual(elementsOf(eg.isclose(x, y)), [false, false, true]);
      assert.deepEqual(elementsOf(eg.isclose(x, y, { rtol: 3 })), [true, true, true]);
      assert.deepEqual(elementsOf(eg.isclose(x, x)), [true, true, true]);
    }
    const other = eg.tensor([2, 1, 201], { dtype: "uint8" });
    const close = eg.isclose(bytes(), other, { rtol: 0, atol: 1.5 });
    assert.deepEqual(elementsOf(close), [true, true, true]);
  });
});

describe("dtypes are PyTorch's", () => {
  test("vdot() is of its operands' dtype", () => {
    for (const dtype of ["uint8", "int8", "int32", "int64", "float16", "float32", "complex64"]) {
      const x = eg.tensor([1, 2, 8], { dtype });
      assert.equal(eg.vdot(x, x).dtype, dtype);
    }
    assertThrows(() => eg.vdot(eg.tensor([true]), eg.tensor([true])), "DtypeMismatch");
  });

  test("unravelIndex() gives int64", () => {
    for (const dtype of ["uint8", "int32", "int64"]) {
      const found = eg.unravelIndex(eg.tensor([5, 299 % 256], { dtype }), [30, 10]);
      assert.deepEqual(
        found.map((one) => one.dtype),
        ["int64", "int64"],
      );
      assert.deepEqual(found.map(elementsOf), [
        [0n, 4n],
        [5n, 3n],
      ]);
    }
  });

  test("clamp() promotes by all of its operands at once", () => {
    const of = (dtype, ...shape) => eg.ones(shape, { dtype });
    const cases = [
      ["float32", of("float32", 3), of("float64"), of("float32", 3)],
      ["float32", of("float32"), of("float64"), of("float32", 3)],
      ["float64", of("int64", 3), of("float32"), of("float64")],
      ["int64", of("int32", 3), of("int64"), of("int64", 3)],
      ["float16", of("float16", 3), of("float32"), of("float16", 3)],
      ["float32", of("uint8", 3), of("int64"), of("float32")],
      ["float64", of("float32"), of("float64"), of("float32")],
    ];
    for (const [dtype, x, min, max] of cases) {
      assert.equal(x.clamp(min, max).dtype, dtype);
      if (!min.isFloatingPoint()) continue;
      const limit = min.clone().requiresGrad_();
      const y = x.clamp(limit, max.add(1));
      assert.equal(y.dtype, dtype);
      y.sum().backward();
      assert.equal(limit.grad.dtype, limit.dtype);
    }
  });

  test("a complex number without dimensions does not widen a float", () => {
    const z = eg.tensor({ re: 1, im: 2 }, { dtype: "complex128" });
    const cases = { float32: "complex64", bfloat16: "complex64", float64: "complex128" };
    for (const [dtype, result] of Object.entries(cases)) {
      const x = eg.ones([2], { dtype });
      for (const y of [x.mul(z), eg.add(z, x), eg.where(eg.tensor(true), x, z)])
        assert.equal(y.dtype, result);
    }
    assert.equal(eg.ones([2], { dtype: "int64" }).mul(z).dtype, "complex128");
    assert.equal(eg.ones([]).mul(z).dtype, "complex128");
    assert.equal(eg.kron(eg.ones([2]), z).dtype, "complex128");
    assert.equal(eg.kron(eg.ones([2], { dtype: "float16" }), eg.ones([])).dtype, "float32");
  });

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

// As PyTorch 2.6 does.
describe("addr", () => {
  const bool = (data) => eg.tensor(data, { dtype: "bool" });
  const kDtypes = [
    "bool",
    "uint8",
    "int8",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
  ];

  test("promotes its operands, whatever their dimensions", () => {
    for (const a of kDtypes) {
      for (const b of kDtypes) {
        for (const c of kDtypes) {
          const [m, v, w] = [eg.ones([2, 2]).to(a), eg.ones([2]).to(b), eg.ones([2]).to(c)];
          const expected = m.add(v.unsqueeze(1)).add(w.unsqueeze(1)).dtype;
          const result = eg.addr(m, v, w);
          assert.equal(result.dtype, expected, `${a}, ${b}, ${c}`);
          const two = a === "bool" && b === "bool" && c === "bool" ? 1 : 2;
          assert.deepEqual([...result.to("float64").dataSync()], [two, two, two, two]);
        }
      }
    }
  });

  test("of bools is a disjunction", () => {
    const [m, v, w] = [
      bool([
        [true, false],
        [false, false],
      ]),
      bool([true, true]),
      bool([true, false]),
    ];
    const rows = (...options) => eg.addr(m, v, w, ...options).arraySync();
    assert.deepEqual(rows(), [
      [true, false],
      [true, false],
    ]);
    assert.deepEqual(rows({ beta: 0, alpha: 2 }), [
      [true, false],
      [true, false],
    ]);
    assert.deepEqual(rows({ beta: 255, alpha: 0 }), [
      [true, false],
      [false, false],
    ]);
    assert.deepEqual(rows({ beta: false, alpha: false }), [
      [false, false],
      [false, false],
    ]);
    assertThrows(
      () => rows({ beta: 1.5 }),
      "InvalidArgument",
      /whole numbers for operands of bool/,
    );
  });

  test("in place keeps the dtype, or is refused", () => {
    const [floats, ints] = [eg.ones([2]), eg.ones([2]).to("int32")];
    const result = eg.ones([2, 2]).addr_(ints, floats.to("float64"), { alpha: 1.5 });
    assert.deepEqual([result.dtype, result.arraySync()[0]], ["float32", [2.5, 2.5]]);
    for (const target of [
      eg.ones([2, 2]).to("int32"),
      bool([
        [true, true],
        [true, true],
      ]),
    ]) {
      assertThrows(() => target.addr_(floats, floats), "DtypeMismatch");
    }
    assertThrows(() => eg.addr(ints, ints, ints, { alpha: 1.5 }), "InvalidArgument", /int32/);
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
