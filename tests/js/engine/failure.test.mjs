// A call into the engine that ends without returning: its state is unknown, and the next call says so.

// Before edgegrad.
import "../support/clock.mjs";

import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { soon } from "../../support/until.mjs";
import { withClock } from "../support/clock.mjs";
import { eg } from "../support/engine.mjs";

// (func (export "trap") unreachable)
const kTrap = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 8, 1, 4, 116, 114, 97, 112, 0, 0,
  10, 5, 1, 3, 0, 0, 11,
]);
const { trap } = new WebAssembly.Instance(new WebAssembly.Module(kTrap)).exports;

const kFailed = { name: "EdgeGradError", code: "Internal", message: /the engine has failed.*init/ };

// A profile reads the clock when a node runs, and no code of WebAssembly can catch a trap.
function endInTheMiddle() {
  const loss = eg.enableGrad(() => eg.ones([2], { requiresGrad: true }).sum());
  eg.autograd.profile(() => withClock(trap, () => loss.backward()));
}

for (const options of [{ threads: 2 }, { variant: "single" }]) {
  describe(`a call that does not return, ${JSON.stringify(options)}`, () => {
    beforeEach(() => eg.init(options));
    afterEach(() => eg.shutdown());

    test("makes every later call an error, until there is another engine", async () => {
      const x = eg.ones([2], { requiresGrad: true });
      assert.throws(endInTheMiddle, kFailed);
      for (const call of [
        () => eg.isGradEnabled(),
        () => x.mul(2),
        () => x.shape,
        () => x.backward(),
        () => eg.noGrad(() => 1),
        () => eg.scope(() => 1),
        () => eg.memory(),
        () => x.gradFn,
        () => eg.manualSeed(1),
        () => new eg.nn.Linear(2, 2),
      ]) {
        assert.throws(call, kFailed, String(call));
      }
      await assert.rejects(x.data(), kFailed);
      x.dispose();
      await eg.shutdown();
      await eg.init(options);
      const y = eg.ones([2], { requiresGrad: true });
      y.mul(3).sum().backward();
      assert.deepEqual([...y.grad.dataSync()], [3, 3]);
    });

    test("rejects pending promises, though nothing calls the engine again", async () => {
      const pending = new Promise((_, reject) => {
        const x = eg.ones([2], { requiresGrad: true });
        const y = x.mul(2);
        // While its hook runs on this thread, the call is pending.
        y.registerHook(() => {
          assert.throws(endInTheMiddle);
        });
        y.sum().backwardAsync().catch(reject);
      });
      await assert.rejects(soon("the rejection", pending), kFailed);
    });
  });
}
