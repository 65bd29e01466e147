// eg.capture: a step that is recorded once and then replayed. It must have the same results as the step itself, bit for bit.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { runProgram } from "../support/child.mjs";
import { eg } from "../support/engine.mjs";

const { nn, optim } = eg;
const kSteps = 50;

const makeMlp = () => new nn.Sequential(new nn.Linear(6, 8), new nn.Tanh(), new nn.Linear(8, 3));

const makeCnn = () =>
  new nn.Sequential(
    new nn.Conv2d(1, 4, 3, { padding: 1 }),
    new nn.BatchNorm2d(4),
    new nn.ReLU(),
    new nn.MaxPool2d(2),
    new nn.Flatten(),
    new nn.Linear(64, 3),
  );

class SmallGpt extends nn.Module {
  constructor() {
    super();
    this.tokens = new nn.Embedding(11, 16);
    this.places = new nn.Parameter(eg.randn([5, 16]));
    this.layer = new nn.TransformerEncoderLayer(16, 2, {
      dimFeedforward: 32,
      dropout: 0,
      batchFirst: true,
    });
    this.head = new nn.Linear(16, 11);
  }

  forward(tokens) {
    const x = this.tokens.call(tokens).add(this.places);
    return this.head.call(this.layer.call(x)).reshape(-1, 11);
  }
}

const randomImages = () => [eg.randn([4, 1, 8, 8]), eg.randint(0, 3, [4])];
const randomRows = () => [eg.randn([5, 6]), eg.randint(0, 3, [5])];
const randomTokens = () => [eg.randint(0, 11, [3, 5]), eg.randint(0, 11, [15])];

const batches = (make) => Array.from({ length: kSteps }, () => make());

/** Returns two identical models with their training steps: one that runs normally and one that is captured. */
function pair(makeModel, makeOptimizer, makeStep) {
  const models = [makeModel(), makeModel()];
  models[1].loadStateDict(models[0].stateDict());
  return models.map((model) => {
    const optimizer = makeOptimizer(model.parameters());
    return { model, optimizer, step: makeStep(model, optimizer) };
  });
}

const usualStep = (model, optimizer) => (x, y) => {
  optimizer.zeroGrad();
  const loss = eg.crossEntropy(model.call(x), y);
  loss.backward();
  optimizer.step();
  return loss;
};

/** Trains both models, calls `after` after every step, and asserts that they stay equal. */
function assertTrainsAlike(makeModel, makeBatch, makeOptimizer, options = {}) {
  const { makeStep = usualStep, after = () => () => undefined } = options;
  const [eager, other] = pair(makeModel, makeOptimizer, makeStep);
  const data = batches(makeBatch);
  const [x, y] = data[0];
  const captured = eg.capture(other.step, x, y);
  // Capturing has performed two steps.
  eager.step(x, y);
  eager.step(x, y);
  const [afterEager, afterCaptured] = [after(eager), after(other)];
  for (const [x, y] of data) {
    const expected = eager.step(x, y);
    const found = captured(x, y);
    assert.equal(found.item(), expected.item());
    assert.equal(found.requiresGrad, false);
    afterEager();
    afterCaptured();
  }
  const expected = eager.model.stateDict();
  for (const [name, value] of Object.entries(other.model.stateDict()))
    assert.deepEqual(value.dataSync(), expected[name].dataSync(), name);
  assert.deepEqual(
    JSON.stringify(other.optimizer.stateDict()),
    JSON.stringify(eager.optimizer.stateDict()),
  );
  captured.dispose();
}

describe("a captured step trains as the step itself", () => {
  test("MLP with Adam and a scheduler", () => {
    assertTrainsAlike(makeMlp, randomRows, (params) => new optim.Adam(params, { lr: 0.05 }), {
      after: ({ optimizer }) => {
        const scheduler = new optim.lrScheduler.StepLR(optimizer, 7, { gamma: 0.7 });
        return () => scheduler.step();
      },
    });
  });

  const optimizers = {
    SGD: (params) => new optim.SGD(params, { lr: 0.1 }),
    momentum: (params) => new optim.SGD(params, { lr: 0.05, momentum: 0.9, dampening: 0.5 }),
    AdamW: (params) => new optim.AdamW(params, { lr: 0.01, amsgrad: true }),
    RMSprop: (params) => new optim.RMSprop(params, { lr: 0.01, momentum: 0.5, centered: true }),
    Adagrad: (params) => new optim.Adagrad(params, { lr: 0.05, lrDecay: 0.1 }),
    NAdam: (params) => new optim.NAdam(params, { lr: 0.01, weightDecay: 0.1 }),
    RAdam: (params) => new optim.RAdam(params, { lr: 0.01 }),
    Adadelta: (params) => new optim.Adadelta(params),
    Adamax: (params) => new optim.Adamax(params, { lr: 0.01 }),
    ASGD: (params) => new optim.ASGD(params, { lr: 0.05, t0: 3 }),
    Rprop: (params) => new optim.Rprop(params),
  };
  for (const [name, make] of Object.entries(optimizers))
    test(`MLP with ${name}`, () => assertTrainsAlike(makeMlp, randomRows, make));

  test("CNN with its running statistics", () => {
    assertTrainsAlike(
      makeCnn,
      randomImages,
      (params) => new optim.SGD(params, { lr: 0.05, momentum: 0.9 }),
    );
  });

  test("transformer with embeddings", () => {
    assertTrainsAlike(
      () => new SmallGpt(),
      randomTokens,
      (params) => new optim.Adam(params),
    );
  });

  test("gradients that accumulate, and are clipped", () => {
    const makeStep = (model, optimizer) => (x, y) => {
      const loss = eg.crossEntropy(model.call(x), y);
      loss.backward();
      nn.utils.clipGradNorm_(model.parameters(), 0.5);
      optimizer.step();
      return loss;
    };
    assertTrainsAlike(makeMlp, randomRows, (params) => new optim.SGD(params, { lr: 0.02 }), {
      makeStep,
    });
  });

  test("zeroGrad() at the end, in place, checkpoints, hooks and custom functions", () => {
    class Double extends eg.autograd.Function {
      static forward(ctx, x) {
        ctx.saveForBackward(x);
        return x.mul(2);
      }
      static backward(ctx, grad) {
        const [x] = ctx.savedTensors;
        return grad.mul(2).add(x.mul(0));
      }
    }
    const makeStep = (model, optimizer) => (x, y) => {
      const [first, , last] = model.children();
      const hidden = eg.autograd.checkpoint((h) => eg.tanh(first.call(h)), x);
      hidden.registerHook((grad) => grad.mul(0.5));
      const scores = Double.apply(last.call(hidden));
      const shifted = scores.clone();
      shifted.at(0).add_(1);
      const loss = eg.crossEntropy(shifted, y);
      loss.backward();
      optimizer.step();
      optimizer.zeroGrad();
      return loss;
    };
    assertTrainsAlike(makeMlp, randomRows, (params) => new optim.SGD(params, { lr: 0.02 }), {
      makeStep,
    });
  });
});

describe("what a captured function takes and returns", () => {
  test("tensors, arrays, objects and nothing", () => {
    const x = eg.tensor([1, 2]);
    assertTensor(eg.capture((a) => a.add(1), x)(eg.tensor([3, 4])), [4, 5]);
    const [sum, product] = eg.capture((a, b) => [a.add(b), a.mul(b)], x, x)(x, eg.tensor([5, 6]));
    assertTensor(sum, [6, 8]);
    assertTensor(product, [5, 12]);
    const { twice } = eg.capture((a) => ({ twice: a.mul(2) }), x)(x);
    assertTensor(twice, [2, 4]);
    const total = eg.zeros([2]);
    const add = eg.capture((a) => {
      total.add_(a);
    }, x);
    assert.equal(add(x), undefined);
    assertTensor(total, [3, 6]);
    assertThrows(() => eg.capture(() => 3), "InvalidArgument", /may return a tensor/);
    assertThrows(() => eg.capture(() => [x, 3]), "InvalidArgument", /may return a tensor/);
  });

  test("results are new each time, inputs are as they were", () => {
    const x = eg.tensor([1, 2]);
    const captured = eg.capture((a) => a.mul_(2), x);
    const results = [1, 2, 3].map((k) => captured(eg.tensor([k, k])));
    for (const [i, result] of results.entries()) assertTensor(result, [2 * i + 2, 2 * i + 2]);
    assertTensor(x, [1, 2]);
    const one = eg.tensor([5, 5]);
    captured(one);
    assertTensor(one, [5, 5]);
  });

  test("inputs that require a gradient", () => {
    const x = eg.tensor([1, 2], { requiresGrad: true });
    const captured = eg.capture((a) => {
      const [grad] = eg.autograd.grad([a.mul(a).sum()], [a]);
      return grad;
    }, x);
    assertTensor(captured(eg.tensor([3, 4])), [6, 8]);
    assert.equal(x.grad, null);
  });

  test("inputs are checked", () => {
    const captured = eg.capture((a) => a.add(1), eg.tensor([1, 2]));
    assertThrows(() => captured(), "InvalidArgument", /\[capture\] expected 1 inputs/);
    assertThrows(() => captured(3), "InvalidArgument", /\[capture\] inputs\[0\]/);
    assertThrows(
      () => captured(eg.tensor([1])),
      "ShapeMismatch",
      /\[capture\] input 0 had shape \[2\]/,
    );
    assertThrows(
      () => captured(eg.tensor([1n, 2n])),
      "DtypeMismatch",
      /\[capture\] input 0 was float32/,
    );
    assertThrows(() => eg.capture(3), "InvalidArgument", /\[capture\] fn/);
    assertThrows(
      () => eg.capture(() => undefined, 3),
      "InvalidArgument",
      /\[capture\] inputs\[0\]/,
    );
  });

  test("constants of any kind are created again", () => {
    const captured = eg.capture(
      (a) => {
        const counted = eg.zeros([3]);
        counted.add_(a);
        const listed = eg.tensor([1, 2, 3]);
        const result = eg.cat([
          counted.mul(listed),
          eg.arange(3).add(a),
          eg.linspace(0, 1, 3).mul(0.5),
        ]);
        listed.zero_();
        return result;
      },
      eg.zeros([3]),
    );
    for (const k of [1, 2])
      assertTensor(captured(eg.full([3], k)), [k, 2 * k, 3 * k, k, 1 + k, 2 + k, 0, 0.25, 0.5]);
  });

  test("values that are constants may be read", () => {
    const captured = eg.capture((a) => a.mul(eg.tensor([3]).item()), eg.tensor([1]));
    assertTensor(captured(eg.tensor([2])), [6]);
  });
});

describe("what cannot be played is refused", () => {
  const x = eg.tensor([1, 2, 3]);
  const w = eg.tensor([1, 2, 3], { requiresGrad: true });
  const reading = {
    "item()": (a) => eg.tensor(a.sum().item()),
    "dataSync()": (a) => eg.tensor(a.dataSync()),
    tolist: (a) => eg.tensor(a.arraySync()),
    printing: (a) => eg.tensor(String(a).length),
    "values of tensors outside": () => eg.tensor(x.sum().item()),
    "nonzero()": (a) => eg.nonzero(a),
    "maskedSelect()": (a) => eg.maskedSelect(a, a.gt(1)),
    errorIfNonfinite: (a) => {
      w.grad = a.clone();
      return nn.utils.clipGradNorm_([w], 1, { errorIfNonfinite: true });
    },
  };
  for (const [name, fn] of Object.entries(reading)) {
    test(name, () => {
      assertThrows(() => eg.capture(fn, x), "InvalidArgument", /captured function cannot/);
      assertTensor(x, [1, 2, 3]);
      assertTensor(x.add(1), [2, 3, 4]);
    });
  }

  test("reading later", async () => {
    const reads = [];
    eg.capture((a) => {
      reads.push(a.mul(2).data());
    }, x).dispose();
    const [, recorded] = await Promise.allSettled(reads);
    assert.equal(recorded.reason?.code, "InvalidArgument");
  });

  test("random numbers", () => {
    const dropout = new nn.Dropout(0.5);
    for (const fn of [() => eg.rand([3]), (a) => dropout.call(a), () => eg.randperm(5)])
      assertThrows(
        () => eg.capture(fn, x),
        "InvalidArgument",
        /random numbers.*pass them as an input/,
      );
    dropout.eval();
    assertTensor(eg.capture((a) => dropout.call(a), x)(x), [1, 2, 3]);
  });

  test("asynchronous functions and backwardAsync()", async () => {
    assertThrows(() => eg.capture(async (a) => a, x), "InvalidArgument", /returned a promise/);
    const calls = [];
    eg.capture((a) => {
      calls.push(a.mul(w).sum().backwardAsync());
    }, x).dispose();
    const [, recorded] = await Promise.allSettled(calls);
    assert.equal(recorded.reason?.code, "InvalidArgument");
    w.grad = null;
  });

  test("captures in captures", () => {
    const inner = eg.capture((a) => a.add(1), x);
    assertThrows(() => eg.capture((a) => inner(a), x), "InvalidArgument", /\[capture\]/);
    assertThrows(
      () => eg.capture((a) => eg.capture((b) => b, a)(a), x),
      "InvalidArgument",
      /\[capture\]/,
    );
    assertTensor(inner(x), [2, 3, 4]);
  });

  test("errors of the function pass through", () => {
    const own = new Error("my own");
    assert.throws(
      () =>
        eg.capture((a) => {
          a.add(1);
          throw own;
        }, x),
      (error) => error === own,
    );
    assertThrows(() => eg.capture((a) => a.matmul(eg.ones([4, 4])), x), "ShapeMismatch", /mm/);
    let runs = 0;
    assert.throws(
      () =>
        eg.capture((a) => {
          const y = a.mul(w);
          y.registerHook(() => {
            if (++runs === 2) throw own;
          });
          y.sum().backward();
        }, x),
      (error) => error === own,
    );
    w.grad = null;
    assertTensor(eg.capture((a) => a.add(1), x)(x), [2, 3, 4]);
  });
});

describe("captured functions and their memory", () => {
  const disposed = (fn, ...inputs) => {
    const captured = eg.capture(fn, ...inputs);
    captured.dispose();
    return captured;
  };

  test("dispose(), using, and use after that", () => {
    const x = eg.ones([2]);
    const captured = disposed((a) => a.add(1), x);
    assert.equal(captured.disposed, true);
    assertThrows(() => captured(x), "Disposed", /\[capture\]/);
    captured.dispose();
    const other = eg.capture((a) => a.add(1), x);
    assert.equal(other.disposed, false);
    other[Symbol.dispose ?? Symbol.for("Symbol.dispose")]();
    assert.equal(other.disposed, true);
  });

  test("memory is flat over calls, and what it was after dispose()", () => {
    const { model, optimizer, step } = pair(
      makeMlp,
      (params) => new optim.Adam(params),
      usualStep,
    )[1];
    const [x, y] = randomRows();
    eg.scope(() => step(x, y));
    optimizer.zeroGrad();
    const before = eg.memory();
    const captured = eg.capture(step, x, y);
    captured(x, y).dispose();
    const during = eg.memory();
    for (let i = 0; i < 1000; i++) captured(x, y).dispose();
    const after = eg.memory();
    assert.equal(after.cpuBytes, during.cpuBytes);
    assert.equal(after.jsHandles, during.jsHandles);
    assert.equal(after.tensors, during.tensors);
    captured.dispose();
    optimizer.zeroGrad();
    const end = eg.memory();
    assert.equal(end.cpuBytes, before.cpuBytes);
    assert.equal(end.jsHandles, before.jsHandles);
    assert.equal(end.tensors, before.tensors);
    assert.equal(end.graphNodes, before.graphNodes);
    assert.ok(model);
  });

  test("memory that it uses stays when everybody else has let go", () => {
    const outside = eg.full([1000], 2);
    const captured = eg.capture((a) => a.mul(outside), eg.ones([1000]));
    outside.dispose();
    const others = Array.from({ length: 20 }, () => eg.full([1000], 9));
    assertTensor(captured(eg.full([1000], 3)), Array(1000).fill(6));
    for (const other of others) assertTensor(other, Array(1000).fill(9));
  });

  test("gradients may be dropped and set between calls", () => {
    const w = eg.tensor([2], { requiresGrad: true });
    const captured = eg.capture(
      (a) => {
        w.grad = null;
        w.mul(a).sum().backward();
      },
      eg.tensor([1]),
    );
    captured(eg.tensor([5]));
    assertTensor(w.grad, [5]);
    w.grad = null;
    captured(eg.tensor([7]));
    assertTensor(w.grad, [7]);
  });

  test("an index out of range fails its call, and no other", () => {
    const table = new nn.Embedding(4, 2);
    const captured = eg.capture((i) => table.call(i), eg.tensor([0n, 1n]));
    assertThrows(() => captured(eg.tensor([0n, 4n])), "IndexOutOfRange", /4/);
    assert.deepEqual(
      captured(eg.tensor([2n, 3n])).dataSync(),
      table.weight.detach().narrow(0, 2, 2).dataSync(),
    );
    const loss = eg.capture((s, y) => eg.crossEntropy(s, y), eg.randn([2, 3]), eg.tensor([0n, 1n]));
    assertThrows(() => loss(eg.randn([2, 3]), eg.tensor([0n, 3n])), "IndexOutOfRange");
  });

  test("other threads are not written down", async () => {
    const w = eg.zeros([3], { requiresGrad: true });
    const own = eg.zeros([3], { requiresGrad: true });
    const module = new URL("../support/thread_module.mjs", import.meta.url);
    const other = eg.spawn(module, "accumulate", w, 200);
    const step = (a) => {
      own.mul(a).sum().backward();
    };
    const captured = eg.capture(step, eg.ones([3]));
    for (let i = 0; i < 200; i++) captured(eg.ones([3]));
    await other;
    assertTensor(w.grad, [200, 200, 200]);
    captured(eg.ones([3]));
    assertTensor(own.grad, [203, 203, 203]);
    assertTensor(w.grad, [200, 200, 200]);
    captured.dispose();
  });

  test("after shutdown() there is nothing to call", async () => {
    const { status, stdout, stderr } = await runProgram(`
      import * as eg from "edgegrad";
      await eg.init({ threads: 1 });
      const captured = eg.capture((a) => a.add(1), eg.ones([2]));
      const codes = [];
      const code = (fn) => { try { fn(); codes.push("none"); } catch (error) { codes.push(error.code); } };
      const x = eg.ones([2]);
      await eg.shutdown();
      code(() => captured(x));
      await eg.init({ threads: 1 });
      code(() => captured(eg.ones([2])));
      captured.dispose();
      console.log(codes.join(" "));`);
    assert.equal(status, 0, stderr);
    assert.equal(stdout.trim(), "NotInitialized Disposed");
  });

  test("scopes leave it alone", () => {
    const captured = eg.scope(() => eg.capture((a) => a.add(1), eg.ones([2])));
    assertTensor(captured(eg.zeros([2])), [1, 1]);
    captured.dispose();
  });
});

test("a variance around a large mean is exact in every replay", () => {
  const shape = [200, 3];
  const deviations = eg.capture((x) => [x.var(0), x.std(), x.var()], eg.randn(shape));
  for (const mean of [0, 1e5, 1e20, 3]) {
    const x = eg.randn(shape).add(mean);
    const expected = [x.var(0), x.std(), x.var()];
    deviations(x).forEach((one, i) => {
      assert.deepEqual([...one.dataSync()], [...expected[i].dataSync()]);
    });
  }
});
