// The tensors that nodes save for backward, and hooks on them.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf, values } from "../support/graphs.mjs";

const { graph } = eg.autograd;

describe("saved tensors", () => {
  test("are looked up by PyTorch's names, as they were", () => {
    // rule: saved-introspection, saved-output-alias
    const a = leaf([2]);
    const b = a.mul(a);
    const c = a.mul(b);
    const d = a.exp();
    assert.deepEqual(Object.keys(b.gradFn.saved), ["self", "other"]);
    assertTensor(b.gradFn.saved.self, [2]);
    assert.equal(b.gradFn.saved.self.isLeaf, true);
    assert.equal(c.gradFn.saved.other.gradFn, b.gradFn);
    const { result } = d.gradFn.saved;
    assertTensor(result, values(d));
    assert.equal(result.gradFn, d.gradFn);
    assert.equal(result.version, d.version);
    assert.equal(eg.leakyRelu(a, 0.5).gradFn.saved.negativeSlope, 0.5);
  });

  test("are freed with the graph", () => {
    // rule: saved-freed, saved-hooks-once
    const a = leaf([2]);
    const c = a.mul(a);
    const raw = c.gradFn.rawSaved.self;
    c.backward();
    const identity = (x) => x;
    assertThrows(() => c.gradFn.saved.self, "GraphFreed", /have been freed/);
    assert.throws(() => raw.registerHooks(identity, identity), /saved tensor has been freed/);
  });

  test("take one pair of hooks, unless there is nothing to keep", () => {
    // rule: saved-hooks-once, pack-once
    const a = leaf([2]);
    const c = a.mul(a);
    const packed = [];
    c.gradFn.rawSaved.self.registerHooks(
      (x) => {
        packed.push(values(x));
        return x.mul(10);
      },
      (x) => x.div(10),
    );
    const identity = (x) => x;
    assert.throws(
      () => c.gradFn.rawSaved.self.registerHooks(identity, identity),
      /already has hooks/,
    );
    assert.deepEqual(packed, [[2]]);
    c.backward();
    assertTensor(a.grad, [4]);
    const onlyOne = a.unsqueeze(0).mm(eg.ones([1, 1]));
    assert.throws(
      () => onlyOne.gradFn.rawSaved.self.registerHooks(identity, identity),
      /cannot have hooks/,
    );
    assertThrows(() => c.gradFn.rawSaved.self.registerHooks(1, 2), "InvalidArgument");
  });

  test("changed in place are detected, whatever changed them", () => {
    // rule: saved-checked, saved-message
    const x = leaf([1, 2]);
    const y = x.add(0);
    const z = y.mul(y);
    y.add_(1);
    assertThrows(
      () => z.sum().backward(),
      "ModifiedInPlace",
      /float32 tensor of shape \[2\] \(output 0 of AddBackward0\).* is at version 1, but was saved at version 0\..*detectAnomaly/,
    );
    const w = x.mul(x).sum();
    eg.noGrad(() => void x.mul_(2));
    assertThrows(() => w.backward(), "ModifiedInPlace", /needs was changed in place/);
  });

  test("mix of in-place changes and saved values: what is not needed may change", () => {
    // rule: unread-values-may-change
    const x = leaf(eg.ones([1]).arraySync());
    const y = x.add(0).mul(4);
    const m = x.div(2);
    const z = m.add(y.div(8));
    const q = z.mul(y);
    const r = z.add(y);
    const w = z.exp_();
    r.backward(null, { retainGraph: true });
    w.backward(null, { retainGraph: true });
    assertThrows(() => q.backward(), "ModifiedInPlace");
  });
});

describe("savedTensorsHooks", () => {
  test("keep any JavaScript value, which unpack gets each time", () => {
    // rule: pack-once, unpack-each-time
    const a = leaf([2, 3]);
    const packs = [];
    let unpacks = 0;
    const y = graph.savedTensorsHooks(
      (x) => {
        assert.equal(x, a);
        packs.push(x.shape);
        return { data: values(x), shape: x.shape };
      },
      ({ data, shape }) => {
        unpacks++;
        return eg.tensor(data, { shape });
      },
      () => a.mul(a).sum(),
    );
    assert.deepEqual(packs, [[2], [2]]);
    assert.equal(unpacks, 0);
    y.backward(null, { retainGraph: true });
    y.backward();
    assert.equal(unpacks, 4);
    assertTensor(a.grad, [8, 12]);
  });

  test("the innermost pair counts, and only while it is there", () => {
    // rule: saved-hooks-innermost
    const a = leaf([1]);
    const log = [];
    const hooks = (name, fn) =>
      graph.savedTensorsHooks(
        (x) => {
          log.push(name);
          return x;
        },
        (x) => x,
        fn,
      );
    hooks("outer", () => {
      hooks("inner", () => a.exp());
      a.exp();
    });
    a.exp();
    assert.deepEqual(log, ["inner", "outer"]);
  });

  test("keep the path to the tensor for a second derivative", () => {
    // rule: unpack-restores-history
    const a = leaf([3], { dtype: "float64" });
    const cube = (x) =>
      graph.savedTensorsHooks(
        (t) => values(t),
        (data) => eg.tensor(data, { dtype: "float64" }),
        () => x.mul(x).mul(x),
      );
    assert.equal(eg.autograd.gradgradcheck(cube, a), true);
  });

  test("plain numbers are not packed", () => {
    // rule: numbers-not-packed
    let packs = 0;
    graph.savedTensorsHooks(
      (x) => {
        packs++;
        return x;
      },
      (x) => x,
      () => leaf([1]).mul(3),
    );
    assert.equal(packs, 0);
  });

  test("pack may not change its argument", () => {
    // rule: pack-must-not-change
    const pack = (x) => x.add_(1);
    assert.throws(
      () => graph.savedTensorsHooks(pack, pack, () => leaf([1]).add(0).exp()),
      /pack hook must not change its argument in place/,
    );
  });

  test("unpack must return a tensor", () => {
    // rule: unpack-returns-tensor
    const a = leaf([1]);
    const y = graph.savedTensorsHooks(
      (x) => x,
      () => 5,
      () => a.exp(),
    );
    assertThrows(
      () => y.backward(),
      "InvalidArgument",
      /unpack must return a tensor, got number 5/,
    );
  });

  test("what they throw comes out of the operation and of backward", () => {
    // rule: saved-hook-errors
    const a = leaf([1]);
    const packError = new Error("pack");
    const failing = (error) => () => {
      throw error;
    };
    assert.throws(
      () =>
        graph.savedTensorsHooks(
          failing(packError),
          (x) => x,
          () => a.exp(),
        ),
      (error) => error === packError,
    );
    const unpackError = { not: "an Error" };
    const y = graph.savedTensorsHooks(
      (x) => x,
      failing(unpackError),
      () => a.exp(),
    );
    for (const run of [() => y.gradFn.saved.result, () => y.backward()]) {
      assert.throws(run, (error) => error === unpackError);
    }
    a.exp().backward();
    assertTensor(a.grad, [Math.E]);
  });

  test("can be forbidden with a message", () => {
    // rule: saved-hooks-disabled
    const identity = (x) => x;
    const withHooks = (fn) => graph.savedTensorsHooks(identity, identity, fn);
    graph.disableSavedTensorsHooks("not here", () => {
      assert.throws(() => withHooks(() => {}), /not here/);
      graph.disableSavedTensorsHooks("nor there", () => {
        assert.throws(() => withHooks(() => {}), /nor there/);
      });
      assert.throws(() => withHooks(() => {}), /not here/);
    });
    assert.equal(
      withHooks(() => 3),
      3,
    );
    withHooks(() => {
      assert.throws(() => graph.disableSavedTensorsHooks("too late", () => {}), /too late/);
    });
  });

  test("saveOnCpu computes the same", () => {
    // rule: save-on-cpu
    const a = leaf([1, 2]);
    graph.saveOnCpu(() => a.mul(a).exp().sum()).backward();
    assertTensor(a.grad, [2 * Math.E, 4 * Math.E ** 4], { rtol: 1e-5 });
  });

  test("what they keep outlives the scope it was packed in, and goes with the graph", () => {
    // rule: saved-hooks-memory
    const a = leaf([1, 2]);
    const kinds = [(x) => x.mul(2), (x) => ({ kept: x.mul(2) })];
    for (const pack of kinds) {
      const make = () =>
        graph.savedTensorsHooks(
          pack,
          (packed) => (packed.kept ?? packed).div(2),
          () => a.mul(a).sum(),
        );
      eg.scope(make).backward();
    }
    assertTensor(a.grad, [4, 8]);
    a.grad = null;
    assertFlat((i) => {
      const y = graph.savedTensorsHooks(
        kinds[0],
        (x) => x.div(2),
        () => a.mul(a).sum(),
      );
      if (i % 2) y.backward();
      a.grad = null;
    });
  });
});
