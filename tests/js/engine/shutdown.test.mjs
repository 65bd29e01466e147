// Stopping the engine, or one of its workers, with pending work: all promises settle and everything is released.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/child.mjs";

const kModule = new URL("../support/thread_module.mjs", import.meta.url).href;

/** Runs a program and returns the JSON values that it prints, one per line. */
async function printed(variant, text) {
  const program = `
    import * as eg from "edgegrad";
    import { until } from "./tests/support/until.mjs";
    const print = (value) => console.log(JSON.stringify(value ?? null));
    const outcome = (promise) => promise.then(() => "done", (error) => error.code + " " + error.message);
    const run = (name, ...args) => eg.spawn(${JSON.stringify(kModule)}, name, ...args);
    const start = () => eg.init({ variant: "${variant}", threads: ${variant === "single" ? 1 : 3} });
    const long = (x) => {
      let y = x;
      for (let i = 0; i < 300; i++) y = y.matmul(x).mul(0.003);
      return y.sum();
    };
    await start();
    ${text}`;
  const { status, signal, stdout, stderr } = await runProgram(program);
  assert.deepEqual({ status, signal }, { status: 0, signal: null }, stderr);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

for (const variant of ["simd", "single"]) {
  describe(`shutdown of ${variant}`, () => {
    test("rejects what is pending, and init may follow", async () => {
      const [backward, grad, sum] = await printed(
        variant,
        `
        const x = eg.rand([200, 200], { requiresGrad: true });
        const backward = outcome(long(x).backwardAsync());
        const grad = outcome(eg.autograd.gradAsync(long(x), [x]));
        await eg.shutdown();
        print(await backward);
        print(await grad);
        await start();
        const y = eg.ones([3], { requiresGrad: true });
        await y.sum().backwardAsync();
        print(y.grad.sum().item());`,
      );
      assert.match(backward, /^Internal \[backwardAsync\] the engine was shut down/);
      assert.match(grad, /^Internal \[gradAsync\] the engine was shut down/);
      assert.equal(sum, 3);
    });

    for (const form of ["backward", "backwardAsync"]) {
      test(`may be asked for by a hook of ${form}`, async () => {
        const [outcome, sum] = await printed(
          variant,
          `
          const x = eg.rand([100, 100], { requiresGrad: true });
          const y = long(x);
          let stopped;
          y.registerHook(() => {
            stopped = eg.shutdown();
          });
          print(await outcome(Promise.resolve(y.${form}())));
          await stopped;
          await start();
          print(eg.ones([3]).sum().item());`,
        );
        assert.match(outcome, form === "backward" ? /^done$/ : /^done$|shut down/);
        assert.equal(sum, 3);
      });
    }
  });
}

describe("a worker", () => {
  test("may not shut the engine down, and is as good as before", async () => {
    const [refused, thread, sum] = await printed(
      "simd",
      `
      print(await outcome(run("shutDown")));
      print(typeof (await run("thread")));
      print((await run("twice", eg.ones([3]))).doubled.sum().item());`,
    );
    assert.match(refused, /^InvalidArgument \[shutdown\].*thread that called init/);
    assert.equal(thread, "number");
    assert.equal(sum, 6);
  });

  for (const way of ["die", "throwLater", "dieKeeping"]) {
    test(`that ends by ${way} gives back what it held`, async () => {
      const lines = await printed(
        "simd",
        `
        const big = () => eg.zeros([2 ** 24]);
        const held = () => {
          const { cpuBytes, jsHandles, tensors } = eg.memory();
          return [cpuBytes, jsHandles, tensors].join();
        };
        await run("thread");
        const before = held();
        for (let i = 0; i < 3; i++) {
          const x = big();
          print(await outcome(run("${way}", x)));
          x.dispose();
        }
        // The call is rejected before the worker has ended, if that takes long.
        await until(() => before + " again; it is " + held(), () => held() === before);
        print(typeof (await run("thread")));`,
      );
      for (const line of lines.slice(0, 3)) assert.match(line, /^Internal \[spawn\].*ended before/);
      assert.equal(lines[3], "number");
    });
  }

  test("that ends inside a hook does not leave the thread that waits for it", async () => {
    const [outcome] = await printed(
      "simd",
      `
      const y = await run("hookedToDie", eg.ones([2], { requiresGrad: true }));
      try {
        y.sum().backward();
        print("done");
      } catch (error) {
        print(error.code + " " + error.message);
      }`,
    );
    assert.match(outcome, /^Internal .*ended/);
  });
});
