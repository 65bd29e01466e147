// In-place changes of views, which follow PyTorch's rules.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { leaf, nodeNames, values } from "../support/graphs.mjs";

describe("an in-place change of a view", () => {
  test("changes the history of the base", () => {
    // rule: inplace-on-view
    const root = leaf([
      [1, 2],
      [3, 4],
    ]);
    const x = root.clone();
    const v = x.narrow(0, 0, 1);
    v.mul_(2);
    assert.equal(x.gradFn.name, "CopySlices");
    assert.equal(v.gradFn.name, "AsStridedBackward0");
    x.sum().backward();
    assertTensor(root.grad, [2, 2, 1, 1]);
  });

  test("makes a base that needed no gradient need one, and its earlier views", () => {
    // rule: inplace-requires-grad, earlier-views-require-grad
    const a = eg.tensor([2, 5]);
    const b = leaf([3]);
    const r = a.narrow(0, 1, 1).mul_(b);
    r.sum().backward();
    assertTensor(b.grad, [5]);
    assertTensor(a, [2, 15]);
    assert.deepEqual([a.requiresGrad, a.gradFn.name], [true, "CopySlices"]);

    const x = eg.ones([5]);
    const view = x.select(0, 1);
    assert.deepEqual([view.requiresGrad, view.gradFn], [false, null]);
    const one = leaf(1);
    x.add_(one);
    assert.equal(view.requiresGrad, true);
    view.backward();
    assertTensor(one.grad, [1]);
  });

  test("is what assigning to an index does", () => {
    // rule: assignment-cuts-history, assignment-gives-gradient
    const x = leaf(eg.ones([3, 2]).arraySync());
    const y = x.add(2);
    const { version } = y;
    y.set_([1], 2);
    assert.equal(y.version, version + 1);
    y.backward(eg.ones([3, 2]));
    assertTensor(x.grad, [1, 1, 0, 0, 1, 1]);

    const [p, q] = [leaf([1, 1]), leaf([1, 1])];
    const z = eg.zeros([3, 2]);
    z.set_([0], p);
    z.set_([1], q.mul(2));
    z.sum().backward();
    assertTensor(p.grad, [1, 1]);
    assertTensor(q.grad, [2, 2]);

    const row = leaf([1, 2, 3, 4]);
    const cube = eg.zeros([2, 3, 4]);
    cube.set_([1], row);
    cube.sum().backward();
    assertTensor(row.grad, [3, 3, 3, 3]);
  });

  test("of a view of a view is seen by all", () => {
    // rule: views-see-changes, view-base
    const root = leaf([1, 2, 3, 4]);
    const x = root.clone();
    const half = x.narrow(0, 0, 2);
    const first = half.narrow(0, 0, 1);
    const other = x.narrow(0, 1, 3);
    first.mul_(10);
    assert.deepEqual([first, half, other].map(values), [[10], [10, 2], [2, 3, 4]]);
    half.sum().add(other.sum()).backward();
    assertTensor(root.grad, [10, 2, 1, 1]);
    assert.equal(first.base.shape[0], 4);
  });

  test("chains, each change on top of the one before", () => {
    // rule: inplace-on-view-chain, slice-not-shared
    const root = leaf([1, 2], { dtype: "float64" });
    const program = (x) => {
      const y = x.clone();
      y.narrow(0, 1, 1).mul_(y.narrow(0, 0, 1));
      y.narrow(0, 0, 1).exp_();
      return y;
    };
    assert.equal(eg.autograd.gradcheck(program, root), true);
    assert.equal(eg.autograd.gradgradcheck(program, root), true);
    assert.equal(nodeNames(program(root)).filter((name) => name === "CopySlices").length, 2);
  });
});

describe("in-place changes that are refused", () => {
  test("of leaves and their views", () => {
    // rule: leaf-inplace-error
    const x = leaf([1, 2]);
    assertThrows(
      () => x.add_(1),
      "LeafInPlace",
      /a leaf that requires a gradient cannot be changed in place/,
    );
    assertThrows(
      () => x.viewAs(x).add_(1),
      "LeafInPlace",
      /a view of a leaf that requires a gradient cannot be changed in place/,
    );
    eg.noGrad(() => {
      x.add_(1);
      x.viewAs(x).add_(1);
    });
    assert.equal(x.version, 2);
    assertTensor(x, [3, 4]);
  });

  test("of views that come in groups", () => {
    // rule: multi-output-views, view-inplace-error, restriction-needs-gradient
    const x = leaf([1, 2]).clone();
    const [part] = eg.unbind(x);
    assertThrows(
      () => part.mul_(2),
      "ViewInPlace",
      /output 0 of UnbindBackward0, a view, cannot be changed in place\. It is one of several views/,
    );
    for (const parts of [eg.chunk(x, 2), eg.split(x, 1)]) {
      assertThrows(() => parts[1].mul_(2), "ViewInPlace", /one of several views/);
    }
    const [free] = eg.unbind(eg.ones([2]));
    assertTensor(free.mul_(2), [2]);
  });

  test("leave the tensor unchanged", () => {
    const x = leaf([1, 2]);
    const y = x.clone();
    const [part] = eg.unbind(y);
    assertThrows(() => part.mul_(2), "ViewInPlace");
    assertThrows(() => x.mul_(2), "LeafInPlace");
    assert.deepEqual(
      [values(x), values(y)],
      [
        [1, 2],
        [1, 2],
      ],
    );
    assert.equal(y.version, 0);
  });
});

describe("a lost history", () => {
  test("does not hide what else a view can tell", () => {
    // rule: restricted-view-stale
    const x = leaf([1, 2]).clone();
    const view = eg.noGrad(() => x.view([2]));
    x.mul_(2);
    assertThrows(
      () => view.gradFn,
      "ViewInPlace",
      /its base or another view of it was changed in place/,
    );
    assert.deepEqual(view.shape, [2]);
    assertTensor(view, [2, 4]);
    assert.match(String(view), /Invalid/);
  });
});

describe("versions", () => {
  test("are counted once per change and shared by views and detached tensors", () => {
    // rule: version-per-change, version-shared
    const x = eg.zeros([4]);
    x.add_(1).add_(1);
    assert.equal(x.version, 2);
    const v = x.narrow(0, 0, 2);
    v.add_(1);
    const d = x.detach();
    assert.deepEqual([x.version, v.version, d.version], [3, 3, 3]);
    d.zero_();
    assert.equal(x.version, 4);
    assert.equal(x.clone().version, 0);
  });
});
