// Buffers of a page as tensors, and tensors as buffers, in the order of the page's queue.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import * as eg from "edgegrad";
import { assertRejects, assertThrows } from "../../js/support/assert.mjs";
import { bufferOf, floatsOf, requestDevice, skip } from "../support/page_device.mjs";

const device = skip ? undefined : await requestDevice();
if (!skip) await eg.init({ webgpu: { device } });
after(async () => {
  await eg.shutdown();
  device?.destroy();
});

const onGpu = (data, settings) => eg.tensor(data, { device: "webgpu", ...settings });
const from = (array, options) => eg.fromGPUBuffer(bufferOf(device, array), options);
const floats = (binding) => floatsOf(device, binding);

describe("eg.fromGPUBuffer()", { skip }, () => {
  test("has what the buffer contains, in every dtype, without the CPU", async () => {
    const before = eg.webgpuStats();
    const x = from(Float32Array.of(9, 1, 2, 3, 4, 5, 6), { shape: [2, 3], offset: 4 });
    const y = x.matmul(x.t());
    assert.equal(eg.webgpuStats().bytesWritten, before.bytesWritten);
    assert.equal(x.device, "webgpu");
    assert.deepEqual(await y.array(), [
      [14, 32],
      [32, 77],
    ]);
    for (const [array, options, right] of [
      [Int32Array.of(-1, 2), { shape: [2], dtype: "int32" }, [-1, 2]],
      [BigInt64Array.of(-1n, 2n), { shape: [2], dtype: "int64" }, [-1, 2]],
      [Uint8Array.of(1, 2, 255), { shape: [3], dtype: "uint8" }, [1, 2, 255]],
      [Uint16Array.of(0x3c00, 0xc000, 0), { shape: [3], dtype: "float16" }, [1, -2, 0]],
      [Uint8Array.of(1, 0), { shape: [2], dtype: "bool" }, [1, 0]],
      [Float32Array.of(7), { shape: [] }, 7],
      [Float32Array.of(7), { shape: [0, 3] }, []],
    ]) {
      const found = from(array, options);
      assert.deepEqual(found.shape, options.shape);
      assert.deepEqual(await found.float().array(), right, options.dtype);
    }
  });

  test("has it at the time of the call, whatever either side does afterwards", async () => {
    const kFormulas = ["sin", "cos", "tanh", "sigmoid", "erf", "atan", "asinh", "softsign", "abs"];
    const buffer = bufferOf(device, Float32Array.of(1, 2));
    const sums = [];
    for (let i = 0; i < 30; i++) {
      device.queue.writeBuffer(buffer, 0, Float32Array.of(i, 2 * i));
      const x = eg.fromGPUBuffer(buffer, { shape: [2] });
      // A formula that is new has to be compiled first.
      const formula = kFormulas[i % kFormulas.length];
      sums.push(
        x
          .mul(i + 1)
          .sub(x[formula]())
          .add(x[formula]())
          .sum()
          .itemAsync(),
      );
      device.queue.writeBuffer(buffer, 0, Float32Array.of(-1, -1));
      if (i % 10 === 0) eg.noGrad(() => x.mul_(0));
    }
    buffer.destroy();
    for (const [i, sum] of (await Promise.all(sums)).entries())
      assert.ok(Math.abs(sum - 3 * i * (i + 1)) < 1e-3, `${sum} at ${i}`);
  });

  test("refuses what is no buffer of the page, or too small, by name", async () => {
    const buffer = bufferOf(device, Float32Array.of(1, 2, 3));
    const { STORAGE } = GPUBufferUsage;
    const bad = "InvalidArgument";
    for (const given of [undefined, null, 7, {}, { size: 4 }, new ArrayBuffer(8)])
      assertThrows(
        () => eg.fromGPUBuffer(given, { shape: [1] }),
        bad,
        /^\[fromGPUBuffer\] buffer: expected a GPUBuffer/,
      );
    for (const [options, pattern] of [
      [undefined, /shape: expected an array/],
      [{}, /shape: expected an array/],
      [{ shape: [-1] }, /shape: expected/],
      [{ shape: [1.5] }, /shape: expected/],
      [{ shape: [4] }, /offset: .* 16 bytes after it.* got 0 in a buffer of 12 bytes/],
      [{ shape: [3], offset: 4 }, /offset: .* got 4 in a buffer of 12 bytes/],
      [{ shape: [1], offset: 2 }, /offset: expected a multiple of 4/],
      [{ shape: [1], offset: -4 }, /offset: expected/],
      [{ shape: [1], offset: Number.NaN }, /offset: expected/],
      [{ shape: [1], dtype: "float" }, /dtype: .*float32/],
      [{ shape: [1], size: 4 }, /"size"/],
    ])
      assertThrows(() => eg.fromGPUBuffer(buffer, options), bad, pattern);
    assertThrows(() => eg.fromGPUBuffer(buffer, { shape: [1], dtype: "float64" }), "DtypeMismatch");
    assertThrows(() => eg.fromGPUBuffer(buffer, { shape: [2 ** 30] }), "OutOfMemory", /bytes/);
    assertThrows(
      () => eg.fromGPUBuffer(bufferOf(device, Float32Array.of(1), STORAGE), { shape: [1] }),
      bad,
      /COPY_SRC/,
    );
    const mapped = device.createBuffer({
      size: 4,
      usage: GPUBufferUsage.COPY_SRC | GPUBufferUsage.MAP_WRITE,
      mappedAtCreation: true,
    });
    assertThrows(() => eg.fromGPUBuffer(mapped, { shape: [1] }), bad, /mapped.*unmap\(\)/);
    // Nothing of that is left, and the engine works.
    assert.deepEqual(await eg.fromGPUBuffer(buffer, { shape: [3] }).array(), [1, 2, 3]);
  });

  test("of a buffer that is destroyed or of another device fails reads of what comes of it, alone", async () => {
    const other = await requestDevice();
    const destroyed = bufferOf(device, Float32Array.of(1, 2));
    destroyed.destroy();
    for (const buffer of [destroyed, bufferOf(other, Float32Array.of(1, 2))]) {
      const fine = onGpu([1, 2]).mul(3);
      const x = eg.fromGPUBuffer(buffer, { shape: [2] });
      const y = x.add(1).sum();
      await assertRejects(y.data(), "InvalidArgument", /^\[fromGPUBuffer\] WebGPU refuses/);
      await assertRejects(x.data(), "InvalidArgument", /fromGPUBuffer/);
      await assertRejects(x.toGPUBuffer(), "InvalidArgument", /fromGPUBuffer/);
      assert.deepEqual(await fine.array(), [3, 6]);
      x.zero_();
      assert.deepEqual(await x.array(), [0, 0]);
    }
    other.destroy();
  });
});

describe("tensor.toGPUBuffer()", { skip }, () => {
  test("is the tensor's own memory if that is contiguous and aligned, else a copy", async () => {
    const x = onGpu([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    const view = await x.toGPUBuffer();
    assert.equal(view.isView, true);
    assert.equal(view.offset % 256, 0);
    assert.equal(view.size, 24);
    assert.deepEqual(await floats(view), [1, 2, 3, 4, 5, 6]);
    for (const [other, right] of [
      [x.t(), [1, 4, 2, 5, 3, 6]],
      [x.at(1), [4, 5, 6]],
      [x.at(0).expand(2, 3), [1, 2, 3, 1, 2, 3]],
    ]) {
      const copy = await other.toGPUBuffer();
      assert.equal(copy.isView, false);
      assert.equal(copy.offset, 0);
      assert.deepEqual(await floats(copy), right);
      copy.buffer.destroy();
    }
    const copy = await x.toGPUBuffer({ copy: true });
    eg.noGrad(() => x.mul_(2));
    assert.deepEqual(await floats(copy), [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(await floats(await x.toGPUBuffer()), [2, 4, 6, 8, 10, 12]);
    copy.buffer.destroy();
    assert.deepEqual(await x.array(), [
      [2, 4, 6],
      [8, 10, 12],
    ]);
  });

  test("resolves when all that computes it has been submitted, without the CPU", async () => {
    const x = onGpu([1, 2]);
    const { bytesRead, bytesWritten, readbacks } = eg.webgpuStats();
    let y = from(Float32Array.of(1, 2), { shape: [2] });
    for (let i = 0; i < 20; i++) y = y.add(x).tanh().add(y);
    const right = await floats(await y.toGPUBuffer());
    const after = eg.webgpuStats();
    assert.equal(after.bytesRead, bytesRead);
    assert.equal(after.readbacks, readbacks);
    assert.ok(after.bytesWritten <= bytesWritten + 8);
    assert.deepEqual(await y.array(), right);
  });

  test("in a bind group, is what a shader of the page reads and writes", async () => {
    const x = onGpu([1, 2, 3, 4]);
    const version = x.version;
    const y = x.square();
    const w = onGpu([1, 1, 1, 1], { requiresGrad: true });
    const product = w.mul(x);
    const resource = await x.toGPUBuffer({ write: true });
    assert.equal(x.version, version + 1);
    const code = `@group(0) @binding(0) var<storage, read_write> x: array<f32>;
      @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { x[i] *= 10; }`;
    const pipeline = device.createComputePipeline({
      layout: "auto",
      compute: { module: device.createShaderModule({ code }), entryPoint: "main" },
    });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    const layout = pipeline.getBindGroupLayout(0);
    pass.setBindGroup(0, device.createBindGroup({ layout, entries: [{ binding: 0, resource }] }));
    pass.dispatchWorkgroups(1);
    pass.end();
    device.queue.submit([encoder.finish()]);
    assert.deepEqual(await x.add(1).array(), [11, 21, 31, 41]);
    assert.deepEqual(await y.array(), [1, 4, 9, 16]);
    assertThrows(() => product.sum().backward(), "ModifiedInPlace");
  });

  test("refuses what cannot be had or written, by name", async () => {
    const x = onGpu([[1, 2], [3, 4]]); // biome-ignore format: a matrix
    const leaf = onGpu([1], { requiresGrad: true });
    const bad = "InvalidArgument";
    await assertRejects(eg.ones([2]).toGPUBuffer(), "DeviceMismatch", /^\[toGPUBuffer\].*webgpu/);
    await assertRejects(x.t().toGPUBuffer({ write: true }), bad, /write: .*strides \[1,2\]/);
    await assertRejects(x.toGPUBuffer({ write: true, copy: true }), bad, /write: .*copy: true/);
    await assertRejects(leaf.toGPUBuffer({ write: true }), bad, /toGPUBuffer.*detach/);
    await assertRejects(x.toGPUBuffer({ write: 1 }), bad, /write: expected true or false/);
    await assertRejects(x.toGPUBuffer({ writes: true }), bad, /"writes"/);
    const failed = x.indexSelect(0, onGpu([7n]));
    await assertRejects(failed.toGPUBuffer(), "IndexOutOfRange", /^\[indexSelect\]/);
    const checked = x.indexSelect(0, onGpu([1n]));
    assert.deepEqual(await floats(await checked.toGPUBuffer()), [3, 4]);
    assert.equal((await leaf.toGPUBuffer()).size, 4);
    x.dispose();
    await assertRejects(x.toGPUBuffer(), "Disposed");
  });

  test("of parameters stays where it is when an optimizer joins them", async () => {
    const parameters = Array.from({ length: 4 }, (_, i) => onGpu([i, i], { requiresGrad: true }));
    const lent = await parameters[1].toGPUBuffer();
    const optimizer = new eg.optim.SGD(parameters, { lr: 0.5 });
    for (let i = 0; i < 3; i++) {
      optimizer.zeroGrad();
      for (const one of parameters) one.sum().backward();
      optimizer.step();
    }
    assert.deepEqual(await parameters[1].array(), [-0.5, -0.5]);
    assert.deepEqual(await floats(lent), [-0.5, -0.5]);
  });

  test("leaves nothing behind", async () => {
    const run = () =>
      eg.scope(async () => {
        const x = from(Float32Array.of(1, 2, 3), { shape: [3] });
        const copy = await x.mul(2).toGPUBuffer({ copy: true });
        assert.deepEqual(await floats(copy), [2, 4, 6]);
        copy.buffer.destroy();
      });
    for (let i = 0; i < 3; i++) await run();
    const before = eg.memory();
    const { buffersCreated } = eg.webgpuStats();
    for (let i = 0; i < 20; i++) await run();
    const { tensors, gpuBytes, jsHandles, gpuBuffers } = eg.memory();
    assert.deepEqual(
      { tensors, gpuBytes, jsHandles, gpuBuffers },
      {
        tensors: before.tensors,
        gpuBytes: before.gpuBytes,
        jsHandles: before.jsHandles,
        gpuBuffers: before.gpuBuffers,
      },
    );
    assert.ok(eg.webgpuStats().buffersCreated <= buffersCreated + 2);
  });
});

describe("without a device of this thread,", { skip }, () => {
  test("buffers are DeviceUnavailable, with advice", async () => {
    await eg.shutdown();
    await eg.init({ webgpu: "required" });
    const buffer = bufferOf(device, Float32Array.of(1));
    assertThrows(
      () => eg.fromGPUBuffer(buffer, { shape: [1] }),
      "DeviceUnavailable",
      /^\[fromGPUBuffer\] .*init\(\{ webgpu: \{ device \} \}\)/,
    );
    await assertRejects(onGpu([1]).toGPUBuffer(), "DeviceUnavailable", /^\[toGPUBuffer\]/);
    await eg.shutdown();
    assertThrows(() => eg.fromGPUBuffer(buffer, { shape: [1] }), "NotInitialized");
    await eg.init({ webgpu: { device } });
  });
});
