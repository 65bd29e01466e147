// The state of an optimizer outlives the scope of the step that created it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { optim } = eg;

/** All optimizers, with settings for which each stores as much state as possible. */
const kSettings = {
  SGD: { momentum: 0.9, nesterov: true },
  Adam: { amsgrad: true },
  AdamW: { amsgrad: true },
  RMSprop: { momentum: 0.9, centered: true },
  Adagrad: { initialAccumulatorValue: 0.1 },
  LBFGS: { historySize: 3, lineSearchFn: "strong_wolfe" },
};

const kOptimizers = Object.keys(optim).filter((name) => {
  return optim[name].prototype instanceof optim.Optimizer;
});

/** A step of gradient descent on the sum of squares. */
function train(optimizer, params) {
  const closure = () => {
    optimizer.zeroGrad();
    const loss = params.map((p) => p.square().sum()).reduce((a, b) => a.add(b));
    loss.backward();
    if (optimizer instanceof optim.SparseAdam) for (const p of params) p.grad = p.grad.toSparse();
    return loss;
  };
  if (optimizer instanceof optim.LBFGS) optimizer.step(closure);
  else {
    closure();
    optimizer.step();
  }
}

/** Returns the parameters after each of several steps, each of which is run by `run`. */
async function trained(name, run) {
  const params = [eg.tensor([[1, -2, 3], [0.5, 2, -1]]), eg.tensor([0.25, -0.5])]; // biome-ignore format: rows
  const own = params.map((data) => new eg.nn.Parameter(data));
  const optimizer = new optim[name](own.slice(0, 1), { lr: 0.1, ...kSettings[name] });
  const seen = [];
  for (let i = 0; i < 6; i++) {
    const isLast = i === 5;
    await run(() => {
      if (i === 2) optimizer.loadStateDict(optimizer.stateDict());
      if (i === 3) optimizer.loadStateDict(eg.io.load(eg.io.save(optimizer.stateDict())));
      if (i === 4 && name !== "LBFGS") optimizer.addParamGroup({ params: [own[1]] });
      train(optimizer, name === "LBFGS" || i < 4 ? own.slice(0, 1) : own);
    });
    seen.push(own.map((p) => p.arraySync()));
    if (isLast) return seen;
  }
  return seen;
}

describe("an optimizer steps in scopes as it does without", () => {
  test("of which there are all of eg.optim", () => {
    assert.ok(kOptimizers.length >= 13, String(kOptimizers));
  });

  for (const name of kOptimizers) {
    test(name, async () => {
      const expected = await trained(name, (step) => step());
      assert.deepEqual(await trained(name, (step) => eg.scope(step)), expected);
      const later = (step) =>
        eg.scope(async () => {
          await null;
          step();
        });
      assert.deepEqual(await trained(name, later), expected);
      const nested = (step) => eg.scope(() => eg.scope(step));
      assert.deepEqual(await trained(name, nested), expected);
    });
  }
});

// Ported from PyTorch: the class implements step() and stores the state itself, and new tensors replace old ones.
class Lion extends optim.Optimizer {
  constructor(params, { lr = 1e-2, betas = [0.9, 0.99] } = {}) {
    super(params, { lr, betas });
    this.averages = null;
  }

  step(closure) {
    const loss = closure?.();
    eg.noGrad(() => {
      for (const { params, lr, betas } of this.paramGroups) {
        for (const p of params) {
          if (p.grad === null) continue;
          if (!this.state.has(p)) this.state.set(p, { expAvg: eg.zerosLike(p), steps: 0 });
          const state = this.state.get(p);
          const [beta1, beta2] = betas;
          p.add_(
            state.expAvg
              .mul(beta1)
              .add(p.grad.mul(1 - beta1))
              .sign(),
            -lr,
          );
          state.expAvg = state.expAvg.mul(beta2).add(p.grad.mul(1 - beta2));
          state.steps++;
          this.averages = { total: (this.averages?.total ?? eg.zeros([])).add(state.expAvg.sum()) };
        }
      }
    });
    return loss;
  }
}

describe("a program's own optimizer", () => {
  test("keeps its state in scopes, too, wherever it has it", () => {
    const run = (around) => {
      const p = new eg.nn.Parameter(eg.tensor([1, -2]));
      const optimizer = new Lion([p]);
      for (let i = 0; i < 4; i++) around(() => train(optimizer, [p]));
      return [p.arraySync(), optimizer.averages.total.item(), optimizer.stateDict().state[0].steps];
    };
    assert.deepEqual(
      run((step) => eg.scope(step)),
      run((step) => step()),
    );
  });

  test("saves and loads its state, and has schedulers", () => {
    const p = new eg.nn.Parameter(eg.tensor([1, -2]));
    const [first, second] = [new Lion([p]), new Lion([p], { lr: 1 })];
    train(first, [p]);
    eg.scope(() => second.loadStateDict(eg.io.load(eg.io.save(first.stateDict()))));
    assert.deepEqual(
      second.stateDict().state[0].expAvg.arraySync(),
      first.stateDict().state[0].expAvg.arraySync(),
    );
    assert.equal(second.paramGroups[0].lr, 0.01);
    const scheduler = new optim.lrScheduler.StepLR(second, 1);
    eg.scope(() => train(second, [p]));
    scheduler.step();
    assert.ok(Math.abs(second.paramGroups[0].lr - 0.001) < 1e-12);
  });

  test("gets an error that names what it lacks", () => {
    class Empty extends optim.Optimizer {}
    const p = new eg.nn.Parameter(eg.ones([1]));
    const optimizer = new Empty([p], { lr: 1 });
    p.sum().backward();
    assertThrows(() => optimizer.step(), "InvalidArgument", /\[Empty\].*implement step\(\)/);
  });
});

describe("parametrizations of a module", () => {
  const { parametrizations, parametrize } = eg.nn.utils;
  for (const name of ["weightNorm", "spectralNorm", "orthogonal"]) {
    test(`outlive the scope they are made in: ${name}`, () => {
      const layer = new eg.nn.Linear(3, 3);
      const x = eg.ones([1, 3]);
      eg.scope(() => parametrizations[name](layer));
      eg.scope(() => layer.call(x));
      assert.deepEqual(layer.call(x).shape, [1, 3]);
      eg.scope(() => parametrize.removeParametrizations(layer, "weight"));
      assert.deepEqual(layer.call(x).shape, [1, 3]);
    });
  }
});

describe("what a module adds to itself when it is called", () => {
  class Lazy extends eg.nn.Module {
    forward(x, fails = false) {
      this.weight ??= new eg.nn.Parameter(eg.ones([2]));
      this.seen ??= new eg.nn.Buffer(eg.zeros([]));
      this.layer ??= new eg.nn.Linear(2, 2);
      if (fails) throw new Error("stop");
      this.seen.add_(1);
      return this.layer.call(x.mul(this.weight));
    }
  }

  test("outlives the scope of the call, also of one that fails and of one with hooks", () => {
    const x = eg.ones([1, 2]);
    const [plain, failing, hooked] = [new Lazy(), new Lazy(), new Lazy()];
    hooked.registerForwardHook(() => {});
    assert.throws(() => eg.scope(() => failing.call(x, true)), /stop/);
    for (const model of [plain, failing, hooked]) {
      const outer = new eg.nn.Sequential(model);
      for (let i = 0; i < 3; i++) eg.scope(() => outer.call(x).sum().backward());
      assert.equal(model.seen.item(), 3);
      assert.equal(model.weight.grad.shape.length, 1);
      assert.equal(outer.parameters().length, 3);
    }
  });

  test("is freed with a module that is no longer reachable", () => {
    const before = eg.memory().jsHandles;
    eg.scope(() => new eg.nn.Linear(2, 2).call(eg.ones([1, 2])));
    assert.equal(eg.memory().jsHandles, before + 1);
  });
});
