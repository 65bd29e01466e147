// Operations of the device that are pending when the engine, the device or the process ends: each promise settles, and no rejection
// is unhandled. tests/js/engine/pending_ends.test.mjs has those of the CPU.

import { describe } from "node:test";
import { kDeviceLoss, testEnds } from "../../js/support/pending_ends.mjs";
import { options } from "../support/engine.mjs";

const here = (file) => JSON.stringify(new URL(file, import.meta.url).href);

const kX = 'const x = eg.tensor([1, 2, 3], { device: "webgpu", requiresGrad: true });';

const kSettles = ["Internal", "NotInitialized", "DeviceLost", "Disposed", "DeviceUnavailable"];

const kOperations = {
  "a read": "await x.mul(2).data();",
  "many reads": "await Promise.all([...Array(20).keys()].map((i) => x.mul(i).sum().itemAsync()));",
  "a read for which a shader is compiled": "await x.tanh().cumsum(0).softmax(0).array();",
  "a read that nobody waits for": "x.mul(2).data().catch(() => {});",
  "backwardAsync()": "await x.exp().sum().backwardAsync();",
  "gradAsync() and a read":
    "const [g] = await eg.autograd.gradAsync(x.exp().sum(), x); await g.data();",
  "a captured function": `const step = eg.capture((a) => a.square().sum(), x.detach());
    for (let i = 0; i < 5; i++) await step(x.detach()).itemAsync();`,
  "warmup()": "await eg.warmup(() => x.sinh().sum().backward(), { restore: [x] });",
  "a pass over a DataLoader": `const data = { length: 6, get: (i) => x.detach().mul(i) };
    for await (const batch of new eg.data.DataLoader(data, { batchSize: 2, prefetch: 1 })) {
      await batch.sum().itemAsync();
    }`,
  "fit()": `const { fit } = await import("edgegrad/transformers");
    const model = new eg.nn.Linear(3, 1).to("webgpu");
    const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.1 });
    const lossOf = (model, row) => model.call(row).square().mean();
    await fit(model, [1, 2, 3].map((i) => x.detach().mul(i).reshape(1, 3)), { optimizer, lossOf });`,
  "a second init()": 'await eg.init({ webgpu: "required" });',
};

const table = Object.fromEntries(
  Object.entries(kOperations).map(([name, code]) => [
    name,
    { code: `${kX} ${code}`, settles: kSettles },
  ]),
);

for (const variant of ["simd", "single"]) {
  describe(`on a GPU that init() is given, in ${variant}`, options, () => {
    const start = `
      const { gpu } = await import(${here("../support/own_gpu.mjs")});
      await eg.init({ variant: "${variant}", webgpu: "required", gpu });
      return { gpu };`;
    testEnds(start, table, kDeviceLoss);
  });
}

describe("on the device of the GPU's thread", options, () => {
  const start = `
    const { preferSoftwareAdapter } = await import(${here("../support/software_adapter.mjs")});
    preferSoftwareAdapter();
    await eg.init({ threads: 2, webgpu: "required" });`;
  testEnds(start, {
    ...table,
    "spawn() of a function that reads": {
      code: `${kX} const running = eg.zeros([]);
        await eg.spawn(${here("../support/worker_module.mjs")}, "readForever", x, running);`,
      settles: ["Internal"],
      isEndless: true,
    },
  });
});
