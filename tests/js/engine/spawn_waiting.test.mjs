// spawn() when no worker is free for long: it warns once, and the warning has no other effect. The test says when time has passed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/child.mjs";

const kModule = new URL("../support/spawn_module.mjs", import.meta.url).href;

/** Runs a program with `workers` workers and returns { found, warnings }: its result and the warnings. */
async function outcome(workers, text) {
  const { status, stdout, stderr } = await runProgram(`
    import { Clock } from "./tests/js/support/clock.mjs";
    import * as eg from "edgegrad";
    import { until } from "./tests/support/until.mjs";
    const kLongWait = 10_000;
    const clock = new Clock();
    const warnings = [];
    console.warn = (message) => { warnings.push(message); };
    await eg.init({ threads: 1, spawnWorkers: ${workers} });
    const run = (name, ...args) => eg.spawn(${JSON.stringify(kModule)}, name, ...args);
    const times = (count, fn) => Promise.all(Array.from({ length: count }, (_, i) => fn(i)));
    const meet = (arrived) => times(arrived.numel, (i) => run("meet", arrived, i));
    const untilBusy = (arrived) =>
      until("call in each worker", () => arrived.sum().item() === ${workers});
    const found = await (async () => { ${text} })();
    await eg.shutdown();
    console.log(JSON.stringify({ found, warnings }));`);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

describe("spawn, when functions wait for each other", () => {
  test("says once how many workers they need", async () => {
    const { found, warnings } = await outcome(
      2,
      `
      const arrived = eg.zeros([3]);
      const calls = meet(arrived).catch((error) => error.code);
      await untilBusy(arrived);
      clock.advance(kLongWait - 1);
      const early = warnings.length;
      clock.advance(1);
      const more = run("thread").catch((error) => error.code);
      clock.advance(3 * kLongWait);
      await eg.shutdown();
      return [early, await calls, await more];`,
    );
    assert.deepEqual(found, [0, "Internal", "Internal"]);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /all 2 workers .* queued calls: 1\. .*init\(\{ spawnWorkers: 3 \}\)/);
  });

  test("has them meet when there are so many, and says nothing", async () => {
    const { found, warnings } = await outcome(
      3,
      `
      const calls = meet(eg.zeros([3]));
      clock.advance(2 * kLongWait);
      return calls;`,
    );
    assert.deepEqual([found, warnings], [[0, 1, 2], []]);
  });

  test("has them meet though functions that wait for their own had their place", async () => {
    const { found, warnings } = await outcome(
      2,
      `
      const nested = run("doubled", eg.ones([1]), 3).then((x) => x.item());
      return Promise.all([nested, meet(eg.zeros([2]))]);`,
    );
    assert.deepEqual([found, warnings], [[8, [0, 1]], []]);
  });

  test("says nothing while one call after the other is done", async () => {
    const { found, warnings } = await outcome(
      1,
      `
      return times(8, async (i) => {
        const [result] = await run("later", i);
        clock.advance(0.9 * kLongWait);
        return result;
      });`,
    );
    assert.deepEqual([found, warnings], [[0, 1, 2, 3, 4, 5, 6, 7], []]);
  });

  test("says nothing of workers whose answers have waited for a busy main thread", async () => {
    const { found, warnings } = await outcome(
      1,
      `
      const calls = times(3, (i) => run("later", i));
      clock.block(2 * kLongWait);
      return (await calls).map(([i]) => i);`,
    );
    assert.deepEqual([found, warnings], [[0, 1, 2], []]);
  });

  test("advises nothing that init() refuses", async () => {
    const { warnings } = await outcome(
      1,
      `
      const arrived = eg.zeros([300]);
      meet(arrived).catch(() => undefined);
      await untilBusy(arrived);
      clock.advance(kLongWait);`,
    );
    assert.match(warnings[0], /queued calls: 299\. .*init\(\{ spawnWorkers: 128 \}\)/);
  });

  test("continues if the console throws", async () => {
    const { found, warnings } = await outcome(
      1,
      `
      console.warn = (message) => { warnings.push(message); throw new Error("no console"); };
      const flag = eg.zeros([1]);
      const calls = [run("onceSet", flag, "slow"), run("later", "next")];
      clock.advance(2 * kLongWait);
      flag.fill_(1);
      const [slow, [next]] = await Promise.all(calls);
      return [slow, next];`,
    );
    assert.deepEqual(found, ["slow", "next"]);
    assert.equal(warnings.length, 1);
  });
});
