// int8 and int16 on the device: stored in one and two bytes, computed in int32, with the CPU's results.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg, options, warningsOf } from "../support/engine.mjs";

const device = "webgpu";

for (const [dtype, bits] of [
  ["int8", 8],
  ["int16", 16],
]) {
  const most = 2 ** (bits - 1) - 1;
  const values = [-most - 1, -most, -300, -2, -1, 0, 1, 2, 100, 300, most - 1, most];
  const host = () => eg.tensor(values, { dtype: "int32" }).to(dtype);

  describe(`${dtype} on the device`, options, () => {
    test("comes from all dtypes and goes to them", () => {
      for (const other of [
        "float32",
        "int32",
        "int64",
        "uint8",
        "bool",
        "float16",
        "int8",
        "int16",
      ]) {
        const from = eg.tensor(values.map((x) => x % 100)).to(other);
        assert.deepEqual(from.to(device).to(dtype).dataSync(), from.to(dtype).dataSync(), other);
        const back = host().to(device).to(other);
        assert.equal(back.dtype, other);
        assert.deepEqual(back.dataSync(), host().to(other).dataSync(), other);
      }
      // More than one workgroup, of which the last word is not full.
      const many = eg.arange(-5000, 5001, { dtype: "int32" });
      assert.deepEqual(many.to(device).to(dtype).dataSync(), many.to(dtype).dataSync());
      assert.deepEqual(many.to(dtype).to(device).int().dataSync(), many.to(dtype).int().dataSync());
    });

    test("leaves what shares a word with it as it is", () => {
      const rows = eg.arange(35, { dtype }).reshape(5, 7);
      const there = rows.to(device);
      for (const t of [rows, there]) {
        t.at(1).fill_(-1);
        t.t()
          .at(eg.slice(3, 5))
          .copy_(eg.tensor([[7], [-9]], { dtype, device: t.device }));
        t.narrow(1, 2, 1).mul_(-2);
      }
      assert.deepEqual(there.dataSync(), rows.dataSync());
      assert.deepEqual(there.t().contiguous().dataSync(), rows.t().contiguous().dataSync());
    });

    test("has the CPU's results, without computing there", async () => {
      const calls = {
        add: (x) => x.add(x),
        addNumber: (x) => x.add(300),
        mul: (x) => x.mul(x),
        neg: (x) => x.neg(),
        abs: (x) => x.abs(),
        bitwiseNot: (x) => x.bitwiseNot(),
        shift: (x) => x.bitwiseRightShift(3),
        div: (x) => x.div(4),
        lt: (x) => x.lt(2),
        where: (x) => eg.where(x.gt(0), x, x.neg()),
        clamp: (x) => x.clamp(-100, 100),
        sum: (x) => x.sum(),
        cumsum: (x) => x.cumsum(0),
        max: (x) => x.max(),
        sort: (x) => x.sort()[0],
        cat: (x) => eg.cat([x, x.byte()]),
        gather: (x) => x.gather(0, eg.tensor([3n, 0n]).to(x.device)),
        fill: (x) => x.clone().fill_(-7),
        add_: (x) => x.clone().add_(1),
        cumsum_: (x) => x.clone().cumsum_(0),
      };
      const warnings = await warningsOf(() => {
        for (const [name, call] of Object.entries(calls)) {
          const [right, result] = [call(host()), call(host().to(device))];
          assert.equal(result.dtype, right.dtype, name);
          assert.deepEqual(result.dataSync(), right.dataSync(), name);
        }
      });
      assert.deepEqual(warnings, []);
    });
  });
}
