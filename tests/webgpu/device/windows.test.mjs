// Tensors larger than what the GPU binds at once: a device that says it binds 64 KiB.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as eg from "edgegrad";
import { assertClose } from "../../js/support/assert.mjs";
import { gpu } from "../support/own_gpu.mjs";
import { replacing } from "../support/replacing.mjs";

const limited = {
  async requestAdapter(options) {
    const adapter = await gpu.requestAdapter(options);
    const requestDevice = async (descriptor) => {
      const device = await adapter.requestDevice(descriptor);
      const most = { maxStorageBufferBindingSize: () => 2 ** 16 };
      return replacing(device, { limits: () => replacing(device.limits, most) });
    };
    return { ...adapter, requestDevice };
  },
};

await eg.init({ gpu: limited, webgpu: "required" });
const x = eg.randn([400, 300], { device: "webgpu", requiresGrad: true });
const here = eg
  .tensor(await x.data())
  .reshape([400, 300])
  .requiresGrad_();
const kTolerance = { rtol: 1e-4, atol: 1e-3 };

const kWorks = {
  formulas: (t) => t.mul(2).relu().sub(t.square()),
  "rows and numbers": (t) => t.add(eg.arange(300, { dtype: "float32", device: t.device })).div(3),
  "rows of the same tensor": (t) => t.add(t.select(0, 1)).mul(t.narrow(0, 399, 1)),
  "a tensor and itself in another order": (t) =>
    t.sub(t.flip(0)).add(t.select(0, 200)).add(t.roll(3, 0)),
  sums: (t) => eg.cat([t.sum(0), t.sum(1), t.sum().reshape([1]), t.std().reshape([1])]),
  extremes: (t) => t.amax(1),
  copies: (t) => eg.cat([t.t().contiguous(), t.t()], 1),
  dtypes: (t) => t.mul(100).to("int32").to("float32"),
};

for (const [name, run] of Object.entries(kWorks))
  test(`${name} are computed in windows`, async () => {
    assertClose(await run(x.detach()).data(), run(here.detach()).dataSync(), kTolerance);
  });

test("backward, too", async () => {
  const loss = (t) => t.mul(2).relu().square().mean();
  loss(x).backward();
  loss(here).backward();
  assertClose(await x.grad.data(), here.grad.dataSync(), kTolerance);
});

test("other operations are OutOfMemory with the numbers, and steps too: weights stay unread", async () => {
  const bytes = /4\d{5} bytes.* at once.* binds 65536: use smaller/;
  const fails = (read, op) =>
    assert.rejects(read, (error) => {
      assert.equal(error.code, "OutOfMemory");
      assert.match(error.message, new RegExp(`^\\[${op}\\].*`));
      assert.match(error.message, bytes);
      return true;
    });
  console.warn = () => {};
  await fails(x.detach().softmax(1).data(), "softmax");
  await fails(
    x
      .detach()
      .matmul(eg.ones([300, 2], { device: "webgpu" }))
      .data(),
    "matmul|matrixProduct",
  );
  const weight = x.detach().clone().requiresGrad_();
  weight.grad = x.detach().clone();
  new eg.optim.SGD([weight], { lr: 0.1 }).step();
  await fails(weight.data(), "sgdStep|SGD");
  assert.equal((await x.data()).length, 120_000);
});
