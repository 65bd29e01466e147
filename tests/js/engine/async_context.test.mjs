// What hooks and custom Functions do in an asynchronous backward call belongs to the code that made the call: its scope, and its
// async context.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { describe, test } from "node:test";
import * as eg from "edgegrad";
import { collectGarbage, untilCollected } from "../support/collect_garbage.mjs";

class Doubled extends eg.autograd.Function {
  static forward(ctx, x) {
    ctx.saveForBackward(x);
    return x.mul(2);
  }
  static backward(ctx, g) {
    const [x] = ctx.savedTensors;
    return g.mul(x.ones?.length ?? 2).add(0);
  }
}

for (const variant of ["simd", "single"]) {
  describe(`in backwardAsync(), in ${variant}`, () => {
    const threads = variant === "single" ? 1 : 2;
    test("tensors belong to the scope of the caller", async () => {
      await eg.init({ variant, threads });
      const x = eg.ones([3], { requiresGrad: true });
      const made = [];
      const step = () =>
        eg.scope(async () => {
          const y = Doubled.apply(x);
          y.registerHook((g) => {
            made.push(g.mul(3), g.add(1));
          });
          await y.sum().backwardAsync();
          await eg.autograd.gradAsync(Doubled.apply(x).sum(), [x]);
        });
      await step();
      await collectGarbage();
      const { jsHandles } = eg.memory();
      for (let i = 0; i < 10; i++) await step();
      // Not by the garbage collector, which finds them in the list.
      await untilCollected("handles", () => eg.memory().jsHandles === jsHandles);
      assert.ok(made.every((tensor) => tensor.disposed));
      await eg.shutdown();
    });

    test("code sees the AsyncLocalStorage of the caller", async () => {
      await eg.init({ variant, threads });
      const storage = new AsyncLocalStorage();
      const seen = [];
      const call = (name) =>
        storage.run(name, async () => {
          const x = eg.ones([3], { requiresGrad: true });
          const y = x.mul(2);
          y.registerHook(() => {
            seen.push([name, storage.getStore()]);
          });
          await y.sum().backwardAsync();
          assert.equal(storage.getStore(), name);
        });
      await Promise.all(["a", "b", "c"].map(call));
      assert.deepEqual(
        seen.toSorted?.() ?? [...seen].sort(),
        ["a", "b", "c"].map((name) => [name, name]),
      );
      await eg.shutdown();
    });

    test("a scope that has ended takes nothing", async () => {
      await eg.init({ variant, threads });
      const x = eg.ones([3], { requiresGrad: true });
      let made;
      const { promise } = eg.scope(() => {
        const y = eg.keep(x.mul(2));
        y.registerHook((g) => {
          made = g.mul(3);
        });
        return { promise: eg.keep(y.sum()).backwardAsync() };
      });
      await promise;
      assert.deepEqual([...made.dataSync()], [3, 3, 3]);
      await eg.shutdown();
    });
  });
}
