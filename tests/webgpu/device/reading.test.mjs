// Data on the device is read back as it was written, in order, for every dtype, size and layout.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects, assertTensor, assertThrows } from "../../js/support/assert.mjs";
import { eg, onGpu, options } from "../support/engine.mjs";

/** For each dtype, the class of the array that is read, and its element `i`. */
const kDtypes = {
  float32: [Float32Array, (i) => i / 4 - 10],
  float16: [Float32Array, (i) => i / 4 - 10],
  bfloat16: [Float32Array, (i) => i / 2 - 10],
  int8: [Int8Array, (i) => (i * 37) % 256],
  int16: [Int16Array, (i) => i * 1117],
  int32: [Int32Array, (i) => 2_147_483_647 - 40_000_000 * i],
  int64: [BigInt64Array, (i) => -2_147_483_648n + 16_000_000n * BigInt(i)],
  uint8: [Uint8Array, (i) => (i * 37) % 256],
  bool: [Uint8Array, (i) => Number(i % 3 === 0)],
  complex64: [Float32Array, (i) => (i % 2 ? -i : i / 2)],
};
// Bytes are packed in groups of four, and a workgroup has at most 256 invocations.
const kSizes = [0, 1, 2, 3, 5, 63, 255, 257];

function numbers(dtype, count) {
  const [Type, element] = kDtypes[dtype];
  const parts = dtype === "complex64" ? 2 * count : count;
  // Values beyond the range of int32 wrap around, as in an Int32Array.
  return Type.from({ length: parts }, (_, i) => element(i));
}

for (const dtype of Object.keys(kDtypes)) {
  describe(`${dtype} on the device`, options, () => {
    const make = (count) => onGpu(numbers(dtype, count), { dtype, shape: [count] });

    test("comes back as it was, at all sizes", async () => {
      for (const count of kSizes) {
        const x = make(count);
        assert.deepEqual([x.dtype, x.device, x.shape], [dtype, "webgpu", [count]]);
        assert.deepEqual(await x.data(), numbers(dtype, count));
        assert.deepEqual(x.dataSync(), numbers(dtype, count));
      }
    });

    test("comes back from views with strides and offsets", async () => {
      const host = eg.tensor(numbers(dtype, 3 * 7 * 5), { dtype, shape: [3, 7, 5] });
      const x = host.to("webgpu");
      const kViews = [
        (t) => t.at(1),
        (t) => t.at(2, 3, 1),
        (t) => t.transpose(0, 2),
        (t) => t.at("...", eg.slice(1, 5, 2)),
        (t) => t.at(eg.slice(1, 3), 4).t(),
        (t) => t.narrow(1, 3, 3).permute(2, 0, 1),
        (t) => t.at(0, 0, 0).expand(2, 3),
        (t) => t.narrow(0, 1, 0),
      ];
      for (const view of kViews) {
        const [right, found] = [view(host), view(x)];
        assert.deepEqual(found.strides, right.strides);
        assert.deepEqual(await found.data(), right.dataSync(), String(view));
        assert.deepEqual(await found.array(), right.arraySync(), String(view));
        assert.deepEqual(found.contiguous().dataSync(), right.dataSync(), String(view));
      }
    });

    test("shows single elements and text as on the CPU", async () => {
      const host = eg.tensor(numbers(dtype, 3), { dtype, shape: [3] });
      const x = host.to("webgpu");
      const plain = String(host);
      assert.equal(String(x), plain.replace(/(, dtype=\w+)?\)$/, ", device='webgpu'$1)"));
      for (const i of [0, 2]) {
        assert.deepEqual(x.at(i).item(), host.at(i).item());
        assert.deepEqual(await x.at(i).itemAsync(), host.at(i).item());
      }
    });

    test("comes back from moves there and back, and from copies into parts", () => {
      const host = eg.tensor(numbers(dtype, 12), { dtype, shape: [3, 4] });
      const target = eg.zeros([3, 4], { dtype, device: "webgpu" });
      target.t().copy_(host.t());
      assert.deepEqual(target.to("cpu").dataSync(), host.dataSync());
      target.at(1).copy_(host.at(0));
      assert.deepEqual(target.at(1).dataSync(), host.at(0).dataSync());
      assert.deepEqual(target.at(2).dataSync(), host.at(2).dataSync());
    });
  });
}

describe("reading from the device", options, () => {
  test("returns the values of a tensor at the time of the call", async () => {
    const x = onGpu([1, 2]);
    const reads = [];
    for (let i = 0; i < 5; i++) {
      reads.push(x.data(), x.array());
      x.add_(1);
    }
    const found = await Promise.all(reads);
    for (let i = 0; i < 5; i++) {
      assert.deepEqual([...found[2 * i]], [1 + i, 2 + i]);
      assert.deepEqual(found[2 * i + 1], [1 + i, 2 + i]);
    }
  });

  test("outlives the tensor", async () => {
    const x = onGpu([3, 4]);
    const pending = x.mul(2).data();
    x.dispose();
    // Reuses the freed memory if it is available.
    const other = onGpu([-1, -1]).mul(9);
    assert.deepEqual([...(await pending)], [6, 8]);
    assertTensor(other, [-9, -9]);
  });

  test("may happen many times at once, in any order, in both forms", async () => {
    const tensors = Array.from({ length: 100 }, (_, i) => onGpu([i, i * i]).add(1));
    const pending = tensors.map((x) => x.data());
    assertTensor(tensors[42], [43, 1765]);
    const found = await Promise.all(pending);
    for (const [i, values] of found.entries()) assert.deepEqual([...values], [i + 1, i * i + 1]);
  });

  test("has let go of its own tensors when the values arrive", async () => {
    const x = onGpu([1, 2]);
    for (let i = 0; i < 200; i++) {
      const { tensors } = eg.memory();
      await Promise.all([x.data(), x.array(), x.data()]);
      // Garbage of earlier tests may have been collected.
      assert.ok(eg.memory().tensors <= tensors);
    }
  });

  test("keeps scopes and gradients out of it", async () => {
    const before = eg.memory().jsHandles;
    await eg.scope(async () => {
      const x = onGpu([1, 2], { requiresGrad: true });
      assert.deepEqual(await x.mul(2).array(), [2, 4]);
    });
    // Garbage of earlier tests may have been collected.
    assert.ok(eg.memory().jsHandles <= before);
  });

  test("reads 0-dim and empty tensors", async () => {
    assert.equal(await onGpu(5).itemAsync(), 5);
    assert.equal(onGpu([[7]]).item(), 7);
    assert.deepEqual(await onGpu(5).array(), 5);
    assert.deepEqual(await eg.zeros([2, 0, 3], { device: "webgpu" }).array(), [[], []]);
    assert.equal(eg.zeros([0], { device: "webgpu" }).sum().item(), 0);
    assert.equal(String(eg.zeros([0], { device: "webgpu" })), "tensor([], device='webgpu')");
    await assertRejects(onGpu([1, 2]).itemAsync(), "InvalidArgument", /got 2/);
    assertThrows(() => onGpu([1, 2]).item(), "InvalidArgument", /got 2/);
  });
});

describe("what the device does not have", options, () => {
  for (const [wide, narrow] of [
    ["float64", "float32"],
    ["complex128", "complex64"],
  ]) {
    test(`is ${wide}: the error names ${narrow}`, () => {
      const cases = [
        () => eg.ones([2], { dtype: wide }).to("webgpu"),
        () => eg.zeros([2], { dtype: wide, device: "webgpu" }),
        () => eg.ones([2], { device: "webgpu" }).to(wide),
        () => eg.ones([2]).to({ dtype: wide, device: "webgpu" }),
        () => eg.ones([2], { device: "webgpu" }).sum({ dtype: wide }),
        () => eg.zerosLike(eg.ones([2], { device: "webgpu" }), { dtype: wide }),
        () => new eg.nn.Linear(2, 2).to({ dtype: wide, device: "webgpu" }),
      ];
      for (const make of cases) assertThrows(make, "DtypeMismatch", new RegExp(narrow));
    });

    test(`is ${wide}, to which a tensor may be converted on its way back`, () => {
      const x = onGpu([1, 2]).to({ device: "cpu", dtype: wide });
      assert.deepEqual([x.dtype, x.device], [wide, "cpu"]);
    });
  }
});
