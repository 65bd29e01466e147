// init({ webgpu: { device } }): the engine computes on a device that belongs to the page.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import * as eg from "edgegrad";
import { assertRejects, assertTensor } from "../../js/support/assert.mjs";
import { bufferOf, floatsOf, requestDevice, skip } from "../support/page_device.mjs";
import { replacing } from "../support/replacing.mjs";

const onGpu = (data, settings) => eg.tensor(data, { device: "webgpu", ...settings });
const start = (device) => eg.init({ webgpu: { device } });

describe("a device of the page", { skip }, () => {
  after(() => eg.shutdown());

  test("trains, stays alive after shutdown(), and serves the next engine", async () => {
    const device = await requestDevice();
    for (let i = 0; i < 3; i++) {
      await start(device);
      const x = onGpu([1, 2, 3], { requiresGrad: true });
      x.square().sum().backward();
      assert.deepEqual(await x.grad.array(), [2, 4, 6]);
      assert.equal(eg.runtime().webgpu.vendor, "google");
      x.exp()
        .data()
        .catch(() => undefined);
      await eg.shutdown();
    }
    assert.deepEqual(await floatsOf(device, { buffer: bufferOf(device, Float32Array.of(7)) }), [7]);
    device.destroy();
  });

  test("has no buffer of the engine left after shutdown()", async () => {
    const real = await requestDevice();
    const alive = new Set();
    const createBuffer = (given) => {
      const buffer = real.createBuffer(given);
      alive.add(buffer);
      const { destroy } = buffer;
      buffer.destroy = () => {
        alive.delete(buffer);
        destroy.call(buffer);
      };
      return buffer;
    };
    await start(replacing(real, { createBuffer: () => createBuffer }));
    const model = new eg.nn.Linear(3, 2).to("webgpu");
    const optimizer = new eg.optim.Adam(model.parameters());
    const step = eg.capture(
      (x) => {
        optimizer.zeroGrad();
        model.call(x).square().sum().backward();
        optimizer.step();
        return model.weight.detach().clone();
      },
      onGpu([[1, 2, 3]]),
    );
    for (let i = 0; i < 3; i++) await step(onGpu([[1, 2, 3]])).data();
    assert.ok(alive.size > 5);
    await eg.shutdown();
    for (let i = 0; i < 100 && alive.size > 0; i++) await new Promise(setImmediate);
    assert.equal(alive.size, 0);
    real.destroy();
  });

  test("that is lost is noticed, and another one takes its place", async () => {
    const [first, second] = [await requestDevice(), await requestDevice()];
    await start(first);
    await start(first);
    await eg.init({ webgpu: "required" });
    await assertRejects(start(second), "InvalidArgument", /webgpu\.device: .*another device/);
    const x = onGpu([1, 2]);
    const lost = eg.deviceLost();
    first.destroy();
    assert.equal((await lost).code, "DeviceLost");
    await assertRejects(eg.init(), "InvalidArgument", /webgpu\.device: the device is lost/);
    await start(second);
    await assertRejects((async () => x.data())(), "DeviceLost");
    assertTensor(
      await onGpu([1, 2])
        .mul(2)
        .array()
        .then((y) => eg.tensor(y)),
      [2, 4],
    );
    await eg.shutdown();
    await assertRejects(start(first), "InvalidArgument", /webgpu\.device: the device is lost/);
  });

  test("that cannot be used is refused by the name of what is missing", async () => {
    const real = await requestDevice();
    const limits = {};
    for (const name in real.limits) limits[name] = real.limits[name];
    const less = { ...limits, maxStorageBuffersPerShaderStage: 4, maxBufferSize: 1000 };
    for (const [device, pattern] of [
      [undefined, /webgpu: expected .*\{ device \}.*, got an object of class Object/],
      [7, /webgpu: expected .*\{ device \}/],
      [{}, /webgpu\.device: expected a GPUDevice, got an object of class Object without \w+\(\)/],
      [replacing(real, { features: () => undefined }), /webgpu\.device: .* without features/],
      [replacing(real, { limits: () => ({}) }), /webgpu\.device: .* without limits\.maxBufferSize/],
      [replacing(real, { queue: () => null }), /webgpu\.device: .* without queue/],
      [
        replacing(real, { limits: () => less }),
        /maxBufferSize of 1000 \(268435456 needed\) and a maxStorageBuffersPerShaderStage of 4 \(8 needed\).*requiredLimits/,
      ],
    ]) {
      await assertRejects(start(device), "InvalidArgument", pattern);
    }
    await assertRejects(eg.init({ webgpu: {} }), "InvalidArgument", /webgpu: expected/);
    await assertRejects(
      eg.init({ webgpu: { device: real, other: 1 } }),
      "InvalidArgument",
      /webgpu: expected/,
    );
    await eg.init({ threads: 1 });
    await assertRejects(start(real), "InvalidArgument", /webgpu\.device: .*shutdown/);
    assert.equal(eg.ones([2]).sum().item(), 2);
    await eg.shutdown();
    real.destroy();
  });
});
