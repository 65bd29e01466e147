// Workers that are terminated at any moment leave no lock held, no wrong value and no memory behind.
// EG_KILLS=1000 ends as many.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { soon, until } from "../../support/until.mjs";
import { assertTensor } from "../support/assert.mjs";
import { collectGarbage, untilCollected } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const kKills = Number(process.env.EG_KILLS ?? 40);
const kScript = new URL("../support/busy_worker.mjs", import.meta.url);
const workers = [];

function makeWorker() {
  const worker = new Worker(kScript, { execArgv: [] });
  workers.push(worker);
  return worker;
}

function trainHere() {
  eg.scope(() => {
    const x = eg.ones([4, 4], { requiresGrad: true });
    x.mul(2)
      .matmul(eg.ones([4, 4]))
      .square()
      .sum()
      .backward();
    assert.equal(x.grad.sum().item(), 16 * 4 * 2 * 2 * 2 * 4);
  });
}

const nothing = () => undefined;

// Trains here for a random time, which ends in the middle of whatever the worker does.
async function trainAWhile() {
  const steps = Math.floor(Math.random() * 60);
  for (let step = 0; step < steps; step++) {
    trainHere();
    if (Math.random() < 0.2) await new Promise(setImmediate);
  }
}

async function endWorker(worker, job, end) {
  const runs = eg.zeros([1]);
  const failed = eg.spawn(worker, job, eg.ones([4, 4]), runs).then(
    () => assert.fail("the function does not return"),
    (error) => assert.equal(error.code, "Internal"),
  );
  await until("the function", () => runs.item() === 1);
  runs.dispose();
  await trainAWhile();
  await soon("the end of the worker", end(worker));
  await soon("the rejection", failed);
}

describe("workers that end", () => {
  before(async () => {
    await eg.shutdown();
    await eg
      .init({ threads: 2, memory: { maximum: 128 * 2 ** 20 } })
      .catch(() => eg.init({ threads: 2 }));
  });
  after(async () => {
    await eg.shutdown();
    // Of a test that failed: it would keep the process running.
    await Promise.all(workers.map((worker) => worker.terminate()));
  });

  test(`are terminated ${kKills} times, with nothing left`, async () => {
    const kEnds = {
      trainForever: (worker) => worker.terminate(),
      trainAndAwaitForever: (worker) => worker.terminate(),
    };
    for (let kill = 0; kill < kKills; kill++) {
      const job = Math.random() < 0.5 ? "trainForever" : "trainAndAwaitForever";
      await endWorker(makeWorker(), job, kEnds[job]);
      trainHere();
    }
    const { endedWorkerBytes, endedWorkerHandles } = eg.memory();
    assert.deepEqual(
      { endedWorkerBytes, endedWorkerHandles },
      { endedWorkerBytes: 0, endedWorkerHandles: 0 },
    );
  });

  test("by process.exit()", async () => {
    for (const job of ["exitInTurn", "exitInHook"]) {
      await endWorker(makeWorker(), job, nothing);
      trainHere();
    }
    assert.ok(eg.memory().endedWorkerBytes > 0, "a stack with calls that never returned is lost");
  });

  test("give back the handles that their hooks were given", async () => {
    await collectGarbage();
    const { jsHandles, tensors } = eg.memory();
    for (let round = 0; round < 5; round++) {
      const worker = makeWorker();
      const x = eg.ones([1000], { requiresGrad: true });
      const y = await eg.spawn(worker, "hooked", x);
      for (let call = 0; call < 5; call++) y.sum().backward(null, { retainGraph: true });
      assertTensor(x.grad.narrow(0, 0, 1), [10]);
      await soon("the end of the worker", worker.terminate());
      for (const tensor of [x, y]) tensor.dispose();
    }
    await untilCollected("handles and tensors", () => {
      const now = eg.memory();
      return now.jsHandles <= jsHandles && now.tensors <= tensors;
    });
  });
});
