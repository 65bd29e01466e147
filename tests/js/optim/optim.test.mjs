// Optimizers, compared with results computed by hand.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { optim } = eg;

const parameter = (data) => eg.tensor(data, { dtype: "float64", requiresGrad: true });

/** Takes steps with the given gradients and returns the values after each. */
function trace(make, grads, start = 1) {
  const p = parameter([start]);
  const optimizer = make([p]);
  return grads.map((grad) => {
    p.grad = eg.tensor([grad], { dtype: "float64" });
    optimizer.step();
    return p.item();
  });
}

describe("SGD", () => {
  test("steps against the gradient", () => {
    assertClose(
      trace((p) => new optim.SGD(p, { lr: 0.1 }), [1, 2]),
      [0.9, 0.7],
    );
    assertClose(
      trace((p) => new optim.SGD(p, { lr: 0.1, maximize: true }), [1]),
      [1.1],
    );
    assertClose(
      trace((p) => new optim.SGD(p, { lr: 0.1, weightDecay: 0.5 }), [1]),
      [0.85],
    );
  });

  test("keeps momentum, with dampening and Nesterov's look ahead", () => {
    const momentum = (more) => (p) => new optim.SGD(p, { lr: 0.1, momentum: 0.9, ...more });
    assertClose(trace(momentum({}), [1, 1]), [0.9, 0.71]);
    // The first momentum buffer is the gradient itself, without dampening.
    assertClose(trace(momentum({ dampening: 0.5 }), [1, 1]), [0.9, 0.76]);
    assertClose(trace(momentum({ nesterov: true }), [1, 1]), [0.81, 0.539]);
  });
});

describe("Adam", () => {
  test("takes steps of the learning rate at first", () => {
    assertClose(
      trace((p) => new optim.Adam(p, { lr: 0.1 }), [3, 3]),
      [0.9, 0.8],
    );
  });

  test("follows the formula", () => {
    const [lr, b1, b2, eps, decay] = [0.01, 0.8, 0.9, 1e-3, 0.1];
    const grads = [1, -0.5, 2];
    for (const isDecoupled of [false, true]) {
      let [value, m, v] = [1, 0, 0];
      const expected = grads.map((grad, i) => {
        const g = isDecoupled ? grad : grad + decay * value;
        if (isDecoupled) value -= lr * decay * value;
        m = b1 * m + (1 - b1) * g;
        v = b2 * v + (1 - b2) * g * g;
        value -= (lr * (m / (1 - b1 ** (i + 1)))) / (Math.sqrt(v / (1 - b2 ** (i + 1))) + eps);
        return value;
      });
      const Type = isDecoupled ? optim.AdamW : optim.Adam;
      const make = (p) => new Type(p, { lr, betas: [b1, b2], eps, weightDecay: decay });
      assertClose(trace(make, grads), expected, { rtol: 1e-12, atol: 1e-12 });
    }
  });

  test("AMSGrad keeps the largest average of squares", () => {
    const [lr, b1, b2, eps] = [0.1, 0.9, 0.5, 1e-8];
    const grads = [4, 0.1];
    let [value, m, v, largest] = [1, 0, 0, 0];
    const expected = grads.map((g, i) => {
      m = b1 * m + (1 - b1) * g;
      v = b2 * v + (1 - b2) * g * g;
      largest = Math.max(largest, v);
      value -= (lr * (m / (1 - b1 ** (i + 1)))) / (Math.sqrt(largest / (1 - b2 ** (i + 1))) + eps);
      return value;
    });
    const make = (p) => new optim.Adam(p, { lr, betas: [b1, b2], eps, amsgrad: true });
    assertClose(trace(make, grads), expected, { rtol: 1e-12, atol: 1e-12 });
  });
});

describe("every optimizer", () => {
  test("passes over parameters without a gradient, and starts those that get one later", () => {
    for (const make of [
      (params) => new optim.SGD(params, { lr: 0.1, momentum: 0.9 }),
      (params) => new optim.Adam(params, { lr: 0.1 }),
    ]) {
      const [a, b] = [parameter([1]), parameter([1])];
      const optimizer = make([a, b]);
      a.sum().backward();
      optimizer.step();
      assert.equal(b.item(), 1);
      b.sum().backward();
      optimizer.step();
      assertClose([b.item()], [0.9]);
    }
  });

  test("takes groups with settings of their own", () => {
    const [a, b] = [parameter([1]), parameter([1])];
    const optimizer = new optim.SGD([{ params: [a] }, { params: b, lr: 1 }], { lr: 0.1 });
    a.add(b).backward();
    optimizer.step();
    assertClose([a.item(), b.item()], [0.9, 0]);
    optimizer.paramGroups[0].lr = 0.5;
    optimizer.step();
    assertClose([a.item()], [0.4]);
    optimizer.zeroGrad();
    assert.equal(a.grad, null);
  });

  test("changes parameters that share memory with others, and counts the change", () => {
    const p = parameter([1]);
    const alias = p.detach();
    const { version } = p;
    p.sum().backward();
    new optim.SGD([p], { lr: 0.5 }).step();
    assert.equal(alias.item(), 0.5);
    assert.ok(p.version > version);
    assert.equal(p.isLeaf, true);
    assert.equal(p.gradFn, null);
  });

  test("returns the loss of a closure", () => {
    const p = parameter([1]);
    const optimizer = new optim.SGD([p], { lr: 1 });
    const loss = optimizer.step(() => {
      const value = p.mul(2).sum();
      value.backward();
      return value;
    });
    assert.equal(loss.item(), 2);
    assert.equal(p.item(), -1);
  });

  test("keeps its state when a step runs inside a scope", () => {
    const p = parameter([1]);
    const optimizer = new optim.Adam([p], { lr: 0.1 });
    for (let i = 0; i < 3; i++) {
      eg.scope(() => {
        optimizer.zeroGrad();
        p.sum().backward();
        optimizer.step();
      });
    }
    assertClose([p.item()], [0.7]);
  });

  test("resumes from a state dict of PyTorch's structure", () => {
    const grads = [1, -2, 0.5];
    const settings = { lr: 0.1, betas: [0.8, 0.9], weightDecay: 0.1, amsgrad: true };
    const expected = trace((p) => new optim.Adam(p, settings), grads);
    const p = parameter([1]);
    const first = new optim.Adam([p], settings);
    p.grad = eg.tensor([grads[0]], { dtype: "float64" });
    first.step();
    const saved = first.stateDict();
    assert.deepEqual(saved.param_groups, [
      {
        lr: 0.1,
        betas: [0.8, 0.9],
        eps: 1e-8,
        weight_decay: 0.1,
        amsgrad: true,
        maximize: false,
        params: [0],
      },
    ]);
    assert.deepEqual(Object.keys(saved.state[0]), [
      "step",
      "exp_avg",
      "exp_avg_sq",
      "max_exp_avg_sq",
    ]);
    assert.equal(saved.state[0].step.item(), 1);
    const second = new optim.Adam([p], { lr: 5 });
    second.loadStateDict(saved);
    const values = grads.slice(1).map((grad) => {
      p.grad = eg.tensor([grad], { dtype: "float64" });
      second.step();
      return p.item();
    });
    assertClose(values, expected.slice(1), { rtol: 1e-12, atol: 1e-12 });
  });

  test("refuses settings and parameters that make no sense", () => {
    const p = parameter([1]);
    assertThrows(() => new optim.SGD([]), "InvalidArgument", /params: .*empty/);
    assertThrows(() => new optim.SGD([1]), "InvalidArgument");
    assertThrows(() => new optim.SGD([p], { lr: -1 }), "InvalidArgument", /\blr: .* -1\./);
    assertThrows(
      () => new optim.SGD([p], { nesterov: true }),
      "InvalidArgument",
      /nesterov: .*momentum/,
    );
    assertThrows(() => new optim.Adam([p], { betas: [1, 0.9] }), "InvalidArgument", /betas\[0\]/);
    assertThrows(() => new optim.SGD([p.mul(1)]), "InvalidArgument", /non-leaf/);
    assertThrows(() => new optim.SGD([p, p]), "InvalidArgument", /params: .*twice/);
    const wrong = {
      state: { 0: { momentum_buffer: eg.zeros([2]) } },
      param_groups: [{ params: [0] }],
    };
    assertThrows(() => new optim.SGD([p]).loadStateDict(wrong), "ShapeMismatch", /momentum_buffer/);
  });

  test("trains a model", () => {
    eg.manualSeed(3);
    const model = new eg.nn.Sequential(
      new eg.nn.Linear(1, 16),
      new eg.nn.Tanh(),
      new eg.nn.Linear(16, 1),
    );
    const optimizer = new optim.AdamW(model.parameters(), { lr: 0.02 });
    const x = eg.arange(-1, 1, 0.1).reshape(-1, 1);
    const y = x.mul(x);
    let last = Infinity;
    for (let step = 0; step < 200; step++) {
      last = eg.scope(() => {
        const loss = eg.mseLoss(model.call(x), y);
        optimizer.zeroGrad();
        loss.backward();
        optimizer.step();
        return loss.item();
      });
    }
    assert.ok(last < 2e-3, `loss ${last}`);
    assertTensor(y.at(0), [1], { shape: [1] });
  });
});
