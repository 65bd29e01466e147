// int8 and int16: storing, reading, promotion and the results of ops, with PyTorch's numbers.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { readJson } from "../support/files.mjs";
import { callOp, opTable, samplesOf } from "../support/op_samples.mjs";

const { nn } = eg;
const F = nn.functional;
const golden = readJson("tests/golden/short_integers.json");
const kArrays = { int8: Int8Array, int16: Int16Array };
const kShorts = Object.keys(kArrays);

const ints = (values, dtype = "int64") => eg.tensor(values, { dtype });
const seeded = (make) => {
  eg.manualSeed(3);
  return make();
};

const kCases = {
  add: (a, b) => a.add(b),
  sub: (a, b) => a.sub(b),
  mul: (a, b) => a.mul(b),
  addNumber: (a) => a.add(300),
  mulNumber: (a) => a.mul(300),
  subFloat: (a) => a.sub(1.5),
  rsub: (a) => eg.sub(100, a),
  addBool: (a) => a.add(true),
  alpha: (a, b) => a.add(b.mul(3)),
  div: (a, b) => a.div(b),
  floorDiv: (a, b) => a.floorDivide(b),
  truncDiv: (a, b) => eg.div(a, b, { roundingMode: "trunc" }),
  remainder: (a, b) => a.remainder(b),
  fmod: (a, b) => a.fmod(b),
  remainderNumber: (a) => a.remainder(-3),
  neg: (a) => a.neg(),
  abs: (a) => a.abs(),
  sign: (a) => a.sign(),
  square: (a) => a.square(),
  pow: (a, b) => a.pow(b.abs().clamp(0, 127)),
  powNumber: (a) => a.pow(3),
  and: (a, b) => a.bitwiseAnd(b),
  or: (a, b) => a.bitwiseOr(b),
  xor: (a, b) => a.bitwiseXor(b),
  not: (a) => a.bitwiseNot(),
  shiftLeft: (a) => a.bitwiseLeftShift(1),
  shiftLeft8: (a) => a.bitwiseLeftShift(8),
  shiftLeft20: (a) => a.bitwiseLeftShift(20),
  shiftRight: (a) => a.bitwiseRightShift(3),
  shiftRight8: (a) => a.bitwiseRightShift(8),
  shiftRight40: (a) => a.bitwiseRightShift(40),
  gcd: (a, b) => eg.gcd(a, b),
  lcm: (a, b) => eg.lcm(a, b),
  less: (a, b) => a.lt(b),
  equalNumber: (a) => a.eq(100),
  lessFloat: (a) => a.lt(1.5),
  maximum: (a, b) => eg.maximum(a, b),
  clamp: (a) => a.clamp(-2, 100),
  relu: (a) => a.relu(),
  where: (a, b) => eg.where(a.gt(0), a, b),
  maskedFill: (a) => a.maskedFill(a.gt(0), -5),
  heaviside: (a, b) => eg.heaviside(a, b),
  addcmul: (a, b) => eg.addcmul(a, a, b, { value: 3 }),
  exp: (a) => a.div(100).exp(),
  sqrt: (a) => a.abs().clamp(0, 100).sqrt(),
  logicalNot: (a) => a.logicalNot(),
  round: (a) => a.round(),
  trunc: (a) => a.trunc(),
  sum: (a) => a.sum(),
  sumDim: (a) => a.view(3, 4).sum(1),
  sumSelf: (a) => a.sum({ dtype: a.dtype }),
  sumFloat: (a) => a.sum({ dtype: "float32" }),
  prod: (a) => a.narrow(0, 0, 4).prod(),
  cumsum: (a) => a.cumsum(0),
  cumsumSelf: (a) => a.cumsum(0, { dtype: a.dtype }),
  cumprod: (a) => a.narrow(0, 0, 4).cumprod(0),
  max: (a) => a.max(),
  maxDim: (a) => a.view(3, 4).max(1),
  amin: (a) => a.view(3, 4).amin(0),
  argmax: (a) => a.argmax(),
  argmin: (_, b) => b.view(3, 4).argmin(1),
  any: (a) => a.any(),
  all: (a) => a.all(),
  countNonzero: (a) => a.countNonzero(),
  cummax: (_, b) => b.cummax(0),
  sort: (_, b) => b.sort({ stable: true }),
  topk: (_, b) => b.topk(3),
  unique: (_, b) => eg.unique(b),
  median: (_, b) => b.median(),
  kthvalue: (_, b) => b.kthvalue(3),
  mode: (_, b) => b.view(3, 4).mode(1),
  bincount: (_, b) => eg.bincount(b.abs().clamp(0, 9)),
  isin: (a, b) => eg.isin(a, b),
  searchsorted: (a, b) => eg.searchsorted(a, b),
  searchsorted32: (a, b) => eg.searchsorted(a, b, { outInt32: true }),
  mm: (a, b) => a.view(3, 4).mm(b.view(4, 3)),
  bmm: (a, b) => a.view(1, 3, 4).bmm(b.view(1, 4, 3)),
  mv: (a, b) => a.view(3, 4).mv(b.narrow(0, 0, 4)),
  dot: (a, b) => a.dot(b),
  outer: (a, b) => eg.outer(a.narrow(0, 0, 3), b.narrow(0, 0, 3)),
  linear: (a, b) => F.linear(a.view(3, 4), b.view(3, 4)),
  addmm: (a, b) =>
    eg.addmm(a.narrow(0, 0, 9).view(3, 3), a.view(3, 4), b.view(4, 3), { beta: 2, alpha: 3 }),
  cat: (a, b) => eg.cat([a, b]),
  catWide: (a, b) => eg.cat([a, b.int()]),
  catByte: (a, b) => eg.cat([a, b.byte()]),
  stack: (a, b) => eg.stack([a, b]),
  gather: (a) => a.gather(0, ints([3, 0, 3])),
  indexSelect: (a) => a.indexSelect(0, ints([3, 0], "int32")),
  take: (a) => a.take(ints([3, 0])),
  scatter: (a, b) => a.scatter(0, ints([3, 0]), b.narrow(0, 0, 2)),
  scatterAdd: (a, b) => a.scatterAdd(0, ints([11, 11]), b.narrow(0, 0, 2)),
  indexAdd: (a, b) => a.indexAdd(0, ints([11, 11]), b.narrow(0, 0, 2)),
  indexFill: (a) => a.indexFill(0, ints([1]), 7),
  indexPut: (a, b) => eg.indexPut(a, [ints([1, 2])], b.narrow(0, 0, 2)),
  indexPutAdd: (a, b) => eg.indexPut(a, [ints([11, 11])], b.narrow(0, 0, 2), { accumulate: true }),
  maskedSelect: (a, b) => a.maskedSelect(b.gt(0)),
  nonzero: (a) => a.nonzero(),
  repeatInterleave: (a) => a.narrow(0, 0, 3).repeatInterleave(ints([2, 0, 1])),
  scatterMax: (a, b) => a.scatterReduce(0, ints([3, 0]), b.narrow(0, 0, 2), "amax"),
  flip: (a) => a.flip(0),
  roll: (a) => a.roll(2),
  tril: (a) => a.view(3, 4).tril(),
  pad: (a) => F.pad(a, [1, 2], { value: -7 }),
  diff: (a) => a.diff(),
  trace: (a) => a.narrow(0, 0, 9).view(3, 3).trace(),
  toFloat: (a) => a.float(),
  toHalf: (a) => a.half(),
  toBool: (a) => a.bool(),
  toByte: (a) => a.byte(),
  toComplex: (a) => a.to("complex64"),
  fromFloat: ({ dtype }) => eg.tensor([1.7, -1.7, 127, 128, 300, -129, -32769]).to(dtype),
  fromLong: ({ dtype }) => ints([300, -129, 2 ** 40 + 5, -32769]).to(dtype),
  fromNaN: ({ dtype }) => eg.tensor([Number.NaN, Infinity]).to(dtype),
  arange: ({ dtype }) => eg.arange(100, 128, 9, { dtype }),
  linspace: ({ dtype }) => eg.linspace(-100, 100, 6, { dtype }),
  eye: ({ dtype }) => eg.eye(3, { dtype }),
  full: ({ dtype }) => eg.full([2], 3.7, { dtype }),
  randint: ({ dtype }) => seeded(() => eg.randint(-100, 100, [9], { dtype })),
  randperm: ({ dtype }) => seeded(() => eg.randperm(9, { dtype })),
  random: ({ dtype }) => seeded(() => eg.empty([9], { dtype }).random_()),
  randomTo: ({ dtype }) => seeded(() => eg.empty([9], { dtype }).random_(-5, 50)),
  bernoulli: ({ dtype }) => seeded(() => eg.empty([9], { dtype }).bernoulli_(0.5)),
  addInPlace: (a, b) => a.clone().add_(b.long()),
  mulInPlace: (a) => a.clone().mul_(7),
  cumsumInPlace: (a) => a.clone().cumsum_(0),
  copyInPlace: (a) => a.clone().copy_(eg.full([12], 300)),
  addZeroDim: (a) => a.add(ints(300)),
  lessZeroDim: (a) => a.lt(ints(300)),
};

describe("results are PyTorch's", () => {
  for (const dtype of kShorts) {
    const { a, b } = golden.inputs[dtype];
    for (const [name, run] of Object.entries(kCases)) {
      test(`${name} of ${dtype}`, () =>
        eg.scope(() => {
          const given = [ints(a, dtype), ints(b, dtype)];
          const results = [run(...given)].flat();
          const expected = [golden[dtype][name]].flat();
          assert.equal(results.length, expected.length);
          for (const [i, { dtype: type, shape, value }] of expected.entries()) {
            assert.equal(results[i].dtype, type);
            assert.deepEqual(results[i].shape, shape);
            const found = results[i].flatten().dataSync();
            const numbers = Array.from(found, Number);
            if (/float|complex/.test(type)) assertClose(numbers, value.map(Number), { rtol: 1e-5 });
            else assert.deepEqual(numbers, value.map(Number));
          }
          assert.deepEqual([...given[0].dataSync()], a, "operands stay");
        }));
    }
  }
});

test("every case of the reference is here, but views of other dtypes, which do not exist", () => {
  const names = Object.keys(golden.int8).filter((name) => !name.startsWith("view"));
  assert.deepEqual(names.sort(), Object.keys(kCases).sort());
});

describe("promotion", () => {
  for (const [a, b, expected] of golden.promotion) {
    test(`${a} and ${b}: ${expected}`, () =>
      eg.scope(() => {
        const ones = (dtype) => eg.ones([2], { dtype });
        assert.equal(eg.mul(ones(a), ones(b)).dtype, expected);
        assert.equal(eg.mul(ones(b), ones(a)).dtype, expected);
        if (!/complex/.test(a)) assert.equal(eg.cat([ones(a), ones(b)]).dtype, expected);
      }));
  }
});

describe("elements", () => {
  test("go in and out as typed arrays", () => {
    for (const [dtype, Kind] of Object.entries(kArrays)) {
      const least = eg.iinfo(dtype).min;
      const x = eg.tensor(Kind.of(least, -1, 7));
      assert.equal(x.dtype, dtype);
      assert.equal(x.elementSize(), Kind.BYTES_PER_ELEMENT);
      assert.ok(x.dataSync() instanceof Kind);
      assert.deepEqual(x.dataSync(), Kind.of(least, -1, 7));
      assert.deepEqual(x.tolist(), [least, -1, 7]);
      assert.equal(x.narrow(0, 0, 1).item(), least);
      assert.deepEqual(x.flip(0).dataSync(), Kind.of(7, -1, least));
    }
  });

  test("of nested typed arrays keep their values", () => {
    const x = eg.tensor([Uint8Array.of(200, 1), Int8Array.of(-3, 4)]);
    assert.equal(x.dtype, "int16");
    assert.deepEqual(x.tolist(), [
      [200, 1],
      [-3, 4],
    ]);
    assert.equal(eg.tensor([Int8Array.of(1), Int32Array.of(2)]).dtype, "int32");
  });

  test("print as PyTorch prints them", () => {
    for (const dtype of kShorts) {
      const text = golden.print[dtype].replace("torch.", "");
      assert.equal(String(ints([-5, 100], dtype)), text);
    }
  });

  test("have limits and names", () => {
    assert.deepEqual(eg.iinfo("int8"), { dtype: "int8", bits: 8, min: -128, max: 127 });
    assert.deepEqual(eg.iinfo(eg.int16), { dtype: "int16", bits: 16, min: -32768, max: 32767 });
    assert.equal(eg.short, "int16");
    assert.equal(eg.zeros([1]).char().dtype, "int8");
    assert.equal(eg.zeros([1]).short().dtype, "int16");
    assert.equal(ints([1], "int8").isFloatingPoint(), false);
  });
});

describe("what is refused", () => {
  const x = () => ints([1, 2, 3], "int8");

  test("numbers out of range", () => {
    const calls = {
      full: () => eg.full([1], 128, { dtype: "int8" }),
      fill_: () => x().fill_(-129),
      tensor: () => eg.tensor([128], { dtype: "int8" }),
      maskedFill: () => x().maskedFill(x().gt(1), 128),
      clamp: () => x().clamp(-129, 5),
      where: () => eg.where(x().gt(1), x(), 300),
      scatter: () => x().scatter(0, ints([1]), 300),
      randint: () => eg.randint(0, 129, [3], { dtype: "int8" }),
      random_: () => x().random_(-129, 0),
      linspace: () => eg.linspace(0, 200, 5, { dtype: "int8" }),
      arange: () => eg.arange(0, 200, { dtype: "int8" }),
      lt: () => x().lt(300),
    };
    for (const [name, call] of Object.entries(calls))
      assertThrows(call, "InvalidArgument", undefined, name);
    assert.deepEqual(eg.full([1], 32767, { dtype: "int16" }).tolist(), [32767]);
    assertThrows(() => eg.full([1], 32768, { dtype: "int16" }), "InvalidArgument");
  });

  test("positions of these dtypes", () => {
    const index = ints([1, 0], "int8");
    const calls = {
      gather: () => x().gather(0, index),
      indexSelect: () => x().indexSelect(0, index),
      take: () => x().take(index),
      scatter: () => x().scatter(0, index, ints([1, 2], "int8")),
      repeatInterleave: () => ints([1, 2], "int8").repeatInterleave(index),
      maskedSelect: () => x().maskedSelect(x()),
      at: () => x().at(index),
      oneHot: () => F.oneHot(index),
      embedding: () => F.embedding(index, eg.ones([3, 2])),
    };
    for (const [name, call] of Object.entries(calls))
      assertThrows(call, "DtypeMismatch", /int8/, name);
  });

  test("means, gradients and division by zero", () => {
    assertThrows(() => x().mean(), "DtypeMismatch");
    assertThrows(() => x().requiresGrad_(), "NotDifferentiable");
    assertThrows(() => x().floorDivide(0), "InvalidArgument");
    assertThrows(() => x().remainder(ints([1, 0, 1], "int8")), "InvalidArgument");
    // 256 is 0 in int8.
    assertThrows(() => x().remainder(ints(256)), "InvalidArgument");
    assertThrows(() => x().add_(1.5), "DtypeMismatch");
  });
});

// The results of these do not depend on the values of their operands.
const kUnset = new Set(["empty", "emptyLike"]);
// The range that it draws from is that of the dtype.
const kOtherRange = new Set(["random_"]);

describe("an op of short integers is the op of int32, of which the last bits are kept", () => {
  for (const op of opTable.filter(({ kind, js }) => kind !== "internal" && !kUnset.has(js)))
    for (const dtype of kShorts)
      test(`${op.js} ${dtype}`, () => eg.scope(() => checkOp(op, dtype)));
});

function checkOp(op, dtype) {
  for (const sample of samplesOf(op)) {
    const floats = sample.make("float32");
    const isFloat = (value) => value instanceof eg.Tensor && value.isFloatingPoint();
    if (!floats?.flat().some(isFloat)) continue;
    // With large numbers, so that most sums and products wrap around.
    const integersOf = (to) => (value) => {
      if (Array.isArray(value)) return value.map(integersOf(to));
      return isFloat(value) ? value.detach().mul(41).to("int8").to(to) : value;
    };
    const [found, expected] = [dtype, "int32"].map((to) => {
      try {
        return callOp(op, floats.map(integersOf(to)));
      } catch (error) {
        return error.code;
      }
    });
    if (!Array.isArray(expected)) {
      assert.equal(found, expected);
      continue;
    }
    assert.ok(Array.isArray(found), `${found}`);
    found.forEach((result, i) => {
      const wanted = expected[i].dtype === "int32" ? expected[i].to(dtype) : expected[i];
      assert.equal(result.dtype, wanted.dtype, sample.text);
      assert.deepEqual(result.shape, wanted.shape);
      if (!kOtherRange.has(op.js))
        assert.deepEqual(result.dataSync(), wanted.dataSync(), sample.text);
    });
  }
}
