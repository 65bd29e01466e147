// Runtimes that lack what browsers and Node have: the entry edgegrad/single, and what is optional.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/child.mjs";

async function outputOf(text) {
  const { status, stdout, stderr } = await runProgram(text);
  assert.equal(status, 0, stderr);
  return { result: JSON.parse(stdout), stderr };
}

const kTrain = `
  const model = new eg.nn.Sequential(new eg.nn.Linear(8, 16), new eg.nn.ReLU(), new eg.nn.Linear(16, 1));
  const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.05 });
  const x = eg.randn([32, 8]);
  const y = x.sum(1, true);
  const losses = [];
  for (let step = 0; step < 30; step++) {
    await eg.scope(async () => {
      const loss = eg.nn.functional.mseLoss(model.call(x), y);
      optimizer.zeroGrad();
      await loss.backwardAsync();
      optimizer.step();
      losses.push(loss.item());
    });
  }
  const { gradFn } = x.requiresGrad_().mul(2);
  const isBetter = losses.at(-1) < losses[0];
`;

describe("edgegrad/single", () => {
  test("trains with one thread, whatever there is, and has all names of edgegrad", async () => {
    const { result } = await outputOf(`
      import * as eg from "edgegrad/single";
      import * as all from "edgegrad";
      await eg.init();
      ${kTrain}
      const names = (each) => Object.keys(each).sort().join();
      console.log(JSON.stringify({ isBetter, variant: eg.runtime().variant, isSame: names(eg) === names(all) }));
    `);
    assert.deepEqual(result, { isBetter: true, variant: "single", isSame: true });
  });

  test("refuses another variant", async () => {
    const { result } = await outputOf(`
      import * as eg from "edgegrad/single";
      const { code, message } = await eg.init({ variant: "simd" }).catch((error) => error);
      console.log(JSON.stringify([code, message]));
    `);
    assert.match(
      result.join(),
      /^InvalidArgument,\[init\] variant "simd" is not in edgegrad\/single/,
    );
  });
});

describe("where there is no", () => {
  test("Worker, auto is single", async () => {
    const { result } = await outputOf(`
      import { readFileSync } from "node:fs";
      const wasmModule = new WebAssembly.Module(readFileSync("dist/wasm/edgegrad-single.wasm"));
      // Cloudflare's imitation of Node.
      Object.defineProperty(globalThis, "navigator", { value: { userAgent: "Cloudflare-Workers" }, configurable: true });
      const eg = await import("edgegrad");
      await eg.init({ wasmModule });
      ${kTrain}
      const { variant } = eg.runtime();
      await eg.shutdown();
      const { message } = await eg.init({ variant: "simd" }).catch((error) => error);
      console.log(JSON.stringify({ isBetter, variant, message }));
    `);
    assert.equal(result.isBetter, true);
    assert.equal(result.variant, "single");
    assert.match(result.message, /^\[init\] variant "simd" needs threads, and so workers/);
  });

  test("FinalizationRegistry, WeakRef or MessageChannel, scopes free everything", async () => {
    const { result, stderr } = await outputOf(`
      for (const name of ["FinalizationRegistry", "WeakRef", "MessageChannel"]) delete globalThis[name];
      const eg = await import("edgegrad");
      await eg.init({ variant: "single" });
      const before = eg.memory().jsHandles;
      const { isBetter, kept } = await eg.scope(async () => {
        ${kTrain}
        model.zeroGrad();
        return { isBetter, kept: gradFn === gradFn && model.parameters().next === undefined };
      });
      console.log(JSON.stringify({ isBetter, kept, held: eg.memory().jsHandles - before }));
    `);
    assert.equal(stderr, "");
    assert.equal(result.isBetter, true);
    assert.equal(result.held, 0);
  });

  test("FinalizationRegistry, a warning says that tensors stay", async () => {
    const { result, stderr } = await outputOf(`
      delete globalThis.FinalizationRegistry;
      const eg = await import("edgegrad");
      await eg.init({ variant: "single" });
      const x = eg.zeros([1]);
      for (let i = 0; i < 110_000; i++) {
        x.neg();
        if (i % 1000 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      console.log(JSON.stringify(eg.memory().jsHandles > 100_000));
    `);
    assert.equal(result, true);
    assert.match(stderr, /^edgegrad: \d+ tensors .*no FinalizationRegistry.*eg\.scope/);
  });
});

describe("the default number of threads", () => {
  for (const [memory, cores, expected] of [
    [4, 8, 4],
    [2, 2, 2],
    [8, 8, 8],
    [undefined, 16, 8],
  ]) {
    test(`is ${expected} with ${cores} cores and ${memory ?? "unknown"} GiB`, async () => {
      const { result } = await outputOf(`
        import os from "node:os";
        import { syncBuiltinESMExports } from "node:module";
        os.availableParallelism = () => ${cores};
        Object.defineProperty(globalThis, "navigator", { value: { deviceMemory: ${memory} }, configurable: true });
        const eg = await import("edgegrad");
        await eg.init({ webgpu: "off" });
        console.log(JSON.stringify(eg.runtime().threads));
        await eg.shutdown();
      `);
      assert.equal(result, expected);
    });
  }
});
