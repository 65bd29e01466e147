// float8_e4m3fn and float8_e5m2: storing, converting, files.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { readJson } from "../support/files.mjs";

const golden = readJson("tests/golden/float8.json");

for (const dtype of ["float8_e4m3fn", "float8_e5m2"]) {
  describe(dtype, () => {
    const { rounded, every, print, finfo } = golden[dtype];
    // The bits 0, 1 ... 255, which only a file can give.
    const all = () => {
      const header = { x: { dtype: storedAs(dtype), shape: [256], data_offsets: [0, 256] } };
      return eg.io.loadSafetensors(
        fileOf(
          header,
          Uint8Array.from({ length: 256 }, (_, i) => i),
        ),
      ).x;
    };

    test("has PyTorch's 256 numbers", () => {
      assert.equal(all().dtype, dtype);
      assert.equal(all().elementSize(), 1);
      assert.deepEqual([...all().dataSync()], every.map(Number));
      assert.ok(all().dataSync() instanceof Float32Array);
      assert.deepEqual(all().tolist(), every.map(Number));
      assert.deepEqual([...all().float().dataSync()], every.map(Number));
      assert.deepEqual([...all().float().to(dtype).dataSync()], every.map(Number));
    });

    test("rounds as PyTorch does, from every dtype", () => {
      for (const from of ["float32", "float64"]) {
        const x = eg.tensor(golden.given, { dtype: "float32" }).to(from);
        assert.deepEqual([...x.to(dtype).dataSync()], rounded.map(Number), from);
        assert.deepEqual([...x.neg().to(dtype).neg().dataSync()], rounded.map(Number), from);
      }
      assert.deepEqual(eg.tensor([3n, -2n]).to(dtype).tolist(), [3, -2]);
      assert.deepEqual(eg.tensor([1.1, 0], { dtype }).bool().tolist(), [true, false]);
      assert.equal(eg.tensor([1], { dtype }).to("complex64").dtype, "complex64");
      const [infinite] = eg.tensor([Infinity]).to(dtype).tolist();
      assert.equal(infinite, dtype === "float8_e5m2" ? Infinity : Number.NaN);
    });

    test("is made, copied, joined and picked", () => {
      const x = eg.tensor([1.1, -2, 3.3], { dtype });
      assert.equal(String(x.narrow(0, 0, 2)), print.replace("torch.", ""));
      assert.equal(eg.zeros([2], { dtype }).add_(eg.ones([2], { dtype })).dtype, dtype);
      assert.deepEqual(eg.full([2], 3, { dtype }).tolist(), [3, 3]);
      const back = x.flip(0).tolist();
      assert.deepEqual(
        eg
          .cat([x, x])
          .indexSelect(0, eg.tensor([5n, 4n, 3n]))
          .tolist(),
        back,
      );
      assert.ok(eg.equal(x, x.clone()));
      assert.deepEqual(x.clone().fill_(0.5).tolist(), [0.5, 0.5, 0.5]);
      assert.equal(x.eq(x).all().item(), true);
      assert.equal(x.isFloatingPoint(), true);
      const found = eg.finfo(dtype);
      for (const [key, value] of Object.entries(finfo)) assert.equal(found[key], value, key);
      assertThrows(() => eg.full([1], 1e9, { dtype }), "InvalidArgument", /does not fit float8/);
    });

    test("promotes with no other dtype", () => {
      const x = eg.tensor([1, 2], { dtype });
      for (const other of ["float32", "float16", "int32", "bool"])
        assertThrows(
          () => x.add(eg.ones([2], { dtype: other })),
          "DtypeMismatch",
          new RegExp(`no common dtype of (${dtype} and ${other}|${other} and ${dtype})`),
        );
      assertThrows(() => eg.rand([2], { dtype }), "DtypeMismatch");
      assertThrows(() => eg.setDefaultDtype(dtype), "InvalidArgument");
    });

    test("lets gradients through casts", () => {
      const x = eg.tensor([1.1, 2], { requiresGrad: true });
      x.to(dtype).float().mul(3).sum().backward();
      assert.deepEqual(x.grad.tolist(), [3, 3]);
    });

    test("is kept in files", async () => {
      const x = eg.tensor([1.1, -2, 3.3], { dtype });
      const read = eg.io.loadSafetensors(eg.io.saveSafetensors({ x }));
      assert.equal(read.x.dtype, dtype);
      assert.deepEqual(read.x.tolist(), x.tolist());
      const { y } = await eg.io.loadTorch(await eg.io.saveTorch({ y: x }));
      assert.equal(y.dtype, dtype);
      assert.deepEqual(y.tolist(), x.tolist());
    });
  });
}

function storedAs(dtype) {
  return dtype === "float8_e5m2" ? "F8_E5M2" : "F8_E4M3";
}

function fileOf(header, data) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(8 + text.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(text.length), true);
  bytes.set(text, 8);
  bytes.set(data, 8 + text.length);
  return bytes;
}
