// spawn() in the engine's own workers: their number, calls that wait for each other, and values that cannot be sent.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import * as eg from "edgegrad";
import { until } from "../../support/until.mjs";
import { assertRejects, assertTensor } from "../support/assert.mjs";
import { runProgram } from "../support/child.mjs";
import { collectGarbage, untilCollected } from "../support/collect_garbage.mjs";
import { endIdle } from "../support/idle_workers.mjs";
import { kThrownKinds, kUnsendable } from "../support/spawn_module.mjs";

const kModule = new URL("../support/spawn_module.mjs", import.meta.url).href;
const run = (name, ...args) => eg.spawn(kModule, name, ...args);
const times = (count, fn) => Array.from({ length: count }, (_, i) => fn(i));

const kWorkers = 2;

const heldNow = () => {
  const { tensors, storages, cpuBytes, jsHandles } = eg.memory();
  return { tensors, storages, cpuBytes, jsHandles };
};

/** Returns what is held when no worker is about to release anything. */
async function held() {
  // After answering, a worker frees the tensors of its function before it runs another. All of them run one here.
  await Promise.all(times(kWorkers, () => run("thread")));
  await collectGarbage();
  return heldNow();
}

/** Resolves when as much is held as it was. */
function untilHeld(before) {
  const isBack = () => isDeepStrictEqual(heldNow(), before);
  const shown = JSON.stringify;
  return untilCollected(() => `${shown(before)} again; it is ${shown(heldNow())}`, isBack);
}

/** Runs a program with an engine and returns the JSON values that it prints, one per line. */
async function printed(options, text) {
  const { status, stdout, stderr } = await runProgram(`
    import { Clock } from "./tests/js/support/clock.mjs";
    import * as eg from "edgegrad";
    const print = (value) => console.log(JSON.stringify(value ?? null));
    const run = (name, ...args) => eg.spawn(${JSON.stringify(kModule)}, name, ...args);
    const times = (count, fn) => Array.from({ length: count }, (_, i) => fn(i));
    await eg.init(${JSON.stringify(options)});
    ${text}`);
  assert.equal(status, 0, stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("functions that call spawn", () => {
  before(() => eg.init({ threads: 1, spawnWorkers: kWorkers }));
  after(() => eg.shutdown());

  test("get their turn, however many wait for each other", async () => {
    assert.equal(await run("fibonacci", 8), 21);
    assertTensor(await run("doubled", eg.ones([2]), 12), [4096, 4096]);
    const all = await Promise.all(times(8, (i) => run("fibonacci", i)));
    assert.deepEqual(all, [0, 1, 1, 2, 3, 5, 8, 13]);
  });

  test("have results that belong to the scope of the call, in workers too", async () => {
    const x = eg.ones([2]);
    await run("doubled", x, 2);
    await collectGarbage();
    const { jsHandles } = eg.memory();
    await eg.scope(async () => {
      assertTensor(await run("doubled", x, 3), [8, 8]);
    });
    // No more than this, even without garbage collection: after answering, workers free the tensors of their functions.
    await until(
      () => `${jsHandles} handles again; there are ${eg.memory().jsHandles}`,
      () => eg.memory().jsHandles <= jsHandles,
    );
  });

  test("are told what went wrong, as it is here", async () => {
    const x = eg.ones([2, 2]);
    assert.match(await run("outcomeOf", "shapeError", x), /^EdgeGradError ShapeMismatch/);
    assert.match(await run("outcomeOf", "missing"), /^EdgeGradError InvalidArgument .*no function/);
    assert.match(await run("outcomeOf", "die"), /^EdgeGradError Internal .*ended before/);
    assert.match(await run("outcomeOf", 3), /^EdgeGradError InvalidArgument .*name/);
    assert.match(await run("outcomeOf", "returns", "symbol"), /InvalidArgument .*cannot be sent/);
  });
});

describe("spawn", () => {
  // Without functions that call spawn there are never more workers.
  before(() => eg.init({ threads: 1, spawnWorkers: kWorkers }));
  after(() => eg.shutdown());

  test("keeps as many workers busy as init({ spawnWorkers }) says", async () => {
    const answers = await Promise.all(times(60, (i) => run("later", i)));
    assert.deepEqual(
      answers.map(([i]) => i),
      times(60, (i) => i),
    );
    assert.equal(new Set(answers.map(([, thread]) => thread)).size, 2);
  });

  test("sends what its arguments were when it was called, though their turn comes later", async () => {
    const [list, x] = [[1, 2], eg.ones([2])];
    const jobs = times(6, () => run("later", [list, x]));
    list.push(3);
    x.dispose();
    for (const [[sent, tensor]] of await Promise.all(jobs)) {
      assert.deepEqual(sent, [1, 2]);
      assertTensor(tensor, [1, 1]);
    }
  });

  test("drops the requests of a worker that has ended", async () => {
    const x = eg.ones([1000]);
    const start = await held();
    for (let i = 0; i < 3; i++) await assertRejects(run("dieAsking", x), "Internal", /ended/);
    await Promise.all(times(4, () => run("later", 1)));
    await untilHeld(start);
  });

  test("continues with queued calls when workers end", async () => {
    const ends = await Promise.allSettled(
      times(30, (i) => (i % 5 === 0 ? run("die") : run("later", i))),
    );
    ends.forEach(({ status }, i) => {
      assert.equal(status, i % 5 === 0 ? "rejected" : "fulfilled");
    });
  });

  test("gives the call of a worker that has ended while it was idle to another", async () => {
    const start = await held();
    for (const count of [1, kWorkers]) {
      await endIdle(count);
      const [x, list] = [eg.ones([1000]), [1, 2]];
      const call = run("same", [x, list, { x }]);
      list.push(3);
      x.dispose();
      const [first, numbers, { x: second }] = await call;
      assert.deepEqual(numbers, [1, 2]);
      for (const tensor of [first, second]) {
        assert.equal(tensor.sum().item(), 1000);
        tensor.dispose();
      }
    }
    await untilHeld(start);
  });

  test("does not give it to another if somebody may have changed what was sent", async () => {
    await endIdle(kWorkers);
    await assertRejects(run("same", new Float32Array(3)), "Internal", /ended before/);
  });

  test("never runs a function again that has begun", async () => {
    const start = await held();
    const count = new Int32Array(new SharedArrayBuffer(4));
    for (const calls of [1, 2]) {
      await assertRejects(run("dieCounting", eg.ones([9]), count), "Internal", /ended before/);
      assert.equal(count[0], calls);
    }
    await untilHeld(start);
  });

  test("refuses a name that is none", async () => {
    for (const name of [undefined, null, 3, Symbol("f"), {}, () => 1]) {
      await assertRejects(run(name), "InvalidArgument", /\[spawn\] name: expected a string/);
    }
  });

  for (const kind of Object.keys(kUnsendable)) {
    test(`gives everything back where an argument cannot be sent: ${kind}`, async () => {
      const x = eg.ones([100]);
      const make = kUnsendable[kind];
      const one = await run("thread");
      const start = await held();
      const forms = [
        () => [x, make()],
        () => [[x, { deep: make(), x }]],
        () => [x, { x }, [make(), x]],
      ];
      for (const form of forms) {
        for (let i = 0; i < 5; i++) {
          const end = await run("same", ...form()).then(
            () => "resolved",
            () => "rejected",
          );
          assert.equal(end, "rejected");
        }
        // Also while both workers are busy.
        const all = [run("later", 1), run("later", 2), ...times(3, () => run("same", ...form()))];
        const ends = (await Promise.allSettled(all)).map(({ status }) => status);
        assert.deepEqual(ends, ["fulfilled", "fulfilled", "rejected", "rejected", "rejected"]);
      }
      await untilHeld(start);
      const threads = await Promise.all(times(10, () => run("later", 1)));
      assert.ok(new Set([one, ...threads.map(([, thread]) => thread)]).size <= 2);
    });

    test(`gives everything back where a result cannot be sent: ${kind}`, async () => {
      const start = await held();
      for (let i = 0; i < 10; i++) {
        const end = await run("returns", kind).then(
          () => "resolved",
          () => "rejected",
        );
        assert.equal(end, "rejected");
      }
      await untilHeld(start);
    });
  }

  for (const kind of kThrownKinds) {
    test(`rejects with what is thrown or, where that cannot be sent, with what it says: ${kind}`, async () => {
      const start = await held();
      const ends = await Promise.allSettled(times(6, () => run("throws", kind)));
      assert.ok(ends.every(({ status }) => status === "rejected"));
      await untilHeld(start);
      assert.equal(typeof (await run("thread")), "number");
    });
  }

  test("rejects with a primitive value as it was thrown, and says what a symbol is", async () => {
    const thrown = (kind) =>
      run("throws", kind).then(
        () => assert.fail(),
        (error) => error,
      );
    assert.equal(await thrown("null"), null);
    assert.equal(await thrown("undefined"), undefined);
    assert.equal(await thrown("bigint"), 5n);
    assert.match((await thrown("symbol")).message, /Symbol\(thrown\)/);
    assert.match((await thrown("revoked")).message, /neither sent nor described/);
  });
});

// In a program: the time after which a worker without work ends, a clock for it, and the workers that there are.
const kIdleClock = `
  const { until } = await import("./tests/support/until.mjs");
  const kIdleTime = 5000;
  const clock = new Clock();
  const workers = new Set();
  process.on("worker", (worker) => {
    workers.add(worker);
    worker.once("exit", () => workers.delete(worker));
  });`;

describe("a program with workers of the engine", () => {
  test("tries a call only so often when idle workers end", async () => {
    const lines = await printed(
      { threads: 1, spawnWorkers: 6 },
      `
      const { endIdle } = await import("./tests/js/support/idle_workers.mjs");
      const { until } = await import("./tests/support/until.mjs");
      const exits = new Map();
      process.on("worker", (worker) => {
        const { emit, threadId } = worker;
        worker.emit = (name, ...values) => {
          if (name !== "exit") return emit.call(worker, name, ...values);
          const listeners = worker.listeners(name);
          exits.set(threadId, () => listeners.forEach((listener) => listener(...values)));
        };
      });
      const outcome = (promise) => promise.catch((error) => error.code + " " + error.message);
      const threads = await endIdle(6);
      await until("end of the workers", () => exits.size === 6);
      const call = outcome(run("same", 5));
      // The last one gets the call, then the one before it.
      for (const thread of threads.reverse()) exits.get(thread)();
      print(await call);`,
    );
    assert.match(lines[0], /^Internal \[spawn\] the worker ended before/);
  });

  test("tries no call again after shutdown", async () => {
    const lines = await printed(
      { threads: 1, spawnWorkers: 1 },
      `
      const { endIdle } = await import("./tests/js/support/idle_workers.mjs");
      await endIdle(1);
      const call = run("same", 5).catch((error) => error.code + " " + error.message);
      await eg.shutdown();
      print(await call);`,
    );
    assert.match(lines[0], /^Internal \[spawn\] .*shut down/);
  });

  test("has 1,000 calls wait in flat memory", async () => {
    const [[threads, sum, growth]] = await printed(
      { threads: 1, spawnWorkers: 2 },
      `
      const x = eg.ones([100]);
      await Promise.all(times(4, () => run("later", x)));
      const before = process.memoryUsage().rss;
      const answers = await Promise.all(times(1000, (i) => run("later", x.mul(i))));
      const threads = new Set(answers.map(([, thread]) => thread)).size;
      const sum = answers.reduce((all, [y]) => all + y.at(0).item(), 0);
      print([threads, sum, (process.memoryUsage().rss - before) / 2 ** 20]);`,
    );
    assert.deepEqual([threads, sum], [2, 499_500]);
    assert.ok(growth < 100, `it grew by ${growth} MiB`);
  });

  test("gives workers back that have nothing to do, but not those whose hooks are needed", async () => {
    const [gone, handles, grad, same] = await printed(
      { threads: 1, spawnWorkers: 1 },
      `
      ${kIdleClock}
      const start = eg.memory().jsHandles;
      const first = await run("thread");
      clock.advance(kIdleTime);
      await until("end of the worker", () => workers.size === 0);
      const second = await run("thread");
      print(first !== second);
      print(eg.memory().jsHandles - start);
      const x = eg.ones([1], { requiresGrad: true });
      const y = await run("hooked", x);
      clock.advance(kIdleTime);
      // The worker has been asked to end, and is idle again instead.
      await until("refusal to end", () => clock.waiting.includes(kIdleTime));
      y.backward();
      print(x.grad.item());
      print((await run("thread")) === second);`,
    );
    assert.deepEqual([gone, handles, grad, same], [true, 0, 20, true]);
  });

  test("gives many workers back, one after the other, in flat memory", async () => {
    const [[seen, bytes, growth]] = await printed(
      { threads: 1, spawnWorkers: 1 },
      `
      ${kIdleClock}
      const cycle = async (count) => {
        const seen = new Set();
        for (let i = 0; i < count; i++) {
          seen.add(await run("thread"));
          clock.advance(kIdleTime);
          await until("end of the worker", () => workers.size === 0);
        }
        return seen.size;
      };
      await cycle(5);
      const before = process.memoryUsage().rss;
      const seen = await cycle(40);
      print([seen, eg.memory().cpuBytes, (process.memoryUsage().rss - before) / 2 ** 20]);`,
    );
    assert.deepEqual([seen, bytes], [40, 0]);
    assert.ok(growth < 100, `it grew by ${growth} MiB`);
  });

  test("may compute for a minute while a worker starts, which waits for it", async () => {
    const lines = await printed(
      { threads: 1, spawnWorkers: 1 },
      `
      ${kIdleClock}
      const call = run("same", 5);
      clock.block(60_000);
      print(await call.catch((error) => error.message));`,
    );
    assert.deepEqual(lines, [5]);
  });

  test("starts and ends its engine many times in flat memory", async () => {
    const [[sum, growth]] = await printed(
      { threads: 2, spawnWorkers: 1 },
      `
      let sum = 0;
      const cycle = async (count) => {
        for (let i = 0; i < count; i++) {
          await eg.shutdown();
          await eg.init({ threads: 2, spawnWorkers: 1 });
          const [x] = await run("later", eg.ones([1000], { requiresGrad: true }));
          await x.sum().backwardAsync();
          sum += x.at(0).item();
        }
      };
      await cycle(10);
      const before = process.memoryUsage().rss;
      await cycle(30);
      print([sum, (process.memoryUsage().rss - before) / 2 ** 20]);`,
    );
    assert.equal(sum, 40);
    assert.ok(growth < 100, `it grew by ${growth} MiB`);
  });

  test("with functions that call spawn ends by itself", async () => {
    const lines = await printed(
      { threads: 1, spawnWorkers: 2 },
      `
      print(await run("fibonacci", 5));
      print(await Promise.all([run("doubled", eg.ones([1]), 3), run("thread")]).then(([x]) => x.item()));`,
    );
    assert.deepEqual(lines, [5, 8]);
  });

  test("gets an error if too many functions wait for each other", async () => {
    const [said, after] = await printed(
      { threads: 1, spawnWorkers: 1 },
      `
      print(await run("doubled", eg.ones([1]), 200).catch((error) => error.code + " " + error.message));
      print(await run("fibonacci", 3));`,
    );
    assert.match(said, /^OutOfMemory \[spawn\].*all 128 workers/);
    assert.equal(after, 2);
  });
});
