// Functions that run once per backward call: hooks on several tensors, queued callbacks.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { leaf, values } from "../support/graphs.mjs";

describe("hooks of several tensors", () => {
  test("with mode all run once per call, with null for what is not computed", () => {
    // rule: multi-hook-all
    const [t1, t2, t3, t4] = [1, 2, 3, 4].map((value) => leaf([value]));
    const calls = [];
    eg.autograd.graph.registerMultiGradHook([t1, t2, t3, t4], (grads) => {
      calls.push(grads.map((grad) => grad !== null));
    });
    const out = t2.mul(t3);
    const run = (inputs) => out.backward(null, { inputs, retainGraph: true });
    run([t2, t3]);
    assert.deepEqual(calls, [[false, true, true, false]]);
    run([t1, t4]);
    assert.equal(calls.length, 1);
    run([t1, t3]);
    assert.deepEqual(calls[1], [false, false, true, false]);

    // rule: multi-hook-after-error
    const failing = t2.clone();
    const handle = failing.registerHook(() => {
      throw new Error("stop");
    });
    const both = t3.mul(failing).mul(t3);
    assert.throws(() => both.backward(null, { retainGraph: true }), /stop/);
    assert.equal(calls.length, 2);
    handle.remove();
    both.backward();
    assert.deepEqual(calls.slice(2), [[false, true, true, false]]);
  });

  test("are registered on all tensors or on none", () => {
    const t = leaf([1]);
    let calls = 0;
    assertThrows(
      () => eg.autograd.graph.registerMultiGradHook([t, eg.ones([1])], () => void calls++),
      "InvalidArgument",
      /does not require a gradient/,
    );
    t.mul(2).backward();
    assert.equal(calls, 0);
  });

  test("with mode any run once per call, with the first gradient", () => {
    // rule: multi-hook-any
    const [a, b] = [leaf([1]), leaf([2])];
    const seen = [];
    const handle = eg.autograd.graph.registerMultiGradHook(
      [a, b, eg.ones([1])],
      (grad) => void seen.push(values(grad)),
      "any",
    );
    const y = a.mul(b);
    y.backward(null, { retainGraph: true });
    y.backward(null, { retainGraph: true });
    assert.equal(seen.length, 2);
    handle.remove();
    y.backward();
    assert.equal(seen.length, 2);
    assertThrows(
      () => eg.autograd.graph.registerMultiGradHook([a], () => {}, "foo"),
      "InvalidArgument",
      /mode: expected "all" or "any", got "foo"/,
    );
  });
});

describe("queueCallback", () => {
  test("runs once after all nodes, and a callback may queue another", () => {
    // rule: callback-runs-last, callback-queues-more
    const x = leaf([3]);
    const y = x.mul(x);
    const log = [];
    y.registerHook(() => {
      eg.autograd.graph.queueCallback(() => {
        log.push(["first", x.grad?.item()]);
        eg.autograd.graph.queueCallback(() => log.push("second"));
      });
      log.push("hook");
    });
    y.backward();
    assert.deepEqual(log, ["hook", ["first", 6], "second"]);
  });

  test("belongs to the backward call it was made in", () => {
    // rule: callback-of-its-call
    const log = [];
    const inner = leaf([1]);
    inner.registerHook(() => eg.autograd.graph.queueCallback(() => log.push("inner")));
    const outer = leaf([1]);
    outer.registerHook(() => {
      eg.autograd.graph.queueCallback(() => log.push("outer"));
      eg.enableGrad(() => inner.mul(2).backward());
      log.push("hook");
    });
    outer.mul(2).backward();
    assert.deepEqual(log, ["inner", "hook", "outer"]);
  });

  test("throws outside of backward, and what it throws comes out of backward", () => {
    // rule: callback-only-in-backward, callback-error
    assertThrows(
      () => eg.autograd.graph.queueCallback(() => {}),
      "InvalidArgument",
      /\[queueCallback\] can only be called during a backward call/,
    );
    const error = new Error("in the callback");
    const x = leaf([1]);
    x.registerHook(() =>
      eg.autograd.graph.queueCallback(() => {
        throw error;
      }),
    );
    assert.throws(
      () => x.mul(1).backward(),
      (thrown) => thrown === error,
    );
  });
});
