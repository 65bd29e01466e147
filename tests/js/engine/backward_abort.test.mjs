// backwardAsync() and gradAsync() with a signal, with threads and without.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import { until } from "../../support/until.mjs";
import { assertRejects } from "../support/assert.mjs";
import { collectGarbage } from "../support/collect_garbage.mjs";
import {
  assertNoListeners,
  assertRejectsWith,
  ForeignSignal,
  kReasons,
} from "../support/signals.mjs";

const kForms = {
  "tensor.backwardAsync": (x, options) => x.square().sum().backwardAsync(null, options),
  "autograd.backwardAsync": (x, options) => eg.autograd.backwardAsync(x.square().sum(), options),
  "autograd.gradAsync": (x, options) => eg.autograd.gradAsync(x.square().sum(), x, options),
};

for (const variant of ["simd", "single"]) {
  for (const [name, call] of Object.entries(kForms)) {
    describe(`${name} with a signal, in ${variant}`, () => {
      before(() => eg.init({ variant, threads: variant === "single" ? 1 : 2 }));
      after(() => eg.shutdown());

      const leaf = () => eg.ones([100], { requiresGrad: true });

      /** Calls `use` in a scope, and waits until as much is held as before. */
      async function leavesNothing(use) {
        await collectGarbage();
        const { tensors, jsHandles, graphNodes } = eg.memory();
        const held = () => {
          const now = eg.memory();
          return [now.tensors - tensors, now.jsHandles - jsHandles, now.graphNodes - graphNodes];
        };
        await eg.scope(use);
        await until(
          () => `end of everything; there are more: ${held()}`,
          async () => {
            await collectGarbage();
            return held().every((one) => one === 0);
          },
        );
      }

      test("that has been given rejects with its reason and computes nothing", async () => {
        await leavesNothing(async () => {
          for (const reason of kReasons) {
            const x = leaf();
            let ran = 0;
            x.registerHook(() => {
              ran++;
            });
            await assertRejectsWith(call(x, { signal: AbortSignal.abort(reason) }), reason);
            await call(leaf(), {});
            assert.deepEqual([x.grad, ran], [null, 0]);
          }
        });
      });

      test("rejects at once, and frees what comes after that", async () => {
        await leavesNothing(async () => {
          const signal = new ForeignSignal();
          const early = Array.from({ length: 4 }, () => call(leaf(), { signal }));
          // Not finished when the signal is given, as the others may be: answers also come while this thread is in a call.
          const x = eg.rand([300, 300], { requiresGrad: true });
          let y = x;
          for (let i = 0; i < 20; i++) y = y.matmul(x);
          const last = call(y, { signal });
          signal.abort(kReasons[4]);
          await assertRejectsWith(last, kReasons[4]);
          for (const { status, reason } of await Promise.allSettled(early)) {
            if (status === "rejected") assert.equal(reason, kReasons[4]);
          }
          assert.equal(signal.listeners.size, 0);
        });
      });

      test("ends the graph after the node that runs", async () => {
        await leavesNothing(async () => {
          const controller = new AbortController();
          const x = leaf();
          let later = 0;
          x.registerHook(() => {
            later++;
          });
          const y = x.exp();
          y.registerHook(() => controller.abort(kReasons[4]));
          await assertRejectsWith(call(y, { signal: controller.signal }), kReasons[4]);
          // Runs after what is left of the other.
          await call(leaf(), {});
          assert.deepEqual([x.grad, later], [null, 0]);
        });
      });

      test("that outlives 1,000 calls holds nothing of them", async () => {
        const { signal } = new AbortController();
        await leavesNothing(async () => {
          for (let i = 0; i < 1000; i++) await eg.scope(() => call(leaf(), { signal }));
        });
        assertNoListeners(signal);
      });

      test("settles as without it, whatever is wrong", async () => {
        const { signal } = new AbortController();
        const x = leaf();
        x.registerHook(() => {
          throw kReasons[4];
        });
        await assertRejectsWith(call(x, { signal }), kReasons[4]);
        assertNoListeners(signal);
        const message = new RegExp(`\\[${name.split(".")[1]}\\] signal: expected an AbortSignal`);
        for (const wrong of [5, "now", {}, { aborted: true }, new AbortController()]) {
          await assertRejects(call(leaf(), { signal: wrong }), "InvalidArgument", message);
        }
      });
    });
  }
}

test("the synchronous forms take no signal", async () => {
  await eg.init({ threads: 1 });
  const x = eg.ones([1], { requiresGrad: true });
  const { signal } = new AbortController();
  for (const call of [
    () => x.sum().backward(null, { signal }),
    () => eg.autograd.backward(x.sum(), { signal }),
    () => eg.autograd.grad(x.sum(), x, { signal }),
  ]) {
    assert.throws(call, { code: "InvalidArgument", message: /"signal"/ });
  }
  await eg.shutdown();
});
