// 64-bit integers on the device: every op computes all 64 bits, and wraps around where the CPU does.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects } from "../../js/support/assert.mjs";
import { eg, onBoth, onGpu, options } from "../support/engine.mjs";

const kWide = [
  ...[0n, 1n, -1n, 7n, -100n, 2n ** 31n, -(2n ** 31n) - 1n, 2n ** 32n, 3000000000n, -5000000001n],
  ...[2n ** 53n + 1n, -123456789012345678n, 2n ** 62n, 2n ** 63n - 1n, -(2n ** 63n)],
];
const kOthers = kWide.map((_, i) => kWide[(i * 4 + 3) % kWide.length]);
const kDivisors = kOthers.map((value) => (value === 0n ? 3n : value));

/** Returns each tensor's dtype and elements, or the values of numbers. */
const described = (result) =>
  [result].flat().map((one) => (one?.dataSync ? [one.dtype, Array.from(one.dataSync())] : one));

async function assertSame(fn) {
  const { cpu: right, gpu: found } = await onBoth((device) => {
    const made = (values, dtype = "int64") => eg.tensor(values, { dtype, device });
    return described(fn(made(kWide), made(kOthers), made));
  });
  assert.deepEqual(found, right);
}

const kOps = {
  add: (x, y) => x.add(y),
  "add with a factor": (x, y) => x.add(y, { alpha: 3 }),
  "add a number": (x) => x.add(3000000000),
  "add a bigint": (x) => x.add(2n ** 53n + 1n),
  sub: (x, y) => x.sub(y),
  mul: (x, y) => x.mul(y),
  "mul by a number": (x) => x.mul(4294967297),
  neg: (x) => x.neg(),
  abs: (x) => x.abs(),
  sign: (x) => x.sign(),
  square: (x) => x.square(),
  pow: (x) => [x.pow(3), eg.pow(x, x.remainder(70))],
  floorDivide: (x, _, made) => x.floorDivide(made(kDivisors)),
  remainder: (x, _, made) => [x.remainder(made(kDivisors)), x.fmod(made(kDivisors))],
  "div by trunc": (x, _, made) => eg.div(x, made(kDivisors), { roundingMode: "trunc" }),
  "div as floats": (x, _, made) => x.div(made(kDivisors)),
  comparisons: (x, y) => [x.eq(y), x.ne(y), x.lt(y), x.le(y), x.gt(y), x.ge(y)],
  "logical ops": (x, y) => [x.logicalAnd(y), x.logicalNot(), x.logicalXor(y)],
  "extremes of two": (x, y) => [eg.maximum(x, y), eg.minimum(x, y), x.clamp(-5000000000, 2 ** 40)],
  "bit ops": (x, y) => [x.bitwiseAnd(y), x.bitwiseOr(y), x.bitwiseXor(y), x.bitwiseNot()],
  shifts: (x) => [0n, 1n, 31n, 32n, 33n, 63n].map((n) => x.bitwiseLeftShift(n)),
  "right shifts": (x) => [0n, 1n, 31n, 32n, 33n, 63n].map((n) => x.bitwiseRightShift(n)),
  gcd: (x, y) => [eg.gcd(x, y), eg.lcm(x.remainder(100000), y.remainder(100000))],
  where: (x, y) => eg.where(x.lt(y), x, y),
  sum: (x) => [x.sum(), x.reshape([3, 5]).sum(0), x.reshape([3, 5]).sum(1)],
  "sum of int32": (_x, _y, made) => made([2147483647, 2147483647, 5], "int32").sum(),
  prod: (x) => [x.add(1).prod(), x.reshape([3, 5]).prod(0)],
  cumsum: (x) => [x.cumsum(0), x.add(1).cumprod(0)],
  extremes: (x) => [x.max(), x.min(), x.argmax(), x.argmin()],
  "extremes of rows": (x) => [...x.reshape([3, 5]).max(1), ...x.reshape([3, 5]).min(0)],
  "running extremes": (x) => [...x.cummax(0), ...x.cummin(0)],
  sort: (x) => [...x.sort(), ...x.sort(0, true), ...x.topk(3)],
  "mode and median": (x) => [...eg.cat([x, x.narrow(0, 11, 1)]).mode(), x.median()],
  "conversion to other dtypes": (x) =>
    ["float32", "int32", "uint8", "bool"].map((dtype) => x.to(dtype)),
  "conversion from floats": (_x, _y, made) =>
    made([3e9, -3e9, 0.9, -0.9, 16777217, 1e18, -9.2e18, 2 ** 62, -(2 ** 63)], "float32").to(
      "int64",
    ),
  "conversion from other integers": (_x, _y, made) => [
    ...["int32", "uint8", "bool"].map((dtype) => made([0, 1], dtype).to("int64")),
    made([-5], "int32").to("int64"),
  ],
  "matrix products": (x, y) => [
    x.reshape([3, 5]).matmul(y.reshape([5, 3])),
    eg
      .cat([x, x])
      .reshape([5, 6])
      .matmul(eg.cat([y, y]).reshape([6, 5])),
  ],
  "sums by index": (x, y, made) => {
    const index = made(kWide.map((_, i) => i % 3));
    return [x.indexAdd(0, index, y), x.scatterAdd(0, index, y), x.scatter(0, index, y)];
  },
  "folds by index": (x, y, made) => {
    const index = made(kWide.map((_, i) => i % 3));
    return ["prod", "amax", "amin"].map((how) => x.scatterReduce(0, index, y, how));
  },
  "selection by index": (x, _, made) => {
    const index = made([14, 0, 12]);
    return [x.gather(0, index), x.indexSelect(0, index), x.at(index)];
  },
  "max pooling": (x) => eg.maxPool2d(x.narrow(0, 0, 12).reshape([1, 3, 4]), 2),
  "numbers that no double is": (x) => [
    eg.fullLike(x, 2n ** 60n + 1n),
    x.maskedFill(x.gt(1), 2n ** 60n + 1n),
    x.clamp(-(2n ** 60n) - 1n, 2n ** 60n + 1n),
  ],
  "factors of matrix products": (x, y) => {
    const [a, b] = [x.narrow(0, 0, 4).reshape([2, 2]), y.narrow(0, 0, 4).reshape([2, 2])];
    return eg.addmm(a, b, a, -(2n ** 60n) - 1n, 2n ** 55n + 1n);
  },
  fills: (x) => [eg.fullLike(x, 2 ** 40), x.fill_(-3000000000), x.zero_()],
};

describe("int64 on the device is as on the CPU:", options, () => {
  for (const [name, fn] of Object.entries(kOps)) test(name, () => assertSame(fn));

  test("factories", async () => {
    const place = { dtype: "int64" };
    const { cpu: right, gpu: found } = await onBoth((device) =>
      described([
        eg.full([2], 3000000000, { ...place, device }),
        eg.arange(4999999998, 5000000003, 1, { ...place, device }),
        eg.randint(2 ** 33, 2 ** 40, [4], { ...place, device }).ge(2 ** 33),
        eg
          .zeros([3], { ...place, device })
          .random_()
          .ge(0),
      ]),
    );
    assert.deepEqual(found, right);
  });

  test("long rows and many elements", async () => {
    const { cpu: right, gpu: found } = await onBoth((device) => {
      const x = eg
        .arange(20000, { device })
        .mul(2n ** 40n + 12345n)
        .remainder(2n ** 45n + 9n);
      return described([x.sum(), x.cumsum(0).sum(), x.sort()[0].cumsum(0), x.argmax(), x.min()]);
    });
    assert.deepEqual(found, right);
  });

  test("recorded steps", async () => {
    const { cpu: right, gpu: found } = await onBoth((device) => {
      const count = eg.tensor([2n ** 31n - 2n], { device });
      const step = eg.capture(() => count.add_(2n ** 30n));
      for (let i = 0; i < 4; i++) step();
      const result = described(count);
      step.dispose();
      return result;
    });
    assert.deepEqual(found, right);
  });
});

describe("int32 on the device", options, () => {
  test("wraps around as on the CPU", async () => {
    const { cpu: right, gpu: found } = await onBoth((device) => {
      const x = eg.tensor([2147483647, -2147483648, 46341], { dtype: "int32", device });
      return described([x.add(1), x.mul(x), x.neg(), x.square(), x.sub(3)]);
    });
    assert.deepEqual(found, right);
  });
});

describe("an index beyond 32 bits", options, () => {
  for (const [name, use] of Object.entries({
    indexSelect: (x, index) => x.indexSelect(0, index),
    gather: (x, index) => x.gather(0, index),
    embedding: (x, index) => eg.embedding(index, x.reshape([3, 1])),
  })) {
    test(`is reported by ${name}, with its number, not taken modulo 2^32`, async () => {
      const x = onGpu([1, 2, 3]);
      const message = /\b4294967297\b/;
      await assertRejects(use(x, onGpu([2n ** 32n + 1n])).data(), "IndexOutOfRange", message);
      assert.deepEqual(await x.array(), [1, 2, 3]);
    });
  }

  test("is no class, and may be the ignored one", async () => {
    const scores = onGpu([[1, 2], [3, 5]]); // biome-ignore format: a matrix
    const bad = eg.crossEntropy(scores, onGpu([0n, 2n ** 32n + 1n]));
    await assertRejects(bad.itemAsync(), "IndexOutOfRange");
    const { cpu: right, gpu: found } = await onBoth((device) =>
      eg
        .crossEntropy(scores.to(device), eg.tensor([0n, 2n ** 33n], { device }), {
          ignoreIndex: 2 ** 33,
        })
        .item(),
    );
    assert.ok(Math.abs(found - right) < 1e-6);
  });
});
