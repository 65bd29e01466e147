// Starting threads when memory is full fails with an OutOfMemory that names the caller, and the engine works again
// once memory has been freed. Each program runs in a separate process because it fills 4 GiB of address space.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { filling, printedBy } from "../support/full_memory.mjs";

const kModule = new URL("../support/thread_module.mjs", import.meta.url).href;

// The largest free block is then a quarter of a thread's stack.
const kFilling = `
  import * as eg from "edgegrad";
  await eg.init({ variant: "simd", threads: 1 });
  const outcome = (promise) => promise.then(() => "done", (error) => error.code + " " + error.message);
  const spawned = () => outcome(eg.spawn(${JSON.stringify(kModule)}, "twice", eg.ones([2])));
  const x = eg.ones([3], { requiresGrad: true });
  const sum = () => x.mul(2).sum();
  ${filling(2 ** 30, 2 ** 18)}
`;

const printed = (text) => printedBy(kFilling + text);

describe("a full memory", () => {
  test("refuses backwardAsync its thread, and gives it one when there is room", async () => {
    const [full, gradient, after] = await printed(`
      fill();
      const loss = sum();
      print(await outcome(loss.backwardAsync()));
      print(x.grad);
      empty();
      await loss.backwardAsync();
      print(x.grad.arraySync());`);
    assert.match(full, /^OutOfMemory \[backwardAsync\] a thread needs \d+ contiguous bytes/);
    assert.equal(gradient, null);
    assert.deepEqual(after, [2, 2, 2]);
  });

  test("refuses spawn its thread, and gives it one when there is room", async () => {
    const [full, again, after] = await printed(`
      fill();
      print(await spawned());
      print(await spawned());
      empty();
      print(await spawned());`);
    assert.match(full, /^OutOfMemory \[spawn\] a thread needs \d+ contiguous bytes/);
    assert.equal(again, full);
    assert.equal(after, "done");
  });

  test("leaves the threads there are at work", async () => {
    const outcomes = await printed(`
      await sum().backwardAsync();
      print(await spawned());
      fill();
      for (let i = 0; i < 5; i++) print(await outcome(sum().backwardAsync()));
      print(await spawned());
      empty();
      print(await spawned());`);
    assert.deepEqual(outcomes, Array(8).fill("done"));
  });

  test("that is filled by threads gives each of them its stack or an error", async () => {
    const [codes, after] = await printed(`
      fill();
      // Leaves room for about three threads.
      filling.push(filling.shift());
      for (const t of filling.splice(-4)) t.dispose();
      const outcomes = await Promise.all(Array.from({ length: 12 }, () => outcome(sum().backwardAsync())));
      print([...new Set(outcomes.map((one) => one.split(" ")[0]))].sort());
      empty();
      await sum().backwardAsync();
      print(true);`);
    for (const code of codes) assert.ok(["OutOfMemory", "done"].includes(code), code);
    assert.ok(after);
  });
});
