// Asynchronous calls in a memory that has no byte left settle, and work again when there is room. Each program runs in a
// separate process, whose memory may grow to 256 MiB.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { filling, printedBy } from "../support/full_memory.mjs";

const kFilling = `
  const Memory = WebAssembly.Memory;
  WebAssembly.Memory = function (descriptor) {
    if (descriptor.shared && descriptor.maximum > 256 * 16) throw new RangeError("could not allocate memory");
    return new Memory(descriptor);
  };
  WebAssembly.Memory.prototype = Memory.prototype;
  const eg = await import("edgegrad");
  await eg.init({ threads: 1 });
  const outcome = (promise) => promise.then(() => "done", (error) => error.code);
  ${filling(2 ** 27, 1)}
  class Square extends eg.autograd.Function {
    static forward(ctx, x) {
      ctx.saveForBackward(x);
      return x.mul(x);
    }
    static backward(ctx, grad) {
      const [x] = ctx.savedTensors;
      return grad.mul(x).mul(2);
    }
  }
  const x = eg.tensor([1, 2, 3], { requiresGrad: true });
  const squares = () => Square.apply(x).sum();
  // The gradient of one call, in a memory with room.
  const gradient = async () => {
    x.grad = null;
    await squares().backwardAsync();
    return x.grad.arraySync();
  };
`;

const printed = (text) => printedBy(kFilling + text);

const isOutcome = (one) => one === "done" || one === "OutOfMemory";

describe("a memory without a byte left", () => {
  test("settles the first backwardAsync, which runs a Function", async () => {
    const [first, gradient] = await printed(`
      const loss = squares();
      fill();
      print(await outcome(loss.backwardAsync()));
      empty();
      print(await gradient());
      await eg.shutdown();`);
    assert.equal(first, "OutOfMemory");
    assert.deepEqual(gradient, [2, 4, 6]);
  });

  for (const kind of ["squares()", "x.mul(x).exp().sum()"]) {
    test(`settles overlapping backwardAsync of ${kind} on threads that exist`, async () => {
      const [outcomes, gradient] = await printed(`
        const losses = () => Array.from({ length: 4 }, () => ${kind});
        await Promise.all(losses().map((loss) => loss.backwardAsync()));
        x.grad = null;
        const prepared = losses();
        fill();
        print(await Promise.all(prepared.map((loss) => outcome(loss.backwardAsync()))));
        empty();
        print(await gradient());
        await eg.shutdown();`);
      assert.equal(outcomes.length, 4);
      assert.ok(outcomes.every(isOutcome), String(outcomes));
      assert.deepEqual(gradient, [2, 4, 6]);
    });
  }
});
