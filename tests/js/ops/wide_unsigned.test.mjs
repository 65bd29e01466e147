// uint16, uint32 and uint64: made, read, moved, computed where that is exact, refused elsewhere, kept in files.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kTypes = {
  uint16: { array: Uint16Array, bytes: 2, largest: 65535 },
  uint32: { array: Uint32Array, bytes: 4, largest: 2 ** 32 - 1 },
  uint64: { array: BigUint64Array, bytes: 8, largest: 2n ** 64n - 1n },
};

for (const [dtype, { array, bytes, largest }] of Object.entries(kTypes)) {
  describe(dtype, () => {
    const sample = () => eg.tensor([3, 0, largest, 7], { dtype });

    test("is made from numbers, bigints and typed arrays, and read back", () => {
      const x = sample();
      assert.equal(x.dtype, dtype);
      assert.equal(x.elementSize(), bytes);
      assert.deepEqual(x.tolist(), [3, 0, largest, 7]);
      assert.ok(x.dataSync() instanceof array);
      assert.deepEqual(eg.tensor(x.dataSync(), { dtype }).tolist(), x.tolist());
      assert.deepEqual(eg.tensor([1n, 2n], { dtype }).tolist(), [1, 2]);
      assert.equal(eg.tensor(largest, { dtype }).item(), largest);
      assert.deepEqual(eg.full([2], 9, { dtype }).tolist(), [9, 9]);
      assert.deepEqual(eg.zeros([1], { dtype }).tolist(), [0]);
      assert.equal(String(eg.tensor([3, 4], { dtype })), `tensor([3, 4], dtype=${dtype})`);
    });

    test("refuses numbers outside of its range", () => {
      const beyond = typeof largest === "bigint" ? largest + 1n : largest + 1;
      assertThrows(() => eg.tensor([beyond], { dtype }), "InvalidArgument", /overflow/);
      assertThrows(() => eg.tensor([Number.NaN], { dtype }), "InvalidArgument", /overflow/);
      assertThrows(() => eg.full([1], 1e30, { dtype }), "InvalidArgument", /does not fit/);
    });

    test("has limits", () => {
      const { min, max, bits } = eg.iinfo(dtype);
      assert.deepEqual([BigInt(min), BigInt(max), bits], [0n, BigInt(largest), 8 * bytes]);
    });

    test("converts to and from every other dtype", () => {
      const x = eg.tensor([3, 0, 7], { dtype });
      for (const other of ["float32", "float64", "float16", "int32", "int64", "uint8", "int8"]) {
        const there = x.to(other);
        assert.equal(there.dtype, other);
        assert.deepEqual(there.to("float64").tolist(), [3, 0, 7], other);
        assert.deepEqual(there.to(dtype).tolist(), [3, 0, 7], other);
      }
      assert.deepEqual(x.bool().tolist(), [true, false, true]);
      assert.deepEqual(sample().double().tolist(), [3, 0, Number(largest), 7]);
      assert.deepEqual(x.to("complex64").real().tolist(), [3, 0, 7]);
    });

    test("is moved, joined and sliced", () => {
      const x = sample();
      assert.deepEqual(x.flip(0).tolist(), [7, largest, 0, 3]);
      assert.deepEqual(eg.cat([x, x.narrow(0, 2, 1)]).tolist(), [3, 0, largest, 7, largest]);
      assert.deepEqual(eg.stack([x, x]).roll(1, 1).select(0, 1).tolist(), [7, 3, 0, largest]);
      assert.deepEqual(x.narrow(0, 2, 1).repeat(2).tolist(), [largest, largest]);
      assert.deepEqual(x.at(new eg.Slice(1, null, 2)).tolist(), [0, 7]);
      assert.deepEqual(x.view([2, 2]).t().contiguous().tolist(), [
        [3, largest],
        [0, 7],
      ]);
      assert.deepEqual(x.clone().fill_(5).tolist(), [5, 5, 5, 5]);
      assert.deepEqual(x.eq(x).tolist(), [true, true, true, true]);
      assert.ok(eg.equal(x, x.clone()));
      const isFirst = eg.tensor([true, false, false, true]);
      assert.deepEqual(eg.where(isFirst, x, x.flip(0)).tolist(), [3, largest, 0, 7]);
    });

    test("wraps around", () => {
      assert.deepEqual(sample().add(1).tolist(), [4, 1, 0, 8]);
      assert.deepEqual(sample().bitwiseAnd(6).tolist(), [2, 0, 6, 6]);
    });

    test("promotes with floats only", () => {
      const x = sample();
      assert.equal(x.mul(0.5).dtype, "float32");
      assert.equal(x.add(eg.ones([4])).dtype, "float32");
      for (const other of ["int64", "uint8", "bool"]) {
        const given = eg.ones([4], { dtype: other });
        assertThrows(() => x.add(given), "DtypeMismatch", /no common dtype/);
      }
    });

    test("cannot require a gradient", () => {
      assertThrows(() => sample().requiresGrad_(), "NotDifferentiable");
    });

    test("is kept in files", async () => {
      const x = sample();
      const read = eg.io.loadSafetensors(eg.io.saveSafetensors({ x }));
      assert.equal(read.x.dtype, dtype);
      assert.deepEqual(read.x.tolist(), x.tolist());
      const { y } = await eg.io.loadTorch(await eg.io.saveTorch({ y: x }));
      assert.equal(y.dtype, dtype);
      assert.deepEqual(y.tolist(), x.tolist());
    });
  });
}

describe("wide unsigned integers", () => {
  test("are computed where signed integers of the same or more bits give the result", () => {
    const x = eg.tensor([3, 65535], { dtype: "uint16" });
    assert.equal(x.sum().item(), 65538);
    assert.deepEqual(x.sort(0, { descending: true })[0].tolist(), [65535, 3]);
    const y = eg.tensor([3, 2 ** 32 - 1], { dtype: "uint32" });
    assert.deepEqual(y.gt(5).tolist(), [false, true]);
    assert.deepEqual(y.floorDivide(2).tolist(), [1, 2 ** 31 - 1]);
    assert.deepEqual(eg.searchsorted(y, y).tolist(), [0, 1]);
    assert.deepEqual(y.indexSelect(0, eg.tensor([1n])).tolist(), [2 ** 32 - 1]);
  });

  test("are refused elsewhere, and the operand stays as it was", () => {
    const y = eg.tensor([3, 2 ** 32 - 1], { dtype: "uint32" });
    assertThrows(() => y.sum(), "DtypeMismatch", /\[sum\].*uint32.*to\('int64'\)/);
    const z = eg.tensor([3n, 2n ** 64n - 1n], { dtype: "uint64" });
    assertThrows(() => z.lt(5), "DtypeMismatch", /\[lt\].*uint64.*to\('int64'\)/);
    assertThrows(() => z.sum(), "DtypeMismatch", /\[sum\].*uint64/);
    assert.deepEqual(z.tolist(), [3, 2n ** 64n - 1n]);
  });
});

describe("view() as another dtype", () => {
  test("reads and writes the same memory", () => {
    const x = eg.tensor([1, -2]);
    const bits = x.view("int32");
    assert.deepEqual(bits.tolist(), [0x3f800000, 0xc0000000 - 2 ** 32]);
    bits.at(0).fill_(0x40400000);
    assert.deepEqual(x.tolist(), [3, -2]);
    assert.deepEqual(x.view("uint32").view("float32").tolist(), [3, -2]);
    assert.deepEqual(x.view("uint8").shape, [8]);
    assert.deepEqual(x.view("uint8").view("float32").tolist(), [3, -2]);
    assert.deepEqual(eg.view(x, "int32").tolist(), bits.tolist());
    assert.deepEqual(x.view(2, 1).shape, [2, 1]);
  });

  test("makes pairs of the parts of complex numbers", () => {
    const z = eg.complex(eg.tensor([1, 2]), eg.tensor([3, 4]));
    assert.deepEqual(z.view("float32").tolist(), [1, 3, 2, 4]);
    assert.deepEqual(eg.tensor([1, 3, 2, 4]).view("complex64").imag().tolist(), [3, 4]);
  });

  test("has no graph, but a change of the memory counts", () => {
    const x = eg.tensor([1, 2], { requiresGrad: true });
    assert.equal(x.view("int32").requiresGrad, false);
    const y = x.mul(2);
    const loss = y.mul(y).sum();
    y.view("int32").zero_();
    assertThrows(() => loss.backward(), "ModifiedInPlace");
  });

  test("refuses what no geometry shows", () => {
    const x = eg.ones([4, 3]);
    assertThrows(() => x.view("float64"), "ShapeMismatch", /\[view\].*multiples/);
    assertThrows(() => x.t().view("uint8"), "ShapeMismatch", /contiguous\(\)/);
    assertThrows(() => x.view("bool"), "DtypeMismatch", /bool/);
    assertThrows(() => x.view("float"), "InvalidArgument", /"float32"/);
    assertThrows(() => eg.tensor(1).view("uint8"), "ShapeMismatch");
  });
});

describe("nextafter()", () => {
  test("goes one number of the dtype towards the other", () => {
    const from = [1, 1, -1, 0, 0, Infinity, 3, Number.NaN];
    const to = [2, 0, 0, 1, -1, 0, 3, 1];
    const expected = {
      float32: [
        1 + 2 ** -23,
        1 - 2 ** -24,
        2 ** -24 - 1,
        2 ** -149,
        -(2 ** -149),
        3.4028234663852886e38,
      ],
      float64: [
        1 + 2 ** -52,
        1 - 2 ** -53,
        2 ** -53 - 1,
        2 ** -1074,
        -(2 ** -1074),
        Number.MAX_VALUE,
      ],
      float16: [1 + 2 ** -10, 1 - 2 ** -11, 2 ** -11 - 1, 2 ** -24, -(2 ** -24), 65504],
      bfloat16: [
        1 + 2 ** -7,
        1 - 2 ** -8,
        2 ** -8 - 1,
        2 ** -133,
        -(2 ** -133),
        3.3895313892515355e38,
      ],
    };
    for (const [dtype, numbers] of Object.entries(expected)) {
      const found = eg.nextafter(eg.tensor(from, { dtype }), eg.tensor(to, { dtype }));
      assert.equal(found.dtype, dtype);
      assert.deepEqual(found.tolist(), [...numbers, 3, Number.NaN], dtype);
    }
  });

  test("broadcasts, promotes, and takes numbers", () => {
    const x = eg.tensor([[1], [2]]);
    assert.deepEqual(eg.nextafter(x, eg.tensor([0, 5])).shape, [2, 2]);
    assert.equal(eg.nextafter(x, eg.ones([1], { dtype: "float64" })).dtype, "float64");
    assert.ok(eg.nextafter(x, 0).lt(x).all().item());
    assertThrows(() => eg.nextafter(eg.tensor([1n]), eg.tensor([2n])), "DtypeMismatch");
  });
});
