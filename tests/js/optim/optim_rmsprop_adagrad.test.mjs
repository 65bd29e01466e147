// RMSprop and Adagrad, compared with PyTorch's documented formulas.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { optim } = eg;
const kTolerance = { rtol: 1e-12, atol: 1e-12 };
const kGrads = [1, -0.5, 2, 0.25];

const parameter = () => eg.tensor([1], { dtype: "float64", requiresGrad: true });

function step(optimizer, p, grad) {
  p.grad = eg.tensor([grad], { dtype: "float64" });
  optimizer.step();
  return p.item();
}

/** Takes steps with the given gradients and returns the values after each. */
function trace(make, grads) {
  const p = parameter();
  const optimizer = make([p]);
  return grads.map((grad) => step(optimizer, p, grad));
}

function rmsprop({ lr, alpha, eps, weightDecay, momentum, centered, maximize }) {
  let [value, square, buffer, mean] = [1, 0, 0, 0];
  return kGrads.map((given) => {
    const g = (maximize ? -given : given) + weightDecay * value;
    square = alpha * square + (1 - alpha) * g * g;
    mean = alpha * mean + (1 - alpha) * g;
    const change = g / (Math.sqrt(centered ? square - mean * mean : square) + eps);
    buffer = momentum * buffer + change;
    value -= lr * (momentum > 0 ? buffer : change);
    return value;
  });
}

function adagrad({ lr, lrDecay, weightDecay, initialAccumulatorValue, eps, maximize }) {
  let [value, sum] = [1, initialAccumulatorValue];
  return kGrads.map((given, i) => {
    const g = (maximize ? -given : given) + weightDecay * value;
    sum += g * g;
    value -= ((lr / (1 + i * lrDecay)) * g) / (Math.sqrt(sum) + eps);
    return value;
  });
}

describe("RMSprop", () => {
  const base = { lr: 0.01, alpha: 0.99, eps: 1e-8, weightDecay: 0, momentum: 0 };
  const cases = [
    {},
    { weightDecay: 0.1, alpha: 0.9 },
    { momentum: 0.8 },
    { centered: true, eps: 1e-3 },
    { centered: true, momentum: 0.5, maximize: true, weightDecay: 0.2 },
  ];
  for (const one of cases) {
    test(`follows the formula with ${JSON.stringify(one)}`, () => {
      const actual = trace((p) => new optim.RMSprop(p, one), kGrads);
      assertClose(actual, rmsprop({ ...base, ...one }), kTolerance);
    });
  }

  test("saves and resumes under PyTorch's names", () => {
    const settings = { momentum: 0.9, centered: true };
    const [p, q] = [parameter(), parameter()];
    const first = new optim.RMSprop([p], settings);
    step(first, p, 1);
    const state = first.stateDict();
    assert.deepEqual(Object.keys(state.state[0]).sort(), [
      "grad_avg",
      "momentum_buffer",
      "square_avg",
      "step",
    ]);
    assert.equal(state.param_groups[0].weight_decay, 0);
    const second = new optim.RMSprop([q], settings);
    second.loadStateDict(state);
    q.detach().copy_(p.detach());
    assert.equal(step(second, q, 2), step(first, p, 2));
  });
});

describe("Adagrad", () => {
  const base = { lr: 0.01, lrDecay: 0, weightDecay: 0, initialAccumulatorValue: 0, eps: 1e-10 };
  const cases = [
    {},
    { lr: 0.1, lrDecay: 0.5, weightDecay: 0.1 },
    { initialAccumulatorValue: 0.3, eps: 1e-2, maximize: true },
  ];
  for (const one of cases) {
    test(`follows the formula with ${JSON.stringify(one)}`, () => {
      const actual = trace((p) => new optim.Adagrad(p, one), kGrads);
      assertClose(actual, adagrad({ ...base, ...one }), kTolerance);
    });
  }

  test("accumulates both parts of complex numbers from its initial value", () => {
    const p = eg.tensor([{ re: 1, im: 1 }]).requiresGrad_();
    const own = new optim.Adagrad([p], { initialAccumulatorValue: 0.5 });
    const { sum } = own.stateDict().state[0];
    assert.equal(sum.dtype, "complex64");
    assert.deepEqual([...eg.viewAsReal(sum).dataSync()], [0.5, 0.5]);
    p.mul(p.conj()).real().sum().backward();
    own.step();
    assertClose([...eg.viewAsReal(p.detach()).dataSync()], [0.990572, 0.990572], { rtol: 1e-6 });
  });

  test("has its state before the first step, and resumes", () => {
    const [p, q] = [parameter(), parameter()];
    const first = new optim.Adagrad([p], { initialAccumulatorValue: 0.5, lrDecay: 0.1 });
    assert.deepEqual(Object.keys(first.stateDict().state[0]), ["step", "sum"]);
    assert.equal(first.stateDict().state[0].sum.item(), 0.5);
    step(first, p, 1);
    const second = new optim.Adagrad([q], { lr: 3 });
    second.loadStateDict(first.stateDict());
    assert.equal(second.paramGroups[0].lrDecay, 0.1);
    q.detach().copy_(p.detach());
    assert.equal(step(second, q, 2), step(first, p, 2));
  });
});

describe("both", () => {
  for (const name of ["RMSprop", "Adagrad"]) {
    test(`${name} leaves no tensors behind, takes groups and refuses wrong settings`, () => {
      const [a, b] = [parameter(), parameter()];
      const optimizer = new optim[name]([{ params: [a] }, { params: b, lr: 0 }], { lr: 0.5 });
      a.mul(2).add(b).backward();
      optimizer.step();
      assert.ok(a.item() < 1);
      assert.equal(b.item(), 1);
      assert.equal(a.requiresGrad && a.isLeaf, true);
      const before = eg.memory().jsHandles;
      optimizer.step();
      assert.equal(eg.memory().jsHandles, before);
      assertThrows(() => new optim[name]([a], { lr: -1 }), "InvalidArgument", /\blr: .* -1\./);
    });
  }
});
