// Operations of the CPU that are pending when the engine or the process ends: each promise settles, and no rejection is unhandled.
// tests/webgpu/device/pending_ends.test.mjs has those of the device.

import { describe } from "node:test";
import { testEnds } from "../support/pending_ends.mjs";

const here = (file) => JSON.stringify(new URL(file, import.meta.url).href);
const kModule = here("../support/spawn_module.mjs");
const kScript = here("../support/exposed_worker.mjs");

const kLong = `
  const x = eg.rand([100, 100], { requiresGrad: true });
  let y = x;
  for (let i = 0; i < 100; i++) y = y.matmul(x).mul(0.01);
  const loss = y.sum();`;

const kShutDown = ["Internal", "NotInitialized"];

const kWithoutThreads = {
  "backwardAsync()": { code: `${kLong} await loss.backwardAsync();`, settles: ["Internal"] },
  "a backwardAsync() with a signal": {
    code: `${kLong} const { signal } = new AbortController();
      await loss.backwardAsync(null, { signal });`,
    settles: ["Internal"],
  },
  "a backwardAsync() that was aborted": {
    code: `${kLong} const controller = new AbortController();
      const call = loss.backwardAsync(null, { signal: controller.signal });
      controller.abort(new eg.EdgeGradError("InvalidArgument", "aborted"));
      await call;`,
    settles: ["InvalidArgument"],
  },
  "gradAsync()": { code: `${kLong} await eg.autograd.gradAsync(loss, x);`, settles: ["Internal"] },
  "gradAsync() in a hook": {
    code: `${kLong}
      x.registerHook(() => {
        eg.autograd.gradAsync(eg.ones([2], { requiresGrad: true }).sum(), []).catch(() => {});
      });
      await loss.backwardAsync();`,
    settles: ["Internal"],
  },
  "a pass over a DataLoader": {
    code: `const data = { length: 50, get: async (i) => {
        await new Promise(setImmediate);
        return eg.full([2], i);
      } };
      for await (const batch of new eg.data.DataLoader(data, { batchSize: 2, prefetch: 3 })) {
        batch.sum().item();
      }`,
    settles: kShutDown,
  },
  "warmup()": {
    code: "await eg.warmup(async () => { for (;;) { eg.ones([2]); await new Promise(setImmediate); } });",
    settles: kShutDown,
    isEndless: true,
  },
  "fit()": {
    code: `const { fit } = await import("edgegrad/transformers");
      const model = new eg.nn.Linear(2, 1);
      const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.1 });
      const lossOf = (model, x) => model.call(x).square().mean();
      const loader = Array.from({ length: 200 }, () => eg.ones([4, 2]));
      await fit(model, loader, { optimizer, lossOf });`,
    settles: [...kShutDown, "Disposed"],
  },
  "a second init()": { code: "await eg.init();", settles: [] },
};

const kWithThreads = {
  "spawn() of a function at work": {
    code: `const running = eg.zeros([1]);
      await eg.spawn(${kModule}, "busyForever", running);`,
    settles: ["Internal"],
    isEndless: true,
  },
  "spawn() that is queued": {
    code: `await Promise.all([1, 2, 3].map((i) => eg.spawn(${kModule}, "later", eg.ones([i]))));`,
    settles: ["Internal"],
  },
  "spawn() in a worker": {
    code: `await eg.spawn(${kModule}, "fibonacci", 5);`,
    settles: ["Internal"],
  },
  "spawn() on a worker of one's own": {
    code: `const worker = new Worker(new URL(${kScript}), { execArgv: [] });
      await eg.spawn(worker, "twice", eg.ones([3]));`,
    settles: ["Internal"],
  },
  "spawn() with a signal": {
    code: `const { signal } = new AbortController();
      await eg.spawn(${kModule}, "later", eg.ones([3]), { signal });`,
    settles: ["Internal"],
  },
  "spawn() that was aborted at work": {
    code: `const controller = new AbortController();
      const call = eg.spawn(${kModule}, "busyForever", eg.zeros([1]), { signal: controller.signal });
      controller.abort(new eg.EdgeGradError("InvalidArgument", "aborted"));
      await call;`,
    settles: ["InvalidArgument"],
  },
};

describe("without threads", { concurrency: 2 }, () => {
  testEnds('await eg.init({ variant: "single" });', kWithoutThreads);
});

describe("with threads", { concurrency: 2 }, () => {
  const start = "await eg.init({ threads: 2, spawnWorkers: 1 });";
  testEnds(start, { ...kWithoutThreads, ...kWithThreads });
});
