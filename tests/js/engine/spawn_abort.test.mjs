// spawn() with { signal }: which function is stopped, what happens to others, and what is left behind.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import * as eg from "edgegrad";
import { until } from "../../support/until.mjs";
import { assertRejects, assertTensor } from "../support/assert.mjs";
import { untilCollected } from "../support/collect_garbage.mjs";
import {
  assertNoListeners,
  assertRejectsWith,
  ForeignSignal,
  kReasons,
} from "../support/signals.mjs";

const kModule = new URL("../support/spawn_module.mjs", import.meta.url).href;
const kScript = new URL("../support/exposed_worker.mjs", import.meta.url);
const run = (name, ...args) => eg.spawn(kModule, name, ...args);
const times = (count, fn) => Array.from({ length: count }, (_, i) => fn(i));

const kReason = new Error("not needed any more");

const heldNow = () => {
  const { tensors, storages, cpuBytes, jsHandles } = eg.memory();
  return { tensors, storages, cpuBytes, jsHandles };
};

/** Resolves when as much is held as it was. */
function untilHeld(before) {
  const isBack = () => isDeepStrictEqual(heldNow(), before);
  const shown = JSON.stringify;
  return untilCollected(() => `${shown(before)} again; it is ${shown(heldNow())}`, isBack);
}

describe("spawn with a signal", () => {
  before(() => eg.init({ threads: 1, spawnWorkers: 1 }));
  after(() => eg.shutdown());

  /** Starts a function that never returns, and resolves once it is at work. */
  async function busy(where, ...rest) {
    const running = eg.zeros([1]);
    const call = eg.spawn(where, "busyForever", running, ...rest);
    call.catch(() => undefined);
    await until("function at work", () => running.item() === 1);
    running.dispose();
    return { call };
  }

  test("that has been given rejects with its reason, whatever that is, and starts nothing", async () => {
    const start = heldNow();
    let workers = 0;
    const count = () => workers++;
    process.on("worker", count);
    for (const reason of kReasons) {
      const signal = AbortSignal.abort(reason);
      await assertRejectsWith(run("same", eg.ones([2]), { signal }), reason);
      assertNoListeners(signal);
    }
    process.off("worker", count);
    assert.equal(workers, 0);
    await untilHeld(start);
  });

  test("stops a function that computes, and no other call", async () => {
    const start = heldNow();
    const controller = new AbortController();
    const { call } = await busy(kModule, { signal: controller.signal });
    const others = times(3, (i) => run("later", [i, eg.ones([100])]));
    controller.abort(kReason);
    await assertRejectsWith(call, kReason);
    for (const [[i, tensor]] of await Promise.all(others)) {
      assert.ok(i < 3);
      tensor.dispose();
    }
    assertNoListeners(controller.signal);
    await untilHeld(start);
  });

  test("takes a call from the queue", async () => {
    const start = heldNow();
    const [first, second] = [new AbortController(), new AbortController()];
    const { call } = await busy(kModule, { signal: first.signal });
    const queued = times(3, () => run("same", eg.ones([100]), { signal: second.signal }));
    second.abort(5);
    for (const one of queued) await assertRejectsWith(one, 5);
    first.abort(6);
    await assertRejectsWith(call, 6);
    assert.equal(await run("same", 1), 1);
    await untilHeld(start);
  });

  test("takes a call back that has just been sent", async () => {
    const start = heldNow();
    const count = new Int32Array(new SharedArrayBuffer(4));
    await run("thread");
    const foreign = new ForeignSignal();
    const call = run("counting", eg.ones([10]), count, { signal: foreign });
    foreign.abort("at once");
    await assertRejectsWith(call, "at once");
    assert.equal(foreign.listeners.size, 0);
    await untilHeld(start);
  });

  test("leaves workers that work, when the answer comes while its worker is ended", async () => {
    const start = heldNow();
    for (let i = 0; i < 30; i++) {
      const count = new Int32Array(new SharedArrayBuffer(4));
      const foreign = new ForeignSignal();
      const call = run("counting", eg.ones([10]), count, { signal: foreign });
      while (Atomics.load(count, 0) === 0); // The answer comes soon, and this thread does not receive it yet.
      foreign.abort("too late");
      await assertRejectsWith(call, "too late");
      assert.equal(await run("same", i), i);
    }
    await untilHeld(start);
  });

  test("works for calls of functions in workers", async () => {
    const start = heldNow();
    const codes = await run("abortsOthers", eg.ones([50]));
    assert.deepEqual(codes, ["given before", "while queued", "while at work"]);
    assert.equal(await run("fibonacci", 4), 3);
    await untilHeld(start);
  });

  test("is an argument like any other unless it is an AbortSignal alone", async () => {
    const [a, b] = await run("same", [1, { signal: 2 }]);
    assert.deepEqual([a, b], [1, { signal: 2 }]);
    for (const last of [{ signal: 3 }, { signal: undefined }, { signal: { aborted: true } }]) {
      assert.deepEqual(await run("lastOf", 1, last), last);
    }
    assert.equal(await run("lastOf", 1, { signal: new AbortController().signal }), 1);
    const more = { signal: new AbortController().signal, timeout: 1 };
    assert.deepEqual(Object.keys(await run("lastOf", 1, more)), ["signal", "timeout"]);
  });

  test("that outlives 1,000 calls holds nothing of them", async () => {
    const { signal } = new AbortController();
    const start = heldNow();
    for (let i = 0; i < 100; i++) {
      const all = times(10, (j) => run("same", eg.full([3], j), { signal }));
      for (const tensor of await Promise.all(all)) tensor.dispose();
    }
    assertNoListeners(signal);
    await untilHeld(start);
  });

  test("ends a worker of one's own whose function has begun", async () => {
    const start = heldNow();
    const worker = new Worker(kScript, { type: "module" });
    const controller = new AbortController();
    const { call } = await busy(worker, { signal: controller.signal });
    const other = eg.spawn(worker, "twice", eg.ones([5]));
    controller.abort(kReason);
    await assertRejectsWith(call, kReason);
    await assertRejects(other, "Internal", /aborted by its signal/);
    await assertRejects(eg.spawn(worker, "thread"), "Internal", /aborted by its signal/);
    await untilHeld(start);
  });

  test("takes a call back from a worker of one's own that is at work for another", async () => {
    const start = heldNow();
    const worker = new Worker(kScript, { type: "module" });
    const [flag, running] = [eg.zeros([1]), eg.zeros([1])];
    const first = eg.spawn(worker, "busy", running, flag);
    await until("function at work", () => running.item() === 1);
    const controller = new AbortController();
    const second = eg.spawn(worker, "twice", eg.ones([5]), { signal: controller.signal });
    const third = eg.spawn(worker, "twice", eg.ones([1]));
    controller.abort(kReason);
    await assertRejectsWith(second, kReason);
    flag.fill_(1);
    assert.equal(await first, "done");
    const { doubled, list } = await third;
    assertTensor(doubled, [2]);
    for (const one of [doubled, list[0], flag, running]) one.dispose();
    worker.terminate();
    await untilHeld(start);
  });
});
