// JavaScript's stack can overflow at any call into the engine. WebAssembly cannot catch that, so the engine must notice in advance.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { collectGarbage, untilCollected } from "../support/collect_garbage.mjs";
import { compositeTable } from "../support/composite_samples.mjs";
import { eg } from "../support/engine.mjs";
import { callOp, opTable, samplesOf } from "../support/op_samples.mjs";
import { nearStackEnd, untilOverflow } from "../support/stack.mjs";

before(() => eg.init({ threads: 2 }));
after(() => eg.shutdown());

const { autograd, nn, optim } = eg;
const { forwardAd, graph } = autograd;

// Whatever happened before: modes are as they were, ops are recorded, and gradients are right.
function checkUsable() {
  assert.equal(eg.isGradEnabled(), true);
  assert.equal(eg.isInferenceModeEnabled(), false);
  eg.scope(() => {
    const x = eg.tensor([1, 2, 3], { requiresGrad: true });
    x.square().sum().backward();
    assert.deepEqual([...x.grad.dataSync()], [2, 4, 6]);
    assert.equal(eg.ones([2], { dtype: "float16" }).mul(3).dtype, "float16");
    assert.equal(eg.ones([2]).dtype, "float32");
  });
}

function doubled() {
  return class extends autograd.Function {
    static forward(ctx, x) {
      ctx.saveForBackward(x);
      return x.mul(2);
    }
    static backward(ctx, g) {
      void ctx.savedTensors;
      return g.mul(2);
    }
  };
}

const kKinds = {
  "a step of backward": ({ x }) => x.mul(2).sum().backward(),
  "autograd.grad": ({ x }) => autograd.grad(x.square().sum(), [x]),
  "second derivatives": ({ x }) => {
    const [g] = autograd.grad(x.pow(3).sum(), [x], { createGraph: true });
    autograd.grad(g.sum(), [x]);
  },
  noGrad: ({ x }) => eg.noGrad(() => x.mul(2)),
  inferenceMode: ({ x }) => eg.inferenceMode(() => x.mul(2)),
  enableGrad: ({ x }) => eg.noGrad(() => eg.enableGrad(() => x.mul(2))),
  autocast: ({ x }) => eg.autocast(() => x.matmul(x)),
  detectAnomaly: ({ x }) => autograd.detectAnomaly(() => x.mul(2)),
  dualLevel: ({ x }) =>
    forwardAd.dualLevel(() =>
      forwardAd
        .makeDual(x.detach(), eg.ones([3]))
        .sin()
        .exp(),
    ),
  "hooks of tensors": ({ x }) => {
    const y = x.mul(2);
    y.registerHook((g) => g.mul(1));
    y.sum().backward();
  },
  "hooks of nodes": ({ x }) => {
    const y = x.mul(2);
    y.gradFn.registerHook(() => undefined);
    y.sum().backward();
  },
  "a hook that calls backward": ({ x }) => {
    const y = x.mul(2);
    y.registerHook(() => eg.enableGrad(() => void x.square().sum().backward()));
    y.sum().backward();
  },
  "saved tensor hooks": ({ x }) => {
    const hooks = [(t) => t.clone(), (t) => t];
    const y = graph.savedTensorsHooks(...hooks, () => x.square());
    y.sum().backward();
  },
  disableSavedTensorsHooks: ({ x }) => graph.disableSavedTensorsHooks("off", () => x.square()),
  "a custom Function": ({ x, Doubled }) => Doubled.apply(x).sum().backward(),
  checkpoint: ({ x }) =>
    autograd
      .checkpoint((y) => y.sin(), x)
      .sum()
      .backward(),
  "a layer": ({ layer, x }) => layer.call(x).sum().backward(),
  "a step of an optimizer": ({ layer, x, optimizer }) => {
    optimizer.zeroGrad();
    layer.call(x).sum().backward();
    optimizer.step();
  },
  "func.grad": ({ x }) => eg.func.grad((y) => y.square().sum())(x.detach()),
  "func.jvp": ({ x }) => eg.func.jvp((y) => y.sin(), [x.detach()], [eg.ones([3])]),
  vmap: () => eg.func.vmap((y) => y.sin().sum())(eg.ones([2, 3])),
  "linalg.eigh": ({ a }) => eg.linalg.eigh(a),
  "linalg.solve": ({ a, x }) => eg.linalg.solve(a, x),
  fft: ({ x }) => eg.fft.fft(x),
  "reading data": ({ x }) => x.detach().dataSync(),
  text: ({ x }) => String(x),
};

function given() {
  const layer = new nn.Linear(3, 2);
  return {
    x: eg.tensor([1, 2, 3], { requiresGrad: true }),
    a: eg.eye(3),
    layer,
    optimizer: new optim.Adam(layer.parameters()),
    Doubled: doubled(),
  };
}

describe("a stack overflow", () => {
  for (const [name, run] of Object.entries(kKinds)) {
    test(`in ${name} leaves the engine as it was`, async () => {
      await eg.scope(async () => {
        const inputs = given();
        const step = () => eg.scope(() => void run(inputs));
        step();
        await collectGarbage();
        const handles = eg.memory().jsHandles;
        untilOverflow(step);
        checkUsable();
        nearStackEnd(step);
        checkUsable();
        await untilCollected("handles", () => eg.memory().jsHandles === handles);
      });
    });
  }

  test("in a recursion inside of modes ends all of them", () => {
    const x = eg.tensor([1, 2], { requiresGrad: true });
    const nested = () => eg.noGrad(() => eg.inferenceMode(() => eg.autocast(nested)));
    assert.throws(nested, RangeError);
    checkUsable();
    const inScopes = () => eg.scope(() => [x.mul(2), inScopes()]);
    assert.throws(inScopes, RangeError);
    checkUsable();
    const inHooks = () =>
      eg.enableGrad(() => {
        const y = x.mul(2);
        y.registerHook(inHooks);
        y.sum().backward();
      });
    assert.throws(() => eg.scope(inHooks), /stack/);
    checkUsable();
  });
});

// Calls an op and, if it has any, computes its gradients.
function stepOf(op, args) {
  const leaves = args.flat().filter((one) => one instanceof eg.Tensor && one.requiresGrad);
  const options = { allowUnused: true };
  const forward = () => callOp(op, args).find((one) => one?.requiresGrad);
  const both = () => {
    const result = forward();
    if (result !== undefined) autograd.grad([result.sum()], leaves, options);
  };
  try {
    eg.scope(both);
    return both;
  } catch {
    return forward;
  }
}

describe("near the end of the stack", () => {
  const kOps = [...opTable.filter(({ kind }) => kind !== "internal"), ...compositeTable];
  const kPerTest = 100;
  for (let first = 0; first < kOps.length; first += kPerTest) {
    test(`ops from number ${first} run, or are refused before they change anything`, () => {
      for (const op of kOps.slice(first, first + kPerTest)) {
        const [sample] = samplesOf(op);
        if (sample === undefined) continue;
        eg.scope(() => {
          const step = stepOf(op, sample.make());
          nearStackEnd(() => eg.scope(() => void step()));
          assert.doesNotThrow(checkUsable, op.js);
        });
      }
    });
  }
});
