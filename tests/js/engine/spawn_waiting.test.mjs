// spawn() when no worker is free for long: it warns once, and the warning has no other effect. The ten seconds are shortened.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/child.mjs";

const kModule = new URL("../support/spawn_module.mjs", import.meta.url).href;

/** Runs a program with `workers` workers and returns { found, warnings }: its result and the warnings. */
async function outcome({ workers, longWait }, text) {
  const { status, stdout, stderr } = await runProgram(`
    import * as eg from "edgegrad";
    const { setTimeout: wait } = globalThis;
    globalThis.setTimeout = (fn, time, ...rest) => wait(fn, time === 10_000 ? ${longWait} : time, ...rest);
    const sleep = (time) => new Promise((resolve) => wait(resolve, time));
    const warnings = [];
    console.warn = (message) => { warnings.push(message); };
    await eg.init({ threads: 1, spawnWorkers: ${workers} });
    const run = (name, ...args) => eg.spawn(${JSON.stringify(kModule)}, name, ...args);
    const times = (count, fn) => Promise.all(Array.from({ length: count }, (_, i) => fn(i)));
    const meet = (count) => {
      const arrived = eg.zeros([count]);
      return times(count, (i) => run("meet", arrived, i));
    };
    const warned = async () => {
      while (warnings.length === 0) await sleep(10);
      await sleep(2 * ${longWait});
    };
    const found = await (async () => { ${text} })();
    await eg.shutdown();
    console.log(JSON.stringify({ found, warnings }));`);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

describe("spawn, when functions wait for each other", () => {
  test("says once how many workers they need", async () => {
    const { found, warnings } = await outcome(
      { workers: 2, longWait: 200 },
      `
      const calls = meet(3).catch((error) => error.code);
      await warned();
      await eg.shutdown();
      return calls;`,
    );
    assert.equal(found, "Internal");
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /all 2 workers .* queued calls: 1\. .*init\(\{ spawnWorkers: 3 \}\)/);
  });

  test("has them meet when there are so many, and says nothing", async () => {
    const { found, warnings } = await outcome({ workers: 3, longWait: 200 }, "return meet(3);");
    assert.deepEqual([found, warnings], [[0, 1, 2], []]);
  });

  test("has them meet though functions that wait for their own had their place", async () => {
    const { found, warnings } = await outcome(
      { workers: 2, longWait: 10_000 },
      'return Promise.all([run("doubled", eg.ones([1]), 3).then((x) => x.item()), meet(2)]);',
    );
    assert.deepEqual([found, warnings], [[8, [0, 1]], []]);
  });

  test("says nothing while one call after the other is done", async () => {
    const { found, warnings } = await outcome(
      { workers: 1, longWait: 3000 },
      'return times(8, (i) => run("after", 500, i));',
    );
    assert.deepEqual([found, warnings], [[0, 1, 2, 3, 4, 5, 6, 7], []]);
  });

  test("advises nothing that init() refuses", async () => {
    const { warnings } = await outcome(
      { workers: 1, longWait: 200 },
      "meet(300).catch(() => undefined); await warned();",
    );
    assert.match(warnings[0], /queued calls: 299\. .*init\(\{ spawnWorkers: 128 \}\)/);
  });

  test("continues if the console throws", async () => {
    const { found } = await outcome(
      { workers: 1, longWait: 200 },
      `
      console.warn = (message) => { warnings.push(message); throw new Error("no console"); };
      const calls = [run("after", 1000, "slow"), run("after", 0, "next")];
      await warned();
      return Promise.all(calls);`,
    );
    assert.deepEqual(found, ["slow", "next"]);
  });
});
