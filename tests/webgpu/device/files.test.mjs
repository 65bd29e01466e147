// Tensors on the device are written to files, also without blocking, and files are read to the device.

import assert from "node:assert/strict";
import { test } from "node:test";
import { eg, onGpu, options } from "../support/engine.mjs";

const { io } = eg;
const kDtypes = ["float32", "int32", "int64", "uint8", "bool", "complex64"];

const values = () => {
  const all = kDtypes.map((dtype) => [dtype, eg.tensor([1, 0, 3]).to(dtype).to("webgpu")]);
  return { ...Object.fromEntries(all), empty: onGpu([], { shape: [0, 2] }) };
};

function assertSame(loaded, saved) {
  assert.deepEqual(Object.keys(loaded).sort(), Object.keys(saved).sort());
  for (const [name, tensor] of Object.entries(saved)) {
    assert.equal(loaded[name].dtype, tensor.dtype);
    assert.deepEqual(loaded[name].tolist(), tensor.tolist());
  }
}

test("saveTorch writes tensors of the device, views packed", options, async () => {
  const saved = values();
  assertSame(await io.loadTorch(await io.saveTorch(saved)), saved);
  const x = onGpu([1, 2, 3, 4], { shape: [2, 2] });
  const { a, b } = await io.loadTorch(await io.saveTorch({ a: x.t(), b: x.select(1, 1) }));
  assert.deepEqual(
    [a.tolist(), b.tolist()],
    [
      [
        [1, 3],
        [2, 4],
      ],
      [2, 4],
    ],
  );
});

test("saveSafetensors writes tensors of the device to a stream", options, async () => {
  const saved = values();
  const pieces = [];
  await io.saveSafetensors(
    saved,
    new WritableStream({ write: (piece) => void pieces.push(piece) }),
  );
  const bytes = Buffer.concat(pieces);
  assert.deepEqual(new Uint8Array(bytes), io.saveSafetensors(saved));
  assertSame(io.loadSafetensors(bytes), saved);
});

test("openSafetensors reads to the device", options, async () => {
  const x = eg.arange(12, { dtype: "float32" }).reshape([3, 4]);
  const file = await io.openSafetensors(new Blob([io.saveSafetensors({ x })]));
  const whole = await file.tensor("x", { device: "webgpu" });
  const part = await file.slice("x", [1, 3], 0, { device: "webgpu", dtype: "int32" });
  assert.deepEqual([whole.device, part.device, part.dtype], ["webgpu", "webgpu", "int32"]);
  assert.deepEqual(await whole.array(), x.tolist());
  assert.deepEqual(await part.array(), [4, 8]);
});
