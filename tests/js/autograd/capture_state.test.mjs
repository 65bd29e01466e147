// Changes of state between calls of a captured function: gradients, versions, groups, modes, graphs, other captures.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn, optim } = eg;
const leaf = (values) => eg.tensor(values, { requiresGrad: true });

describe("gradients", () => {
  test("zeroGrad() and step() outside: trains as the step does", () => {
    const train = (isCaptured) => {
      const w = leaf([1, 2]);
      const optimizer = new optim.SGD([w], { lr: 0.1 });
      const step = (a) => {
        const loss = w.mul(a).square().sum();
        loss.backward();
        return loss;
      };
      const x = eg.tensor([1, 0.5]);
      let run = step;
      if (isCaptured) run = eg.capture(step, x);
      else {
        step(x);
        step(x);
      }
      const losses = [];
      for (let i = 0; i < 5; i++) {
        optimizer.zeroGrad();
        losses.push(run(x.add(i)).item());
        optimizer.step();
      }
      return [...losses, ...w.tolist(), ...w.grad.tolist()];
    };
    assert.deepEqual(train(true), train(false));
  });

  test("that are held are not written to", () => {
    const w = leaf([1, 2]);
    const captured = eg.capture(
      (a) => {
        w.grad = null;
        w.mul(a).sum().backward();
      },
      eg.ones([2]),
    );
    const held = [];
    for (let i = 1; i < 4; i++) {
      captured(eg.full([2], i));
      held.push(w.grad);
    }
    for (const [i, grad] of held.entries()) assertTensor(grad, [i + 1, i + 1]);
    assert.notEqual(held[0], held[1]);
  });

  test("of an input cannot be handed on", () => {
    assertThrows(
      () => eg.capture((a) => void a.square().sum().backward(), leaf([1, 2])),
      "InvalidArgument",
      /\[capture\] input 0 received a gradient/,
    );
  });

  test("with a graph of their own are refused", () => {
    const w = leaf([1, 2]);
    assertThrows(
      () => eg.capture(() => w.square().sum().backward(null, { createGraph: true })),
      "InvalidArgument",
      /\[capture\]/,
    );
    w.grad = null;
  });

  test("of two captured functions with the same parameters", () => {
    const w = leaf([1, 2]);
    const make = (factor) => (a) => {
      w.grad = null;
      w.mul(a).mul(factor).sum().backward();
    };
    const [one, two] = [2, 3].map((factor) => eg.capture(make(factor), eg.ones([2])));
    for (let i = 1; i < 4; i++) {
      one(eg.full([2], i));
      assertTensor(w.grad, [2 * i, 2 * i]);
      two(eg.full([2], i));
      const { grad } = w;
      one(eg.ones([2]));
      assertTensor(grad, [3 * i, 3 * i]);
    }
    two.dispose();
    one(eg.ones([2]));
    one.dispose();
    assertTensor(w.grad, [2, 2]);
  });
});

describe("optimizers and schedulers in a captured function", () => {
  test("groups that are added later are stepped", () => {
    const [w, later] = [leaf([1]), leaf([1])];
    const optimizer = new optim.SGD([w], { lr: 0.5 });
    const captured = eg.capture(
      (a) => {
        optimizer.zeroGrad();
        w.add(later).mul(a).sum().backward();
        optimizer.step();
      },
      eg.ones([1]),
    );
    const before = later.item();
    optimizer.addParamGroup({ params: [later] });
    captured(eg.ones([1]));
    assert.equal(later.item(), before - 0.5);
    // Both gradients come only from this call.
    assertTensor(w.grad, [1]);
    captured(eg.ones([1]));
    assertTensor(later.grad, [1]);
  });

  test("parameters removed from a group are noticed: their gradients would be reset as before", () => {
    const params = [leaf([1]), leaf([2])];
    const optimizer = new optim.SGD(params, { lr: 0.5 });
    const captured = eg.capture(() => {
      optimizer.zeroGrad();
      params[0].mul(params[1]).sum().backward();
      optimizer.step();
    });
    captured();
    optimizer.paramGroups[0].params.pop();
    const before = params.map((param) => param.item());
    assertThrows(captured, "InvalidArgument", /removed from the groups of the optimizer/);
    assert.deepEqual(
      params.map((param) => param.item()),
      before,
    );
  });

  test("schedulers step each time", () => {
    const optimizer = new optim.SGD([leaf([1])], { lr: 1 });
    const { lrScheduler } = optim;
    const schedulers = [
      new lrScheduler.ExponentialLR(optimizer, 0.5),
      new lrScheduler.CosineAnnealingWarmRestarts(optimizer, 5),
    ];
    const captured = schedulers.map((scheduler) => eg.capture(() => scheduler.step()));
    assert.deepEqual(
      schedulers.map(({ lastEpoch }) => lastEpoch),
      [2, 2],
    );
    for (const call of captured) call();
    assert.deepEqual(
      schedulers.map(({ lastEpoch }) => lastEpoch),
      [3, 3],
    );
    const plateau = new lrScheduler.ReduceLROnPlateau(optimizer);
    assertThrows(() => eg.capture(() => plateau.step(1)), "InvalidArgument", /ReduceLROnPlateau/);
  });

  test("a step alone finds the gradients of its time", () => {
    const w = leaf([1]);
    const optimizer = new optim.SGD([w], { lr: 1 });
    w.grad = eg.zeros([1]);
    const step = eg.capture(() => void optimizer.step());
    w.grad = eg.tensor([3]);
    step();
    assertTensor(w, [-2]);
    w.grad = null;
    step();
    assertTensor(w, [-2]);
  });
});

describe("versions and graphs", () => {
  test("what is changed in place is noticed by graphs that saved it", () => {
    const buffer = eg.tensor([1, 2]);
    const w = leaf([3, 4]);
    const captured = eg.capture((a) => void buffer.mul_(a), eg.ones([2]));
    const { version } = buffer;
    const y = w.mul(buffer).sum();
    captured(eg.full([2], 5));
    assert.equal(buffer.version, version + 1);
    assertThrows(() => y.backward(), "ModifiedInPlace", /needs was changed in place/);
  });

  test("a result whose graph is left says so in backward()", () => {
    const w = leaf([1, 2]);
    const captured = eg.capture((a) => w.mul(a), eg.ones([2]));
    const result = captured(eg.full([2], 3));
    assertTensor(result, [3, 6]);
    assertThrows(() => result.sum().backward(), "NotDifferentiable", /\[capture\].*no graph/);
    assertTensor(
      eg.noGrad(() => captured(eg.ones([2]))),
      [1, 2],
    );
    assert.equal(w.grad, null);
  });

  test("a graph from outside is refused", () => {
    const w = leaf([1, 2]);
    const h = w.mul(2);
    assertThrows(
      () =>
        eg.capture((a) => void h.mul(a).sum().backward(null, { retainGraph: true }), eg.ones([2])),
      "InvalidArgument",
      /\[capture\] backward\(\) would go through a graph/,
    );
    w.grad = null;
    assertThrows(
      () =>
        eg.capture(
          (a) => {
            h.mul_(a);
          },
          eg.ones([2]),
        ),
      "InvalidArgument",
      /\[capture\]/,
    );
  });
});

describe("what was decided when it was captured", () => {
  const refuses = (captured, x, text) =>
    assertThrows(() => captured(x), "InvalidArgument", new RegExp(`\\[capture\\].*${text}`));

  test("modes, parts and hooks of modules", () => {
    const model = new nn.Sequential(new nn.Linear(2, 2), new nn.BatchNorm1d(2));
    const x = eg.randn([3, 2]);
    const fresh = () => eg.capture((a) => model.call(a), x);
    let captured = fresh();
    model.eval();
    refuses(captured, x, "mode");
    model.train();
    captured(x);
    const hook = model.registerForwardHook(() => undefined);
    refuses(captured, x, "hooks");
    hook.remove();
    captured(x);
    model.append?.(new nn.ReLU());
    if (model.append !== undefined) refuses(captured, x, "parts");
    captured = fresh();
    model.double();
    refuses(captured, x, "replaced");
  });

  test("flags, shapes and hooks of tensors", () => {
    const w = leaf([1, 2]);
    const captured = eg.capture((a) => w.mul(a), eg.ones([2]));
    const x = eg.ones([2]);
    w.requiresGrad = false;
    refuses(captured, x, "requiresGrad");
    w.requiresGrad = true;
    const hook = w.registerHook((grad) => grad);
    refuses(captured, x, "hooks");
    hook.remove();
    assertTensor(captured(x), [1, 2]);
    eg.noGrad(() => w.unsqueeze_(0));
    refuses(captured, x, "shape");
  });

  test("modes of the thread", () => {
    const w = leaf([1, 2]);
    const x = eg.ones([2]);
    const trains = eg.capture((a) => void w.mul(a).sum().backward(), x);
    assertThrows(() => eg.noGrad(() => trains(x)), "InvalidArgument", /noGrad/);
    const quiet = eg.noGrad(() => eg.capture((a) => w.mul(a), x));
    refuses(quiet, x, "noGrad");
    assertTensor(
      eg.noGrad(() => quiet(x)),
      [1, 2],
    );
    assertThrows(() => eg.amp.autocast(() => trains(x)), "InvalidArgument", /autocast/);
    assertThrows(
      () => eg.autograd.forwardAd.dualLevel(() => trains(x)),
      "InvalidArgument",
      /tangents/,
    );
    const plain = eg.capture((a) => a.mul(2), x);
    refuses(plain, leaf([1, 2]), "requires a gradient");
    assertThrows(() => eg.func.grad((a) => plain(a).sum())(x), "InvalidArgument", /\[capture\]/);
  });
});

describe("where functions are captured and called", () => {
  test("in a hook, and called there", () => {
    const x = leaf([1, 2]);
    let captured;
    const y = x.mul(1);
    y.registerHook((grad) => {
      captured ??= eg.capture((g) => g.mul(3), grad);
      return captured(grad);
    });
    y.sum().backward();
    assertTensor(x.grad, [3, 3]);
    assertTensor(captured(eg.tensor([1, 5])), [3, 15]);
  });

  test("a function that fails leaves nothing", () => {
    const w = leaf([1, 2]);
    const own = new Error("my own");
    const memory = () => {
      const { tensors, jsHandles, cpuBytes, graphNodes } = eg.memory();
      return { tensors, jsHandles, cpuBytes, graphNodes };
    };
    const fail = () => {
      let runs = 0;
      const found = assert.throws(
        () =>
          eg.capture(
            (a) => {
              w.grad = null;
              const loss = w.mul(a).sum();
              loss.backward();
              if (++runs === 2) throw own;
            },
            eg.ones([2]),
          ),
        (error) => error === own,
      );
      w.grad = null;
      return found;
    };
    eg.scope(fail);
    const before = memory();
    for (let i = 0; i < 50; i++) eg.scope(fail);
    assert.deepEqual(memory(), before);
    w.sum().backward();
    assertTensor(w.grad, [1, 1]);
  });
});
