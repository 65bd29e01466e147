// init() with a signal: the call rejects, and a start that nobody waits for any more is abandoned, whatever it waits for.

import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import * as eg from "edgegrad";
import { until } from "../../support/until.mjs";
import { assertRejects } from "../support/assert.mjs";
import { assertNoListeners, assertRejectsWith, kReasons } from "../support/signals.mjs";

const kReason = new Error("the user has gone to another page");
const kNever = new Promise(() => {});

const assertStopped = () => assert.throws(() => eg.ones([1]), { code: "NotInitialized" });
const assertWorks = () => assert.equal(eg.ones([3]).sum().item(), 3);

/** The workers that exist. */
const workers = new Set();
process.on("worker", (worker) => {
  workers.add(worker);
  worker.once("exit", () => workers.delete(worker));
});

describe("init with a signal", () => {
  afterEach(async () => {
    await eg.shutdown();
    await until("end of all workers", () => workers.size === 0);
  });

  test("that has been given rejects with its reason, whatever that is, and starts nothing", async () => {
    for (const reason of kReasons) {
      await assertRejectsWith(eg.init({ signal: AbortSignal.abort(reason) }), reason);
      assertStopped();
    }
    assert.equal(workers.size, 0);
    await assertRejects(
      eg.init({ signal: new AbortController() }),
      "InvalidArgument",
      /\[init\] signal: expected an AbortSignal/,
    );
  });

  for (const variant of ["simd", "single"]) {
    test(`may be given at any moment of the start of ${variant}`, async () => {
      const threads = variant === "single" ? 1 : 3;
      let rejected = 0;
      for (let turns = 0; turns < 40; turns++) {
        const controller = new AbortController();
        const { signal } = controller;
        const outcome = eg.init({ variant, threads, signal }).then(
          () => "started",
          (error) => error,
        );
        for (let i = 0; i < turns; i++) await new Promise(setImmediate);
        controller.abort(kReason);
        const end = await outcome;
        assertNoListeners(signal);
        if (end === "started") break;
        rejected++;
        assert.equal(end, kReason);
        assertStopped();
      }
      assert.ok(rejected > 0);
      await eg.init({ variant, threads });
      assertWorks();
    });
  }

  const kEndless = {
    "a file that never comes": { variant: "simd", threads: 2, wasmModule: kNever },
    "a device that never opens": {
      threads: 2,
      webgpu: "required",
      gpu: { requestAdapter: () => kNever },
    },
  };
  for (const [what, options] of Object.entries(kEndless)) {
    test(`abandons a start that waits for ${what}, and the next one works`, async () => {
      const controller = new AbortController();
      const first = eg.init({ ...options, signal: controller.signal });
      await new Promise(setImmediate);
      controller.abort(kReason);
      const second = eg.init({ threads: 2 });
      await assertRejectsWith(first, kReason);
      await second;
      assertWorks();
    });
  }

  test("abandons a start whose device comes when another engine runs", async () => {
    let answer;
    const adapter = new Promise((resolve) => {
      answer = resolve;
    });
    let isAsked = false;
    const requestAdapter = () => {
      isAsked = true;
      return adapter;
    };
    const controller = new AbortController();
    const options = { threads: 2, webgpu: "required", gpu: { requestAdapter } };
    const first = eg.init({ ...options, signal: controller.signal });
    await until("request for an adapter", () => isAsked);
    controller.abort(kReason);
    await assertRejectsWith(first, kReason);
    await eg.init({ threads: 2 });
    answer(null);
    await new Promise(setImmediate);
    assertWorks();
  });

  test("ends only its own call of those that share a start", async () => {
    const controller = new AbortController();
    const calls = [
      eg.init({ threads: 2 }),
      eg.init({ threads: 2, signal: controller.signal }),
      eg.init({ signal: controller.signal }),
    ];
    controller.abort(kReason);
    await assertRejectsWith(calls[1], kReason);
    await assertRejectsWith(calls[2], kReason);
    await calls[0];
    assertWorks();
  });

  test("abandons the start that calls share when all of them have been ended", async () => {
    const controllers = [new AbortController(), new AbortController()];
    const calls = controllers.map(({ signal }) => eg.init({ threads: 2, signal }));
    controllers[0].abort(1);
    await assertRejectsWith(calls[0], 1);
    controllers[1].abort(2);
    await assertRejectsWith(calls[1], 2);
    assertStopped();
  });

  test("has no effect on an engine that runs, and leaves nothing behind", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    await eg.init({ threads: 2 });
    for (let i = 0; i < 1000; i++) await eg.init({ signal });
    assertNoListeners(signal);
    controller.abort(kReason);
    await assertRejectsWith(eg.init({ signal }), kReason);
    assertWorks();
  });
});
