// allowMutationOnSavedTensors(), and other members of autograd.graph about what is saved.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf } from "../support/graphs.mjs";

const { graph, grad, Function: AutogradFunction } = eg.autograd;
const { allowMutationOnSavedTensors } = graph;

describe("allowMutationOnSavedTensors", () => {
  const inPlace = {
    "the tensor itself": (b) => b.sin_(),
    "a view of it": (b) => b.viewAs(b).sin_(),
    "a part of it": (b) => b.narrow(0, 0, 1).mul_(10),
    "an element": (b) => b.set_([0], 5),
  };

  for (const [name, change] of Object.entries(inPlace)) {
    test(`gives the gradients of the old values after a change of ${name}`, () => {
      // rule: mutation-allowed
      const run = () => {
        const a = leaf([1, 2, 3]);
        const b = a.clone();
        const out = b.pow(2).sum();
        change(b);
        out.backward();
        return a.grad;
      };
      assertThrows(run, "ModifiedInPlace", /./);
      let context;
      const gradient = allowMutationOnSavedTensors((own) => {
        context = own;
        return run();
      });
      assertTensor(gradient, [2, 4, 6]);
      assert.deepEqual([context.savedCount, context.clonedCount], [0, 0]);
    });
  }

  test("copies what a view saved when its base changes, and computes second derivatives", () => {
    const a = leaf([1, 2]);
    const second = allowMutationOnSavedTensors(() => {
      const b = a.clone();
      const out = b.narrow(0, 0, 2).pow(3).sum();
      b.mul_(2);
      const [first] = grad(out, a, { createGraph: true });
      return grad(first.sum(), a)[0];
    });
    assertTensor(second, [6, 12]);
  });

  test("copies a tensor once, and only while it is saved", () => {
    // rule: mutation-allowed
    allowMutationOnSavedTensors((context) => {
      const a = leaf([1, 2]).clone();
      const out = a.pow(2).sum();
      assert.equal(context.savedCount, 1);
      out.backward();
      assert.equal(context.savedCount, 0);
      a.sin_();
      assert.equal(context.clonedCount, 0);
      eg.scope(() => {
        const b = a.detach().requiresGrad_().clone();
        b.pow(2);
        b.pow(2);
        b.detach().mul_(2);
        assert.equal(context.clonedCount, 1);
        b.pow(2);
        b.detach().mul_(2);
        assert.equal(context.clonedCount, 2);
      });
    });
  });

  test("holds for steps of optimizers", () => {
    const weight = leaf([3]);
    const x = leaf([2]);
    const optimizer = new eg.optim.SGD([weight], { lr: 1 });
    allowMutationOnSavedTensors(() => {
      const out = weight.mul(x).sum();
      const other = weight.mul(5).sum();
      other.backward();
      optimizer.step();
      assertTensor(weight, [-2]);
      out.backward();
    });
    assertTensor(x.grad, [3]);
  });

  test("must contain the backward call, and cannot be nested", () => {
    // rule: mutation-scope
    const a = leaf([1, 2]);
    const out = allowMutationOnSavedTensors(() => a.pow(2).sum());
    const message = /backward must run in the same call in which the graph was recorded/;
    assertThrows(() => out.backward(), "InvalidArgument", message);
    const again = allowMutationOnSavedTensors(() => a.pow(2).sum());
    assertThrows(
      () => allowMutationOnSavedTensors(() => again.backward()),
      "InvalidArgument",
      message,
    );
    assertThrows(
      () => allowMutationOnSavedTensors(() => allowMutationOnSavedTensors(() => 1)),
      "InvalidArgument",
      /cannot be nested/,
    );
    assert.equal(
      allowMutationOnSavedTensors(() => 1),
      1,
    );
    assertThrows(() => allowMutationOnSavedTensors(5), "InvalidArgument", /./);
  });

  test("leaves nothing behind", () => {
    assertFlat(() => {
      eg.scope(() =>
        allowMutationOnSavedTensors(() => {
          const b = leaf([1, 2]).clone();
          b.pow(2);
          const out = b.pow(2).sum();
          b.sin_();
          out.backward();
        }),
      );
    });
  });
});

test("saveOnCpu accepts pinMemory: false and refuses true", () => {
  const x = leaf([1]);
  graph.saveOnCpu(() => x.exp(), { pinMemory: false }).backward();
  assertThrows(
    () => graph.saveOnCpu(() => x.exp(), { pinMemory: true }),
    "InvalidArgument",
    /pinMemory: memory of WebAssembly cannot be pinned/,
  );
});

describe("versions", () => {
  test("incrementVersion() makes saved tensors outdated", () => {
    // rule: version-incremented
    const x = leaf([1]);
    const y = x.mul(1);
    const out = y.exp().mul(y);
    assert.equal(y.version, 0);
    graph.incrementVersion(y);
    assert.equal(y.version, 1);
    graph.incrementVersion([y, y]);
    assert.equal(y.version, 3);
    assertThrows(() => out.backward(), "ModifiedInPlace", /./);
    const integers = eg.zeros([2], { dtype: "int32" });
    graph.incrementVersion(new Set([integers]));
    assert.equal(integers.version, 1);
    // It has no version.
    graph.incrementVersion(eg.inferenceMode(() => eg.ones([1])));
    assertThrows(
      () => graph.incrementVersion([1]),
      "InvalidArgument",
      /tensors: expected a tensor/,
    );
  });

  test("unsafePreserveVersionCounter() restores versions", () => {
    // rule: version-incremented
    const x = leaf([2]).clone();
    const out = x.mul(x);
    x.detach();
    const result = graph.unsafePreserveVersionCounter(x, () => {
      x.detach().mul_(2);
      assert.equal(x.version, 1);
      return 7;
    });
    assert.equal(result, 7);
    assert.equal(x.version, 0);
    out.backward();
    assert.throws(() =>
      graph.unsafePreserveVersionCounter([x], () => {
        x.detach().mul_(2);
        throw new Error("mine");
      }),
    );
    assert.equal(x.version, 0);
  });
});

describe("nodes", () => {
  test("inputMetadata has the form of each gradient", () => {
    // rule: output-metadata
    const [x, y] = [leaf([1, 2]), leaf([3, 4])];
    assert.deepEqual(x.mul(y).gradFn.inputMetadata, [
      { shape: [2], dtype: "float32", device: "cpu" },
    ]);
    const [variance] = eg.varMean(leaf([[1, 2, 3]], { dtype: "float64" }), { dim: 0 });
    assert.deepEqual(
      variance.gradFn.inputMetadata.map(({ shape, dtype }) => [shape, dtype]),
      [
        [[3], "float64"],
        [[3], "float64"],
      ].slice(0, variance.gradFn.inputMetadata.length),
    );
  });

  test("savedTensors and saved of a Function, until the graph is freed", () => {
    // rule: function-saved-by-node
    class Saving extends AutogradFunction {
      static forward(ctx, x, y) {
        const out = x.mul(y);
        ctx.saveForBackward(x, y, null, out);
        return out;
      }
      static backward(ctx, grad) {
        const [x, y] = ctx.savedTensors;
        return [grad.mul(y), grad.mul(x)];
      }
    }
    const [x, y] = [leaf([1, 2]), leaf([3, 4])];
    const out = Saving.apply(x, y);
    const { gradFn } = out;
    const [first, second, none, result] = gradFn.savedTensors;
    assert.deepEqual([first === x, second === y, none], [true, true, null]);
    assertTensor(result, [3, 8]);
    assert.equal(result.gradFn, gradFn);
    assert.deepEqual(Object.keys(gradFn.saved), ["0", "1", "2", "3"]);
    assert.equal(gradFn.saved[1], y);
    out.sum().backward();
    assertThrows(() => gradFn.savedTensors, "GraphFreed", /./);
    const node = x.mul(y).gradFn;
    assert.deepEqual(
      node.savedTensors.map((one) => one === x || one === y),
      [true, true],
    );
  });
});
