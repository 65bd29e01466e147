// Hooks on nodes, and post-accumulate hooks on leaves, from JavaScript.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { leaf, values } from "../support/graphs.mjs";

describe("node hooks", () => {
  test("run around the node, prehooks first, and see what it receives and returns", () => {
    // rule: hook-order, post-hook-arguments
    const a = leaf([1]);
    const b = a.mul(2);
    const node = b.gradFn;
    const twice = ([grad]) => [grad.mul(2)];
    const log = [];
    node.registerPrehook(twice);
    node.registerPrehook(() => {});
    node.registerPrehook(twice);
    node.registerPrehook((grads) => grads);
    node.registerPrehook(twice);
    for (let i = 0; i < 2; i++) {
      node.registerHook((gradInputs, gradOutputs) => {
        log.push([gradOutputs.map(values), gradInputs.map((one) => one && values(one))]);
      });
    }
    b.backward();
    assert.deepEqual(log, Array(2).fill([[[8]], [[16], null]]));
    assertTensor(a.grad, [16]);
  });

  test("of an accumulator see no gradient leaving", () => {
    // rule: accumulator-hooks
    const a = leaf([1]);
    const b = a.clone();
    const [[accumulator]] = b.gradFn.nextFunctions;
    assert.equal(accumulator.name, "AccumulateGrad");
    const log = [];
    a.registerHook((grad) => grad.mul(2));
    a.registerHook((grad) => grad.mul(2));
    accumulator.registerPrehook((grads) => {
      log.push(["pre", grads.map(values)]);
    });
    accumulator.registerHook((gradInputs, gradOutputs) => {
      log.push(["post", gradInputs, gradOutputs.map(values)]);
    });
    b.backward();
    assert.deepEqual(log, [
      ["pre", [[4]]],
      ["post", [], [[4]]],
    ]);
  });

  test("removed during a pass still run in it, removed before do not", () => {
    // rule: hook-removed-in-pass
    const a = leaf([1]);
    const b = a.clone();
    const node = b.gradFn;
    const log = [];
    const handles = [];
    node.registerPrehook(() => {
      log.push(1);
      for (const handle of handles) handle.remove();
      for (const handle of handles) handle.remove();
    });
    handles.push(node.registerPrehook(() => void log.push(2)));
    const third = node.registerPrehook(() => void log.push(3));
    third.remove();
    b.backward(null, { retainGraph: true });
    assert.deepEqual(log, [1, 2]);
    b.backward();
    assert.deepEqual(log, [1, 2, 1]);
  });

  test("must return a list of the right length", () => {
    // rule: node-hook-count
    const broken = (hook, kind) => {
      const y = leaf([1]).clone();
      y.gradFn[kind](hook);
      return () => y.backward();
    };
    for (const kind of ["registerPrehook", "registerHook"]) {
      assertThrows(
        broken(() => [null, null], kind),
        "InvalidGradient",
        /returned 2 gradients, expected 1/,
      );
      assertThrows(
        broken(() => 5, kind),
        "InvalidGradient",
        /must return an array or nothing, got/,
      );
    }
  });

  test("run only where the node does", () => {
    // rule: node-hooks-with-node
    const x = leaf([2]);
    const y = x.mul(3);
    const z = y.mul(4);
    let calls = 0;
    y.gradFn.registerHook(() => void calls++);
    eg.autograd.grad(z, y, { retainGraph: true });
    assert.equal(calls, 0);
    eg.autograd.grad(z, [x, y], { retainGraph: true });
    assert.equal(calls, 1);
  });
});

describe("post-accumulate-grad hooks", () => {
  test("run in order, may change the leaf and its gradient", () => {
    // rule: post-accumulate-hook
    const t = leaf([0.1, 0.2, 0.3]);
    t.registerPostAccumulateGradHook((param) => eg.noGrad(() => void param.sub_(param.grad)));
    t.registerPostAccumulateGradHook((param) => eg.noGrad(() => void param.mul_(4)));
    t.sum().backward();
    assertTensor(t, [-3.6, -3.2, -2.8]);
  });

  test("run in their place among the hooks of the accumulator, and not for grad()", () => {
    // rule: hook-order, post-accumulate-not-for-grad
    const t = leaf([1]);
    const y = t.clone();
    const [[accumulator]] = y.gradFn.nextFunctions;
    const log = [];
    t.registerHook(() => void log.push("tensor"));
    accumulator.registerPrehook(() => void log.push("pre"));
    t.registerPostAccumulateGradHook(() => void log.push("accumulated"));
    accumulator.registerHook(() => void log.push("post"));
    y.backward(null, { retainGraph: true });
    assert.deepEqual(log, ["tensor", "pre", "accumulated", "post"]);
    eg.autograd.grad(y, t);
    assert.deepEqual(log.slice(4), ["tensor"]);
  });

  test("are for leaves, return nothing and can be removed", () => {
    // rule: post-accumulate-refused
    const t = leaf([1]);
    assertThrows(
      () => t.mul(2).registerPostAccumulateGradHook(() => {}),
      "InvalidArgument",
      /only a leaf tensor accumulates gradients/,
    );
    const handle = t.registerPostAccumulateGradHook(() => 1);
    assertThrows(() => t.mul(2).backward(), "InvalidArgument", /hook must not return a value/);
    handle.remove();
    t.mul(2).backward();
  });
});
