// complex32 on the device: its elements are stored there, and converted on the CPU.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg, options } from "../support/engine.mjs";

describe("complex32 on the device", options, () => {
  test("has the CPU's results", () => {
    const z = eg.complex(eg.arange(7).half(), eg.arange(7).half().neg());
    assert.equal(z.dtype, "complex32");
    const there = z.to("webgpu");
    assert.deepEqual([there.dtype, there.device], ["complex32", "webgpu"]);
    assert.deepEqual(there.dataSync(), z.dataSync());
    for (const call of [
      (x) => x.mul(x),
      (x) => x.abs(),
      (x) => x.conj(),
      (x) => x.imag(),
      (x) => x.sum(),
      (x) => x.to("complex64"),
      (x) => x.real().mul({ re: 0, im: 1 }),
      (x) => x.clone().add_(1),
    ]) {
      const [right, result] = [call(z), call(there)];
      assert.equal(result.dtype, right.dtype, String(call));
      assert.deepEqual(result.dataSync(), right.dataSync(), String(call));
    }
  });
});
