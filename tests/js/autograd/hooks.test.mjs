// Hooks on tensors and retainGrad(), from JavaScript.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf, values } from "../support/graphs.mjs";

describe("a tensor hook", () => {
  test("sees what the one before it returned", () => {
    // rule: tensor-hook-order
    const a = leaf(1);
    const b = a.clone();
    b.registerHook((grad) => grad.mul(2));
    b.registerHook((grad) => grad.add(1));
    b.backward();
    assertTensor(a.grad, [3]);
  });

  test("may only look", () => {
    // rule: tensor-hook-returns
    const x = leaf([1, 2]);
    const seen = [];
    x.registerHook((grad) => {
      seen.push(values(grad));
    });
    x.registerHook((grad) => grad.mul(10));
    x.mul(3).sum().backward();
    assert.deepEqual(seen, [[3, 3]]);
    assertTensor(x.grad, [30, 30]);
  });

  test("leaves no handles behind, neither at work nor removed", () => {
    const x = leaf([1]);
    assertFlat(() => {
      const hook = x.registerHook(() => {});
      x.mul(3).backward();
      hook.remove();
      x.mul(3).backward();
    });
  });

  test("that closes over its own tensor goes with the scope, or with dispose()", () => {
    // rule: hook-memory
    const x = leaf([1]);
    assertFlat((i) => {
      const y = x.mul(2);
      y.registerHook((grad) => grad.mul(y));
      y.gradFn.registerPrehook(() => void y.shape);
      if (i % 2) y.dispose();
    });
  });

  test("of an input of grad() that is not executed still runs, one of another leaf does not", () => {
    // rule: sibling-outputs, tensor-hook-without-node
    const x = leaf(eg.ones([4, 2]).arraySync());
    let calls = 0;
    x.registerHook(() => {
      calls++;
    });
    const [a, b] = eg.chunk(x, 2);
    const gradOutputs = eg.tensor([
      [1, 2],
      [3, 4],
    ]);
    const [ga, gb] = eg.autograd.grad(a.add(b.mul(2)), [a, b], { gradOutputs });
    assertTensor(ga, [1, 2, 3, 4]);
    assertTensor(gb, [2, 4, 6, 8]);
    assert.equal(calls, 0);
    assert.equal(x.grad, null);
    eg.autograd.grad(x.sum(), x);
    assert.equal(calls, 1);
  });

  test("of one of several outputs gets null when no gradient came", () => {
    // rule: tensor-hook-null
    const x = leaf([1, 2, 3, 4, 5]);
    const xs = eg.unbind(x);
    const seen = [];
    xs[0].registerHook((grad) => {
      seen.push(grad?.item() ?? null);
    });
    for (const one of xs) one.backward(null, { retainGraph: true });
    assert.deepEqual(seen, [1, null, null, null, null]);
    assertTensor(x.grad, [1, 1, 1, 1, 1]);
  });

  test("cannot put a value in the place of null", () => {
    // rule: tensor-hook-null
    const [first, second] = eg.unbind(leaf([1, 2]));
    first.registerHook(() => eg.ones([]));
    assertThrows(() => second.backward(), "InvalidGradient", /cannot replace a null gradient/);
  });

  test("must keep shape and dtype, and is named in the error", () => {
    const x = leaf([1, 2]);
    const y = x.mul(2);
    y.registerHook(function shrinking(grad) {
      return grad.sum();
    });
    assertThrows(
      () => y.sum().backward(),
      "InvalidGradient",
      /hook 'shrinking' returned a gradient of shape/,
    );
    const z = x.mul(2);
    z.registerHook((grad) => grad.to("float64"));
    assertThrows(() => z.sum().backward(), "InvalidGradient", /returned a gradient of .* expected/);
    assertThrows(() => x.registerHook(3), "InvalidArgument", /expected a function/);
    assertThrows(
      () => eg.ones([2]).registerHook(() => {}),
      "InvalidArgument",
      /does not require a gradient/,
    );
    const w = x.mul(2);
    w.registerHook(() => "no tensor");
    assertThrows(() => w.sum().backward(), "InvalidGradient", /a tensor or nothing/);
  });

  test("that is removed is freed by the engine, also after the tensor", () => {
    // rule: hook-removal
    const x = leaf([1]);
    const sum = (() => {
      const y = x.mul(1);
      const handle = y.registerHook((grad) => grad.mul(100));
      y.dispose();
      handle.remove();
      handle.remove();
      return eg.add(x, 0);
    })();
    sum.backward();
    assertTensor(x.grad, [1]);

    const y = x.mul(3);
    const keep = y.registerHook((grad) => grad.mul(2));
    const z = y.sum();
    y.dispose();
    keep.remove();
    x.grad = null;
    z.backward();
    assertTensor(x.grad, [3]);
  });

  test("stays with the value it was registered for when the tensor changes in place", () => {
    // rule: hooks-stay-with-value
    const x = leaf([1, 2]);
    const y = x.clone();
    const before = [];
    const after = [];
    y.registerHook((grad) => {
      before.push(values(grad));
    });
    y.mul_(3);
    y.registerHook((grad) => {
      after.push(values(grad));
    });
    y.sum().backward();
    assert.deepEqual(before, [[3, 3]]);
    assert.deepEqual(after, [[1, 1]]);
  });

  test("of a leaf outlives the graphs", () => {
    // rule: leaf-hook-outlives-graph
    const x = leaf([1]);
    let calls = 0;
    x.registerHook(() => {
      calls++;
    });
    for (let i = 0; i < 3; i++) eg.scope(() => x.mul(2).sum().backward());
    assert.equal(calls, 3);
  });

  test("that runs backward itself is fine", () => {
    // rule: hook-may-nest
    const x = leaf([2]);
    const inner = leaf([5]);
    x.registerHook((grad) => {
      eg.enableGrad(() => inner.mul(inner).backward());
      return grad.mul(inner.grad);
    });
    x.mul(3).backward();
    assertTensor(x.grad, [30]);
    assertTensor(inner.grad, [10]);
  });

  test("registered after detach, view or nothing changes gradients as its equivalents do", () => {
    // rule: detach-equivalents
    for (const make of [(x) => x.detach(), (x) => eg.noGrad(() => x.viewAs(x))]) {
      const x = leaf([2]);
      x.mul(x).add(make(x).mul(x)).sum().backward();
      assertTensor(x.grad, [6]);
    }
    const x = leaf([2]);
    const y = x.viewAs(x);
    y.registerHook((grad) => eg.zerosLike(grad));
    x.mul(x).add(y.mul(x)).sum().backward();
    assertTensor(x.grad, [6]);
    assert.equal(y.requiresGrad, true);
  });
});

describe("retainGrad", () => {
  test("keeps and adds up the gradient of a result", () => {
    // rule: retain-grad
    const x = leaf([1, 2]);
    const h = x.mul(3);
    h.retainGrad();
    h.retainGrad();
    assert.equal(h.retainsGrad, true);
    assert.equal(x.retainsGrad, false);
    const out = h.mul(h).sum();
    out.backward(null, { retainGraph: true });
    assertTensor(h.grad, [6, 12]);
    out.backward();
    assertTensor(h.grad, [12, 24]);
    assertThrows(() => eg.ones([1]).retainGrad(), "InvalidArgument", /does not require a gradient/);
    x.retainGrad();
    assert.equal(x.retainsGrad, false);
  });

  test("sees the gradient after all tensor hooks and before the node's prehooks", () => {
    // rule: retain-grad-after-hooks
    const x = leaf([1]);
    const y = x.clone();
    y.retainGrad();
    y.registerHook((grad) => grad.mul(2));
    y.gradFn.registerPrehook(([grad]) => [grad.mul(10)]);
    y.backward();
    assertTensor(y.grad, [2]);
    assertTensor(x.grad, [20]);
  });

  test("moves to the newest value when the tensor changes in place", () => {
    // rule: retain-grad-moves
    const x = leaf([1]);
    const y = x.clone();
    y.retainGrad();
    y.mul_(5);
    y.backward();
    assertTensor(y.grad, [1]);
    assertTensor(x.grad, [5]);
  });
});
