// Known gradients, and gradients of graphs that are retained, created and freed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf, values } from "../support/graphs.mjs";

describe("known gradients", () => {
  const scalars = (...data) => data.map((value) => leaf(value));

  test("of expressions", () => {
    // rule: vector-jacobian-product, dependent-roots, shared-weight-sums
    const e = leaf([0.5, 0.75]);
    e.exp().sum().backward();
    assertTensor(e.grad, [1.6487213, 2.117]);

    const [x, y, z] = scalars(1, 2, 3);
    x.add(y.mul(z)).add(z.mul(z).mul(x).mul(4).div(y)).backward();
    assert.deepEqual(
      [x, y, z].map((one) => one.grad.item()),
      [19, -6, 14],
    );

    const a = leaf(2);
    const square = a.mul(a);
    eg.autograd.backward([square, square.pow(3)], {
      gradTensors: [eg.tensor(1), eg.tensor(10)],
    });
    assertTensor(a.grad, [1924]);

    const w = leaf(3);
    w.mul(w.mul(2)).backward();
    assertTensor(w.grad, [12]);
  });

  test("of several roots, which may repeat or depend on each other", () => {
    // rule: backward-several-roots, repeated-roots
    const [x, y, q, a, b] = scalars(1, 1, 5, 2, 3);
    const q2 = q.mul(2);
    eg.autograd.backward([x.add(y).add(q2), a.mul(b).add(q2)], {
      gradTensors: [eg.tensor(10), eg.tensor(100)],
    });
    assert.deepEqual(
      [x, y, a, b, q].map((one) => one.grad.item()),
      [10, 10, 300, 200, 220],
    );
    const [c, d] = scalars(2, 3);
    const product = c.mul(d);
    eg.autograd.backward([product, product], { gradTensors: [eg.tensor(1), eg.tensor(1)] });
    assert.deepEqual([c.grad.item(), d.grad.item()], [6, 4]);
  });

  test("are the caller's own: never shared with a gradient given or with another leaf's", () => {
    // rule: given-gradient-copied, leaves-own-gradients
    const v = leaf([
      [0, 0],
      [0, 0],
    ]);
    const given = eg.tensor([
      [1, 2],
      [3, 4],
    ]);
    v.backward(given);
    given.fill_(99);
    assertTensor(v.grad, [1, 2, 3, 4]);
    const [a, b, c] = scalars(1, 1, 1);
    a.add(b).add(c).backward();
    eg.noGrad(() => void a.grad.add_(5));
    assert.deepEqual([b.grad.item(), c.grad.item()], [1, 1]);
  });

  test("add up in the same object", () => {
    // rule: grad-accumulates, grad-added-in-place, grad-assignment
    const x = leaf(3);
    x.mul(x).backward();
    const first = x.grad;
    assertTensor(first, [6]);
    x.mul(x).backward();
    assert.equal(x.grad, first);
    assertTensor(first, [12]);
    const replaced = eg.tensor(1);
    x.grad = replaced;
    assert.equal(x.grad, replaced);
    first.dispose();
    x.grad = null;
    assert.equal(x.grad, null);
  });

  test("have the shape of what was broadcast", () => {
    // rule: broadcast-sums, empty-tensors, implicit-gradient
    const a = leaf([[1], [1], [1]]);
    const b = leaf([1, 2, 3, 4]);
    a.mul(b).sum().backward();
    assertTensor(a.grad, [10, 10, 10], { shape: [3, 1] });
    assertTensor(b.grad, [3, 3, 3, 3], { shape: [4] });
    const empty = eg.zeros([4, 0], { requiresGrad: true });
    const column = eg.zeros([4, 1], { requiresGrad: true });
    empty.add(column).sum().backward();
    assert.deepEqual(empty.grad.shape, [4, 0]);
    assertTensor(column.grad, [0, 0, 0, 0], { shape: [4, 1] });
    const one = leaf([[1]]);
    one.mul(2).backward();
    assertTensor(one.grad, [2], { shape: [1, 1] });
  });

  test("at the points where a function has none follow PyTorch", () => {
    // rule: subgradients, no-domain-check, norm-at-zero, ties-of-two, ties-of-reductions
    // rule: decomposed-identity
    const at = (fn, ...points) => {
      const x = leaf(points);
      fn(x).sum().backward();
      return values(x.grad);
    };
    assert.deepEqual(
      at((x) => x.abs(), 0),
      [0],
    );
    assert.deepEqual(
      at((x) => eg.relu(x).sub(eg.relu(x.neg())), 0),
      [0],
    );
    assert.deepEqual(
      at((x) => x.sqrt(), 0),
      [Number.POSITIVE_INFINITY],
    );
    assert.deepEqual(
      at((x) => x.clamp(-1, 1), -1, 1, 2),
      [1, 1, 0],
    );
    assert.deepEqual(
      at((x) => x.norm(), 0, 0),
      [0, 0],
    );
    assert.deepEqual(
      at((x) => x.mul(x).sum().sqrt(), 0, 0),
      [Number.NaN, Number.NaN],
    );
    const third = Math.fround(1 / 3);
    assert.deepEqual(
      at((x) => x.max(), 1, 0, 1, 0, 1),
      [third, 0, third, 0, third],
    );
    const [a, b] = scalars(2, 2);
    eg.maximum(a, b).backward();
    assert.deepEqual([a.grad.item(), b.grad.item()], [0.5, 0.5]);
  });
});

describe("graphs", () => {
  test("are freed by backward unless they are kept, where something was saved", () => {
    // rule: graph-freed, retain-graph, nothing-saved-nothing-freed
    const x = leaf(3);
    const y = x.mul(x);
    y.backward();
    assertThrows(() => y.backward(), "GraphFreed", /have been freed.*retainGraph: true/);
    assertTensor(x.grad, [6]);
    const z = x.mul(x);
    z.backward(null, { retainGraph: true });
    z.backward();
    assertTensor(x.grad, [18]);
    const w = x.add(1);
    w.backward();
    w.backward();
    assertTensor(x.grad, [20]);
  });

  test("of gradients are made by createGraph, which keeps the graph below", () => {
    // rule: create-graph, backward-through-grad
    const x = leaf(2);
    const y = x.pow(3);
    const create = { createGraph: true };
    const [g1] = eg.autograd.grad(y, x, create);
    const [g2] = eg.autograd.grad(g1, x, create);
    const [g3] = eg.autograd.grad(g2, x);
    assert.deepEqual(
      [g1, g2, g3].map((one) => one.item()),
      [12, 12, 6],
    );
    y.backward();
    assertTensor(x.grad, [12]);

    const [a, b] = [leaf(2), leaf(3)];
    a.mul(a).add(a.mul(b)).add(b.mul(b)).backward(null, create);
    assert.deepEqual([a.grad.item(), b.grad.item()], [7, 8]);
    assert.ok(a.grad.gradFn !== null && b.grad.gradFn !== null);
    a.grad.mul(2).add(b.grad).backward();
    assert.deepEqual([a.grad.item(), b.grad.item()], [12, 12]);
  });

  test("that hold their own leaf's gradient go when that is taken away", () => {
    // rule: create-graph-warns
    const x = leaf([1, 2]);
    assertFlat(() => {
      x.mul(x).sum().backward(null, { createGraph: true });
      x.grad = null;
    });
  });

  test("of 100,000 operations run and are freed", () => {
    // rule: deep-graph
    const { graphNodes } = eg.memory();
    eg.scope(() => {
      const x = leaf([1]);
      let y = x;
      for (let i = 0; i < 100_000; i++) {
        const next = y.mul(1);
        if (y !== x) y.dispose();
        y = next;
      }
      y.backward();
      assertTensor(x.grad, [1]);
    });
    assert.ok(eg.memory().graphNodes <= graphNodes + 1);
  });
});

// PyTorch's values: where two pieces of a function meet, the second derivative is that of one piece or zero, never half of one.
describe("second derivatives where pieces meet", () => {
  const second = (f, point) => {
    const x = eg.tensor([point], { dtype: "float64", requiresGrad: true });
    const [first] = eg.autograd.grad([f(x).sum()], [x], { createGraph: true });
    return eg.autograd.grad([first.sum()], [x])[0].item();
  };
  for (const [name, f, point, expected] of [
    ["elu", (x) => x.elu(0.7), 0, 0],
    ["celu", (x) => x.celu(0.7), 0, 0],
    ["selu", (x) => x.selu(), 0, 0],
    ["hardswish", (x) => x.hardswish(), 3, 0],
    ["hardswish", (x) => x.hardswish(), -3, 0],
    ["logNdtr", (x) => eg.logNdtr(x), 0, -2 / Math.PI],
  ]) {
    test(`${name} at ${point}`, () => {
      assert.ok(Math.abs(second(f, point) - expected) < 1e-12, `${second(f, point)}`);
    });
  }
});

test("circular padding does not bring back what a negative padding cut off", () => {
  const x = eg.arange(5).view(1, 5);
  assertTensor(eg.pad(x, [-1, 1], "circular"), [1, 2, 3, 4, 1]);
  assertTensor(eg.pad(x, [2, -1], "circular"), [2, 3, 0, 1, 2, 3]);
  assertThrows(() => eg.pad(x, [-3, -2], "circular"), "InvalidArgument", /no elements left/);
});
