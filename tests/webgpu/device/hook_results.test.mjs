// Values that the user's functions return to the device thread: they belong to the thread that returned them, and tensors are
// retained before anything can free them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { untilCollected } from "../../js/support/collect_garbage.mjs";
import { eg, leaf, options } from "../support/engine.mjs";

const { graph } = eg.autograd;
const kRounds = 20;

/** A tensor that is disposed of as soon as control returns to the event loop. */
function shortLived(tensor) {
  queueMicrotask(() => tensor.dispose());
  setImmediate(() => tensor.dispose());
  return tensor;
}

class Twice extends eg.autograd.Function {
  static forward(_ctx, x) {
    return x.mul(2);
  }
  static backward(_ctx, grad) {
    return shortLived(grad.mul(2));
  }
}

// Each returns a loss of x whose gradient is 2 or 2x. In its backward, a function returns a tensor that is disposed of
// immediately.
const cases = {
  "a tensor hook": (x) => {
    const y = x.mul(1);
    y.registerHook((grad) => shortLived(grad.mul(2)));
    return y.sum();
  },
  "a hook of a leaf": (x) => {
    x.registerHook((grad) => shortLived(grad.mul(2)));
    return x.mul(1).sum();
  },
  "a node's pre-hook": (x) => {
    const y = x.mul(1);
    y.gradFn.registerPrehook((grads) => grads.map((grad) => shortLived(grad.mul(2))));
    return y.sum();
  },
  "a node's hook": (x) => {
    const y = x.mul(1);
    y.gradFn.registerHook((grads) => grads.map((grad) => grad && shortLived(grad.mul(2))));
    return y.sum();
  },
  "Function.backward": (x) => Twice.apply(x).sum(),
  "an unpack hook": (x) =>
    graph.savedTensorsHooks(
      (tensor) => [tensor.clone()],
      ([tensor]) => shortLived(tensor.clone()),
      () => x.square().sum(),
    ),
};

describe("results that are let go of at once", options, () => {
  for (const [name, lossOf] of Object.entries(cases)) {
    for (const method of ["backward", "backwardAsync"]) {
      test(`${name}, with ${method}`, async () => {
        for (let i = 0; i < kRounds; i++) {
          const x = leaf([1, 1]);
          await lossOf(x)[method]();
          assert.deepEqual([...(await x.grad.data())], [2, 2]);
        }
      });
    }
  }
});

describe("values that hooks pack on the device's thread", options, () => {
  test("go with the graph", async () => {
    let made = 0;
    let collected = 0;
    const registry = new FinalizationRegistry(() => {
      collected++;
    });
    const pack = (tensor) => {
      const packed = { tensor: tensor.detach() };
      registry.register(packed, undefined);
      made++;
      return packed;
    };
    const step = async () => {
      const x = leaf([1, 2]);
      // The backward call that is recorded saves tensors on the thread that runs it.
      let done;
      graph.savedTensorsHooks(
        pack,
        ({ tensor }) => tensor,
        () => {
          done = x.square().mul(x).sum().backwardAsync(null, { createGraph: true });
        },
      );
      await done;
      x.grad = null;
    };
    for (let i = 0; i < kRounds; i++) await step();
    assert.ok(made > kRounds, `${made} values were packed`);
    await untilCollected(
      () => `release of ${made} values; ${collected} were let go of`,
      () => collected > 0.9 * made,
    );
  });
});
