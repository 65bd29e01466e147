// Programs that use the device exit by themselves, whatever the GPU is doing.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../../js/support/child.mjs";
import { options } from "../support/engine.mjs";

const kWorkers = new URL("../support/worker_module.mjs", import.meta.url);

/** Runs a program that has opened the device; one that hangs is ended. */
function run(body) {
  return runProgram(`import * as eg from "edgegrad";
    import { until } from "./tests/support/until.mjs";
    await eg.init({ webgpu: "required" });
    const x = eg.tensor([1, 2, 3], { device: "webgpu", requiresGrad: true });
    ${body}`);
}

const kEndings = {
  "that has read its results": "console.log(await x.mul(2).sum().itemAsync());",
  "that has used nothing": "console.log(12);",
  "with commands that nobody waits for": `
    for (let i = 0; i < 300; i++) eg.scope(() => x.mul(2).sum().backward());
    console.log(12);`,
  "with reads that nobody waits for": `
    for (let i = 0; i < 10; i++) x.mul(2).data();
    console.log(12);`,
  "with a backward call that nobody waits for": `
    x.mul(2).sum().backwardAsync();
    console.log(12);`,
  "by shutdown()": `
    x.mul(2).sum().backward();
    await eg.shutdown();
    console.log(12);`,
  "by shutdown(), with reads on their way": `
    for (let i = 0; i < 20; i++) x.mul(2).data().catch(() => {});
    await eg.shutdown();
    console.log(12);`,
  "by shutdown(), with a worker that reads": `
    const running = eg.zeros([]);
    const job = eg.spawn(${JSON.stringify(kWorkers.href)}, "readForever", x, running);
    await until("worker that reads", () => running.item() === 1);
    await Promise.allSettled([job, eg.shutdown()]);
    console.log(12);`,
  "by process.exit()": `
    x.mul(2).sum().backward();
    console.log(12);
    process.exit();`,
};

describe("a program with the device", options, () => {
  for (const [title, body] of Object.entries(kEndings)) {
    test(`${title} ends with code 0`, async () => {
      const { status, signal, stdout, stderr } = await run(body);
      assert.equal(stdout.trim(), "12", stderr);
      assert.deepEqual({ status, signal }, { status: 0, signal: null }, stderr);
    });
  }

  test("that throws ends with code 1 and says what", async () => {
    const { status, stderr } = await run(`x.mul(2).sum().backward(); throw new Error("my own");`);
    assert.equal(status, 1, stderr);
    assert.match(stderr, /my own/);
  });

  test("may start again after shutdown(), with the device", async () => {
    const { status, stdout, stderr } = await run(`
      console.log(x.mul(2).sum().item());
      await eg.shutdown();
      await eg.init({ webgpu: "required" });
      console.log(eg.tensor([1, 2], { device: "webgpu" }).sum().item(), eg.webgpuStats().readbacks);`);
    assert.equal(status, 0, stderr);
    assert.equal(stdout, "12\n3 1\n");
  });
});
