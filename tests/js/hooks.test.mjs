// Hooks of tensors, leaves and nodes, from JavaScript.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "./support/assert.mjs";
import { eg } from "./support/engine.mjs";
import { assertFlat, leaf, values } from "./support/graphs.mjs";

describe("a tensor hook", () => {
  test("sees what the one before it returned", () => {
    // CC-059
    const a = leaf(1);
    const b = a.clone();
    b.registerHook((grad) => grad.mul(2));
    b.registerHook((grad) => grad.add(1));
    b.backward();
    assertTensor(a.grad, [3]);
  });

  test("may only look", () => {
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
    // CC-171
    const x = leaf([1]);
    assertFlat((i) => {
      const y = x.mul(2);
      y.registerHook((grad) => grad.mul(y));
      y.gradFn.registerPrehook(() => void y.shape);
      if (i % 2) y.dispose();
    });
  });

  test("of an input of grad() that is not executed runs all the same, one of another leaf does not", () => {
    // CC-040
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
    // CC-072
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
    const [first, second] = eg.unbind(leaf([1, 2]));
    first.registerHook(() => eg.ones([]));
    assertThrows(() => second.backward(), "InvalidGradient", /can't replace a None gradient/);
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
      /hook 'shrinking' has changed the size of value/,
    );
    const z = x.mul(2);
    z.registerHook((grad) => grad.to("float64"));
    assertThrows(() => z.sum().backward(), "InvalidGradient", /has changed the type of value/);
    assertThrows(() => x.registerHook(3), "InvalidArgument", /expected a function/);
    assertThrows(
      () => eg.ones([2]).registerHook(() => {}),
      "InvalidArgument",
      /cannot register a hook on a tensor that doesn't require gradient/,
    );
    const w = x.mul(2);
    w.registerHook(() => "no tensor");
    assertThrows(() => w.sum().backward(), "InvalidGradient", /a tensor or nothing/);
  });

  test("that is removed is gone from the engine, also after the tensor", () => {
    // J.1
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
    // CC-068 CC-139, trap 46
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
    // trap 50
    const x = leaf([1]);
    let calls = 0;
    x.registerHook(() => {
      calls++;
    });
    for (let i = 0; i < 3; i++) eg.scope(() => x.mul(2).sum().backward());
    assert.equal(calls, 3);
  });

  test("that runs backward itself is fine", () => {
    // J.13
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
    // CC-070
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
    // CC-073
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
    assertThrows(
      () => eg.ones([1]).retainGrad(),
      "InvalidArgument",
      /can't retain_grad on Tensor that has requires_grad=False/,
    );
    x.retainGrad();
    assert.equal(x.retainsGrad, false);
  });

  test("sees the gradient after all tensor hooks and before the node's prehooks", () => {
    // CC-063, J.2, trap 48
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
    // CC-071, trap 46
    const x = leaf([1]);
    const y = x.clone();
    y.retainGrad();
    y.mul_(5);
    y.backward();
    assertTensor(y.grad, [1]);
    assertTensor(x.grad, [5]);
  });
});

describe("node hooks", () => {
  test("run around the node, prehooks first, and see what it receives and returns", () => {
    // CC-062
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
    // CC-065
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
    // CC-060 J.8, trap 53
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
    const broken = (hook, kind) => {
      const y = leaf([1]).clone();
      y.gradFn[kind](hook);
      return () => y.backward();
    };
    for (const kind of ["registerPrehook", "registerHook"]) {
      assertThrows(
        broken(() => [null, null], kind),
        "InvalidGradient",
        /incorrect number of values \(got 2, but expected 1\)/,
      );
      assertThrows(
        broken(() => 5, kind),
        "InvalidGradient",
        /expected tuple, but hook returned/,
      );
    }
  });

  test("run only where the node does", () => {
    // J.7, trap 52
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
    // CC-067
    const t = leaf([0.1, 0.2, 0.3]);
    t.registerPostAccumulateGradHook((param) => eg.noGrad(() => void param.sub_(param.grad)));
    t.registerPostAccumulateGradHook((param) => eg.noGrad(() => void param.mul_(4)));
    t.sum().backward();
    assertTensor(t, [-3.6, -3.2, -2.8]);
  });

  test("run in their place among the hooks of the accumulator, and not for grad()", () => {
    // CC-067 J.6
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
    // CC-067
    const t = leaf([1]);
    assertThrows(
      () => t.mul(2).registerPostAccumulateGradHook(() => {}),
      "InvalidArgument",
      /post accumulate grad hooks cannot be registered on non-leaf tensors/,
    );
    const handle = t.registerPostAccumulateGradHook(() => 1);
    assertThrows(() => t.mul(2).backward(), "InvalidArgument", /hooks should return None\./);
    handle.remove();
    t.mul(2).backward();
  });
});

describe("hooks of several tensors", () => {
  test("with mode all run once per call, with null for what is not computed", () => {
    // CC-073 J.9
    const [t1, t2, t3, t4] = [1, 2, 3, 4].map((value) => leaf([value]));
    const calls = [];
    eg.autograd.graph.registerMultiGradHook([t1, t2, t3, t4], (grads) => {
      calls.push(grads.map((grad) => grad !== null));
    });
    const out = t2.mul(t3);
    const run = (inputs) => out.backward(null, { inputs, retainGraph: true });
    run([t2, t3]);
    assert.deepEqual(calls, [[false, true, true, false]]);
    run([t1, t4]);
    assert.equal(calls.length, 1);
    run([t1, t3]);
    assert.deepEqual(calls[1], [false, false, true, false]);

    // A call that fails half-way leaves nothing behind. Trap 51
    const failing = t2.clone();
    const handle = failing.registerHook(() => {
      throw new Error("stop");
    });
    const both = t3.mul(failing).mul(t3);
    assert.throws(() => both.backward(null, { retainGraph: true }), /stop/);
    assert.equal(calls.length, 2);
    handle.remove();
    both.backward();
    assert.deepEqual(calls.slice(2), [[false, true, true, false]]);
  });

  test("are registered on all tensors or on none", () => {
    const t = leaf([1]);
    let calls = 0;
    assertThrows(
      () => eg.autograd.graph.registerMultiGradHook([t, eg.ones([1])], () => void calls++),
      "InvalidArgument",
      /doesn't require gradient/,
    );
    t.mul(2).backward();
    assert.equal(calls, 0);
  });

  test("with mode any run once per call, with the first gradient", () => {
    // CC-073
    const [a, b] = [leaf([1]), leaf([2])];
    const seen = [];
    const handle = eg.autograd.graph.registerMultiGradHook(
      [a, b, eg.ones([1])],
      (grad) => void seen.push(values(grad)),
      "any",
    );
    const y = a.mul(b);
    y.backward(null, { retainGraph: true });
    y.backward(null, { retainGraph: true });
    assert.equal(seen.length, 2);
    handle.remove();
    y.backward();
    assert.equal(seen.length, 2);
    assertThrows(
      () => eg.autograd.graph.registerMultiGradHook([a], () => {}, "foo"),
      "InvalidArgument",
      /Expects mode to be one of \('all', 'any'\) but got "foo"/,
    );
  });
});

describe("queueCallback", () => {
  test("runs once after all nodes, and a callback may queue another", () => {
    // CC-122, trap 15
    const x = leaf([3]);
    const y = x.mul(x);
    const log = [];
    y.registerHook(() => {
      eg.autograd.graph.queueCallback(() => {
        log.push(["first", x.grad?.item()]);
        eg.autograd.graph.queueCallback(() => log.push("second"));
      });
      log.push("hook");
    });
    y.backward();
    assert.deepEqual(log, ["hook", ["first", 6], "second"]);
  });

  test("belongs to the backward call it was made in", () => {
    // CC-122
    const log = [];
    const inner = leaf([1]);
    inner.registerHook(() => eg.autograd.graph.queueCallback(() => log.push("inner")));
    const outer = leaf([1]);
    outer.registerHook(() => {
      eg.autograd.graph.queueCallback(() => log.push("outer"));
      eg.enableGrad(() => inner.mul(2).backward());
      log.push("hook");
    });
    outer.mul(2).backward();
    assert.deepEqual(log, ["inner", "hook", "outer"]);
  });

  test("throws outside of backward, and what it throws comes out of backward", () => {
    // CC-117 CC-122
    assertThrows(
      () => eg.autograd.graph.queueCallback(() => {}),
      "InvalidArgument",
      /Final callbacks can only be installed during backward pass\./,
    );
    const error = new Error("in the callback");
    const x = leaf([1]);
    x.registerHook(() =>
      eg.autograd.graph.queueCallback(() => {
        throw error;
      }),
    );
    assert.throws(
      () => x.mul(1).backward(),
      (thrown) => thrown === error,
    );
  });
});
