// The call frame, which passes arguments and results to and from C++, grows to any size that is needed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const kLong = [257, 300, 5000, 200_000];
const engineWorks = () => assert.equal(eg.tensor([1, 2, 3]).mul(2).sum().item(), 12);

describe("lists longer than the call frame", () => {
  for (const [name, call] of [
    ["ints", (list) => eg.ones([3]).reshape(list)],
    ["ints that may be left out", (list) => eg.ones([3]).sum(list)],
    ["ints by name", (list) => eg.maxPool2d(eg.ones([1, 1, 4, 4]), 2, { stride: list })],
    ["numbers", (list) => eg.interpolate(eg.ones([1, 1, 4]), null, list)],
    ["padding", (list) => eg.conv2d(eg.ones([1, 1, 4, 4]), eg.ones([1, 1, 2, 2]), null, 1, list)],
    ["two lists", (list) => eg.roll(eg.ones([3]), list, list)],
  ]) {
    test(`${name} are refused`, () => {
      for (const length of kLong) {
        assert.throws(() => call(Array(length).fill(1)), eg.EdgeGradError);
        engineWorks();
      }
    });
  }

  test("many tensors are taken and given back", () => {
    const rows = eg.arange(600).reshape([300, 2]).unbind(0);
    assert.equal(rows.length, 300);
    assert.deepEqual(rows[299].arraySync(), [598, 599]);
    assert.deepEqual(eg.stack(rows).sum(0).arraySync(), [89700, 90000]);
    engineWorks();
  });
});

test("holes in a list are refused, not taken for zeros", () => {
  // biome-ignore lint/suspicious/noSparseArray: what is tested.
  const list = [2, , 3];
  assertThrows(() => eg.ones(list), "InvalidArgument", /^\[ones\] size: expected a whole number/);
  assertThrows(() => eg.ones(Array(3)), "InvalidArgument");
  // biome-ignore lint/suspicious/noSparseArray: what is tested.
  assertThrows(() => eg.cat([eg.ones([1]), ,]), "InvalidArgument", /^\[cat\] tensors/);
});

describe("what is made of the words of the frame may use the frame", () => {
  // More wrappers than are made between two checks of the engine's memory, which use the frame.
  const kMany = 300;
  const leaves = () =>
    Array.from({ length: kMany }, (_, i) => eg.tensor([i], { requiresGrad: true }));
  const first = Array.from({ length: kMany }, (_, i) => i);
  const numbers = (tensors) => tensors.map((one) => one.item());

  class Many extends eg.autograd.Function {
    static forward(ctx, ...tensors) {
      ctx.saveForBackward(...tensors);
      ctx.save = () => ctx.savedTensors;
      return tensors.map((one) => one.clone());
    }
    static backward(ctx, ...grads) {
      Many.seen = { grads: numbers(grads), saved: numbers(ctx.savedTensors) };
      return grads;
    }
  }

  test("tensors that a Function has saved, its results and its gradients", () => {
    for (const count of [2, 3, kMany]) {
      const results = Many.apply(...leaves().slice(0, count));
      assert.deepEqual(numbers(results), first.slice(0, count));
      const total = eg.cat(results.map((one, i) => one.mul(i))).sum();
      for (let i = 0; i < 70; i++) {
        total.backward(null, { retainGraph: true });
        assert.deepEqual(Many.seen, { grads: first.slice(0, count), saved: first.slice(0, count) });
      }
    }
  });

  test("gradients of many inputs, and those that node hooks see", async () => {
    const inputs = leaves();
    const y = eg.cat(inputs);
    const seen = [];
    y.gradFn.registerHook((gradInputs, gradOutputs) => {
      seen.push(numbers(gradInputs), gradOutputs.length);
    });
    const loss = y.mul(eg.arange(kMany)).sum();
    const options = { retainGraph: true };
    assert.deepEqual(numbers(eg.autograd.grad(loss, inputs, options)), first);
    assert.deepEqual(numbers(await eg.autograd.gradAsync(loss, inputs, options)), first);
    assert.deepEqual(seen, [first, 1, first, 1]);
    assert.equal(y.gradFn.nextFunctions.length, kMany);
    assert.deepEqual(
      y.gradFn.nextFunctions.map(([node]) => node.variable.item()),
      first,
    );
  });

  test("results of a captured function", () => {
    const step = eg.capture((x) => [...x.mul(2)], eg.arange(kMany));
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(
        numbers(step(eg.arange(kMany))),
        first.map((one) => 2 * one),
      );
    }
  });

  test("an argument that runs operations while it is read is refused", () => {
    const x = eg.ones([2, 3]);
    const sneaky = (value, use) =>
      new Proxy(value, {
        get: (target, key) => {
          use();
          return target[key];
        },
      });
    for (const use of [() => x.shape, () => eg.zeros([4]), () => x.item, () => x.grad]) {
      let isRefused = false;
      try {
        const result = x.sum(sneaky([1], use));
        assert.deepEqual(result.arraySync(), [3, 3]);
      } catch (error) {
        isRefused = true;
        assert.equal(error.code, "InvalidArgument", error.message);
      }
      assert.equal(isRefused, String(use) !== "() => x.item");
    }
    assertThrows(
      () => eg.cat(sneaky([x, x], () => x.shape)),
      "InvalidArgument",
      /getter or a Proxy/,
    );
    engineWorks();
  });
});
