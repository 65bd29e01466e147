// eg.func.interceptOps: a handler sees, and may replace, every call of an op.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { func, nn } = eg;

/** Runs a function and returns the names of the calls in it, and its result. */
function namesIn(fn) {
  const names = [];
  const result = func.interceptOps(fn, (call) => {
    names.push(call.op);
    return call.run();
  });
  return { names, result };
}

describe("interceptOps", () => {
  test("sees functions, methods, layers and changes in place, in order", () => {
    const layer = new nn.Linear(3, 2);
    const { names, result } = namesIn(() => {
      const y = eg.add(layer.call(eg.ones([4, 3])), 1).relu();
      y.mul_(2);
      return y;
    });
    assert.deepEqual(names, ["ones", "linear", "add", "relu", "mul_"]);
    assert.deepEqual(result.shape, [4, 2]);
  });

  test("describes a call by the names of its parameters, with defaults", () => {
    const x = eg.tensor([1, 2]);
    const calls = [];
    const keep = (call) => {
      calls.push(call);
      return call.run();
    };
    func.interceptOps(() => x.sum({ keepdim: true }), keep);
    func.interceptOps(() => x.add_(1), keep);
    assert.deepEqual(calls[0].values, { input: x, dim: null, keepdim: true, dtype: null });
    assert.equal(calls[0].changes, null);
    assert.equal(calls[1].changes, x);
    assert.deepEqual(calls[1].values, { input: x, other: 1, alpha: 1 });
  });

  test("sees a function that is composed of ops, and its parts while it runs", () => {
    const { names } = namesIn(() => nn.functional.pixelShuffle(eg.ones([1, 4, 2, 2]), 2));
    assert.deepEqual(names, ["ones", "pixelShuffle", "reshape", "permute", "reshape"]);
    const composites = [];
    func.interceptOps(
      () => eg.rad2deg(eg.ones([2])),
      (call) => {
        if (call.isComposite) composites.push(call.op);
        return call.run();
      },
    );
    assert.deepEqual(composites, ["rad2deg"]);
  });

  test("sees other handles of a tensor, and the ops of a custom Function", () => {
    const x = eg.tensor([1, -2]);
    assert.deepEqual(namesIn(() => x.set_(["..."], 3)).names, ["alias", "fill_"]);
    class Twice extends eg.autograd.Function {
      static forward(_, input) {
        return input.mul(2);
      }
      static backward(_, grad) {
        return grad.mul(2);
      }
    }
    const leaf = eg.tensor([3], { requiresGrad: true });
    const { names, result } = namesIn(() => Twice.apply(leaf));
    assert.deepEqual(names, ["mul"]);
    result.sum().backward();
    assert.deepEqual(leaf.grad.arraySync(), [2]);
  });

  test("replaces the result of a call", () => {
    const result = func.interceptOps(
      () => eg.tensor([1, 2]).sin().add(1),
      (call) => (call.op === "sin" ? call.values.input.mul(10) : call.run()),
    );
    assert.deepEqual(result.arraySync(), [11, 21]);
  });

  test("keeps gradients and scopes as they are", () => {
    const x = eg.tensor([2], { requiresGrad: true });
    const before = eg.memory().tensors;
    const { result } = namesIn(() => eg.scope(() => x.mul(x).add(1)));
    assert.equal(eg.memory().tensors, before + 1);
    result.sum().backward();
    assert.deepEqual(x.grad.arraySync(), [4]);
  });

  test("sees what vmap() makes of calls, and nests", () => {
    const { names } = namesIn(() => func.vmap((row) => row.sum())(eg.ones([2, 3])));
    assert.deepEqual(names, ["ones", "sum"]);
    const outer = namesIn(() => namesIn(() => eg.ones([2]).add(1)).names);
    assert.deepEqual(outer.result, ["ones", "add"]);
    assert.deepEqual(outer.names, ["ones", "add"]);
  });

  test("tells of the tensors that are read, except by the handler", () => {
    const read = [];
    const x = eg.tensor([1, 2]);
    const run = (call) => {
      call.values.input?.dataSync();
      return call.run();
    };
    const options = { onRead: (tensor) => read.push(tensor) };
    func.interceptOps(() => [x.sum().item(), x.dataSync(), x.tolist()], run, options);
    assert.equal(read.length, 3);
    assert.ok(read.slice(1).every((one) => one === x));
    x.dataSync();
    assert.equal(read.length, 3);
    assertThrows(() => func.interceptOps(() => x, run, { onRead: 1 }), "InvalidArgument", /onRead/);
  });

  test("does not see what a checkpoint computes again in backward", () => {
    const x = eg.tensor([2], { requiresGrad: true });
    const { names, result } = namesIn(() => eg.autograd.checkpoint((y) => y.sin(), x));
    const before = [...names];
    result.sum().backward();
    assert.equal(before.at(-1), "sin");
    assert.deepEqual(names, before);
    assert.ok(x.grad !== null);
  });

  test("ends with the function, also if that throws", () => {
    let count = 0;
    const handler = (call) => {
      count++;
      return call.run();
    };
    assert.throws(() =>
      func.interceptOps(() => {
        throw new Error("own");
      }, handler),
    );
    eg.ones([2]).add(1);
    assert.equal(count, 0);
  });

  test("reports wrong arguments, results and promises", () => {
    const run = (call) => call.run();
    assertThrows(() => func.interceptOps(1, run), "InvalidArgument", /fn/);
    assertThrows(() => func.interceptOps(() => 1, null), "InvalidArgument", /handler/);
    assertThrows(
      () =>
        func.interceptOps(
          () => eg.ones([2]),
          () => 1,
        ),
      "InvalidArgument",
      /result of the call \(ones\)/,
    );
    assertThrows(() => func.interceptOps(async () => 1, run), "InvalidArgument", /promise/);
    assertThrows(
      () => func.vmap((row) => func.interceptOps(() => row.add(1), run))(eg.ones([2, 2])),
      "InvalidArgument",
      /inside vmap/,
    );
  });
});
