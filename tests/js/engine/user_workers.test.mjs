// spawn() on workers that the caller has constructed, and expose() in their scripts.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { threadId } from "node:worker_threads";
import { until } from "../../support/until.mjs";
import { assertRejects, assertTensor } from "../support/assert.mjs";
import { runProgram } from "../support/child.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import { eg } from "../support/engine.mjs";

const kScript = new URL("../support/exposed_worker.mjs", import.meta.url);
const kStart = `
  import { Clock } from "./tests/js/support/clock.mjs";
  import * as eg from "edgegrad";
  await eg.init({ threads: 2 });
  const url = new URL(${JSON.stringify(kScript.href)});
  // Test programs run with --input-type, which Node passes on to workers.
  const makeWorker = (script = url) => new Worker(script, { execArgv: [] });\n`;
// Node's Worker, which init() makes global if there is no global Worker.
const makeWorker = (script = kScript) => new Worker(script, { type: "module" });
const leaf = (...values) => eg.tensor(values, { requiresGrad: true });
/** Returns a URL with the script of a worker. */
const script = (text) => new URL(`data:text/javascript,${encodeURIComponent(text)}`);

after(() => eg.shutdown());

describe("spawn on a worker of one's own", () => {
  let worker;
  before(() => {
    worker = makeWorker();
  });
  after(() => worker.terminate());

  test("runs functions that it exposes, with shared tensors", async () => {
    const w = leaf(1, -2);
    assert.notEqual(await eg.spawn(worker, "train", w, 3), threadId);
    assertTensor(w.detach(), [0.512, -1.024]);
    const { doubled } = await eg.spawn(worker, "twice", w);
    doubled.sum().backward();
    assert.equal(await eg.spawn(worker, "later"), "exposed later");
  });

  test("has init() wait there for this engine", async () => {
    assert.equal(await eg.spawn(worker, "started"), true);
  });

  test("runs simultaneous requests one after the other, always on one thread", async () => {
    const w = leaf(1);
    const threads = await Promise.all(
      Array.from({ length: 5 }, () => eg.spawn(worker, "train", w, 2)),
    );
    assert.equal(new Set(threads).size, 1);
    assertTensor(w.detach(), [0.8 ** 10]);
  });

  test("holds what it was sent until it is its turn", async () => {
    const w = leaf(1);
    const jobs = eg.scope(() => [1, 2, 3].map((i) => eg.spawn(worker, "twice", w.mul(i))));
    const results = await Promise.all(jobs);
    results.forEach(({ doubled }, i) => {
      assertTensor(doubled.detach(), [2 * (i + 1)]);
    });
  });

  test("calls hooks on the thread that registered them", async () => {
    const [x, ranOn] = [leaf(1), eg.zeros([1])];
    const y = await eg.spawn(worker, "hooked", x, ranOn);
    y.sum().backward();
    assertTensor(x.grad, [20]);
    assert.notEqual(ranOn.item(), threadId);
  });

  test("has its functions spawn others in the engine's own workers", async () => {
    const here = await eg.spawn(worker, "train", leaf(1), 1);
    assert.ok(![here, threadId].includes(await eg.spawn(worker, "spawnHere")));
  });

  test("rejects with what the function throws, and continues to work", async () => {
    await assert.rejects(eg.spawn(worker, "typeError"), {
      name: "TypeError",
      message: "wrong in the worker",
    });
    await assertRejects(eg.spawn(worker, "shapeError", leaf(1, 2)), "ShapeMismatch", /7/);
    await assertRejects(eg.spawn(worker, "missing"), "InvalidArgument", /eg.expose\(\{ missing/);
    await assertRejects(eg.spawn(worker, "toString"), "InvalidArgument", /exposes no function/);
    await assertRejects(eg.spawn(worker, "unsendable"), "InvalidArgument", /cannot be sent/);
    await assertRejects(
      eg.spawn(worker, "twice", () => 1),
      "InvalidArgument",
      /stateDict/,
    );
    assert.equal(await eg.spawn(worker, "started"), true);
  });
});

describe("a worker that cannot be used is said to be so:", () => {
  /** Calls a function of a worker with this script and returns its outcome. */
  const outcome = (text, x = eg.ones([4])) => eg.spawn(makeWorker(script(text)), "f", x);

  test("one whose script throws, or is not there", async () => {
    await assertRejects(outcome("throw new Error('at the start')"), "Internal", /at the start/);
    const missing = makeWorker(new URL("./nowhere.mjs", import.meta.url));
    await assertRejects(eg.spawn(missing, "f"), "Internal", /nowhere/);
  });

  test("one that started an engine of its own", async () => {
    const edgegrad = JSON.stringify(import.meta.resolve("edgegrad"));
    const text = `import * as eg from ${edgegrad}; await eg.init({ threads: 1 }); eg.expose({ f() {} });`;
    await assertRejects(outcome(text), "InvalidArgument", /call expose\(\) before init\(\)/);
  });

  test("one that ended, before or after it was used", async () => {
    const worker = makeWorker();
    await assertRejects(eg.spawn(worker, "die"), "Internal", /it exited/);
    await assertRejects(eg.spawn(worker, "started"), "Internal", /it exited/);
    const other = makeWorker();
    const job = eg.spawn(other, "started");
    other.terminate();
    await assertRejects(job, "Internal", /ended/);
    const gone = makeWorker();
    await gone.terminate();
    // This is not the message of a worker that does not answer in time.
    await assertRejects(eg.spawn(gone, "started"), "Internal", /already ended/);
  });

  test("and releases what it was sent", async () => {
    await collectGarbage();
    const x = eg.ones([4]);
    const { jsHandles } = eg.memory();
    await assertRejects(outcome("throw new Error('no')", x), "Internal");
    // The call is rejected before the worker has ended, if that takes long.
    await until("release of what was sent", () => eg.memory().jsHandles === jsHandles);
    x.dispose();
  });

  test("one that never exposes anything, after a while", async () => {
    const listening = script(`import { parentPort } from "node:worker_threads";
      parentPort.on("message", () => parentPort.postMessage("heard"));`);
    const { status, stdout, stderr } = await runProgram(`${kStart}
      import { once } from "node:events";
      const clock = new Clock();
      const worker = makeWorker(new URL(${JSON.stringify(listening.href)}));
      const outcome = eg.spawn(worker, "f").catch((error) => error.code + " " + error.message);
      await once(worker, "message");
      clock.advance(60_000);
      console.log(await outcome);`);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^InvalidArgument \[spawn\].* did not call eg\.expose/);
  });

  test("but not one that joins while the main thread computes for a minute", async () => {
    const { status, stdout, stderr } = await runProgram(`${kStart}
      const clock = new Clock();
      const call = eg.spawn(makeWorker(), "later");
      clock.block(60_000);
      console.log(await call);`);
    assert.equal(status, 0, stderr);
    assert.equal(stdout.trim(), "exposed later");
  });

  test("what only looks like one", async () => {
    const worker = {
      postMessage() {
        throw null;
      },
      terminate() {
        throw null;
      },
    };
    await assertRejects(
      eg.spawn(worker, "f", eg.ones([2])),
      "InvalidArgument",
      /does not accept messages/,
    );
  });

  test("anything that is no worker, address or table of functions", async () => {
    for (const value of [undefined, null, 3, {}]) {
      await assertRejects(eg.spawn(value, "f"), "InvalidArgument", /\[spawn\] expected a Worker/);
    }
    for (const value of [undefined, null, 3, { train: 3 }]) {
      assert.throws(() => eg.expose(value), { code: "InvalidArgument", message: /\[expose\]/ });
    }
    assert.throws(() => eg.expose({ f() {} }), { code: "InvalidArgument", message: /main thread/ });
  });
});

describe("a program with a worker of its own", () => {
  test("ends by itself", async () => {
    const { status, stdout, stderr } = await runProgram(`${kStart}
      console.log(await eg.spawn(makeWorker(), "later"));`);
    assert.equal(status, 0, stderr);
    assert.equal(stdout.trim(), "exposed later");
  });

  test("does not wait for one that ends while it joins, or before", async () => {
    const { status, stdout, stderr } = await runProgram(`${kStart}
      const code = (worker) => eg.spawn(worker, "later").catch((error) => error.code);
      const ended = makeWorker();
      await ended.terminate();
      // Where a worker that does not answer in time is waited for, the code is another one.
      const [exposing, joining, early] = [makeWorker(), makeWorker(), makeWorker()];
      const jobs = [code(ended), code(exposing), code(joining), code(early)];
      early.terminate();
      exposing.once("message", () => exposing.terminate());
      joining.on("message", ({ edgegradWorker }) => {
        if (edgegradWorker === "listening") joining.terminate();
      });
      console.log((await Promise.all(jobs)).join());
      const last = code(makeWorker());
      await eg.shutdown();
      console.log(await last);`);
    assert.equal(status, 0, stderr);
    assert.deepEqual(stdout.trim().split("\n"), [
      "Internal,Internal,Internal,Internal",
      "Internal",
    ]);
  });

  test("may shut down with it at work, which ends it", async () => {
    const { status, stdout, stderr } = await runProgram(`${kStart}
      import { until } from "./tests/support/until.mjs";
      const worker = makeWorker();
      const running = eg.zeros([1]);
      const job = eg.spawn(worker, "busy", running, eg.zeros([1]));
      const waiting = eg.spawn(worker, "started");
      const ended = Promise.allSettled([job, waiting]);
      await until("function at work", () => running.item() === 1);
      await eg.shutdown();
      console.log((await ended).map(({ reason }) => reason.code).join());
      await eg.init({ threads: 2 });
      console.log(await eg.spawn(worker, "started").catch(({ message }) => message));
      console.log(await eg.spawn(makeWorker(), "started"));`);
    assert.equal(status, 0, stderr);
    const [codes, ended, again] = stdout.trim().split("\n");
    assert.equal(codes, "Internal,Internal");
    assert.match(ended, /shut down/);
    assert.equal(again, "true");
  });

  test("gets an error if there are no threads", async () => {
    const { stdout } = await runProgram(`
      import * as eg from "edgegrad";
      import { Worker } from "node:worker_threads";
      await eg.init({ variant: "single" });
      const worker = new Worker(new URL(${JSON.stringify(kScript.href)}));
      await eg.spawn(worker, "f").catch((error) => console.log(error.code, error.message));`);
    assert.match(stdout, /^InvalidArgument \[spawn\].*Cross-Origin/);
  });
});
