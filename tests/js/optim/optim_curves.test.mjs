// Loss curves of a small network with every optimizer that is composed of ops, and the same curves after resuming. PyTorch wrote
// tests/golden/optimizers.json from the same inputs in float64. The curve of ASGD with maximize was computed with float64 as the
// default dtype: with another one PyTorch rounds its rate to float32, whatever the dtype of the parameters is.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { assertClose } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const file = new URL("../../golden/optimizers.json", import.meta.url);
const kCurves = JSON.parse(readFileSync(file, "utf8"));
const kShapes = [[5, 3], [5], [1, 5], [1]];
const kRows = 12;

const numbers = (count, at) => eg.tensor(Float64Array.from({ length: count }, (_, i) => at(i)));

function makeProblem() {
  const x = numbers(3 * kRows, (i) => Math.sin(1.3 * Math.floor(i / 3) + 0.7 * (i % 3)));
  const y = numbers(kRows, (i) => Math.cos(0.9 * i)).reshape([kRows, 1]);
  const params = kShapes.map((shape, k) => {
    const count = shape.reduce((a, b) => a * b, 1);
    const start = numbers(count, (i) => 0.5 * Math.sin(k + 1 + 1.7 * i));
    return start.reshape(shape).detach().requiresGrad_();
  });
  const [w1, b1, w2, b2] = params;
  const loss = () => {
    const hidden = x.reshape([kRows, 3]).matmul(w1.t()).add(b1).tanh();
    return hidden.matmul(w2.t()).add(b2).sub(y).square().mean();
  };
  return { params, loss };
}

/** Trains `steps` times and returns the losses before each step. */
function train({ params, loss }, optimizer, steps) {
  return Array.from({ length: steps }, () =>
    optimizer
      .step(() => {
        for (const param of params) param.grad = null;
        const value = loss();
        value.backward();
        return value;
      })
      .item(),
  );
}

for (const { optimizer, settings, losses, funcEvals } of kCurves) {
  const make = (params) => new eg.optim[optimizer](params, settings);
  describe(`${optimizer} with ${JSON.stringify(settings)}`, () => {
    test("follows PyTorch", () => {
      const problem = makeProblem();
      const trained = make(problem.params);
      const actual = train(problem, trained, losses.length);
      assertClose(actual, losses, { rtol: 1e-9, atol: 1e-9, what: "loss" });
      assert.equal(trained.stateDict().state[0].func_evals, funcEvals);
    });

    test("resumes exactly from its state, and leaves no tensors behind", () => {
      const whole = makeProblem();
      const expected = train(whole, make(whole.params), 8).slice(4);
      const begun = makeProblem();
      const first = make(begun.params);
      train(begun, first, 4);
      const later = makeProblem();
      for (const [i, param] of later.params.entries()) {
        param.detach().copy_(begun.params[i].detach());
      }
      const second = make(later.params);
      second.loadStateDict(first.stateDict());
      assert.deepEqual(train(later, second, 4), expected);
      // The history of L-BFGS grows; optim_lbfgs.test.mjs checks its memory.
      if (optimizer === "LBFGS") return;
      eg.scope(() => train(later, second, 1));
      const { tensors } = eg.memory();
      eg.scope(() => train(later, second, 3));
      assert.equal(eg.memory().tensors, tensors);
    });
  });
}

const kComposed = {
  NAdam: { betas: [0.9, 0.9] },
  RAdam: { betas: [0.9, 0.9] },
  Adadelta: {},
  Adamax: { betas: [0.9, 0.9] },
  ASGD: { t0: 2 },
  Rprop: {},
};

for (const [name, settings] of Object.entries(kComposed)) {
  test(`${name} steps complex numbers as pairs of real ones`, () => {
    const parts = [1, -2, 0.5, 3];
    const z = eg
      .viewAsComplex(eg.tensor(parts).reshape([2, 2]))
      .clone()
      .requiresGrad_();
    const x = eg.tensor(parts).requiresGrad_();
    const [first, second] = [z, x].map((p) => new eg.optim[name]([p], { ...settings, lr: 0.1 }));
    for (let i = 0; i < 5; i++) {
      const grad = eg.tensor([i - 1, 1, -0.5 * i, 2 - i]);
      z.grad = eg.viewAsComplex(grad.reshape([2, 2]));
      x.grad = grad;
      first.step();
      second.step();
      assert.deepEqual([...z.dataSync()], [...x.dataSync()]);
    }
    const later = new eg.optim[name]([z], settings);
    later.loadStateDict(first.stateDict());
    assert.equal(Object.values(later.stateDict().state[0]).at(-1).dtype, "complex64");
  });

  test(`${name} has no denormal numbers in its state`, () => {
    const p = eg.tensor([1, 1e-3], { requiresGrad: true });
    const optimizer = new eg.optim[name]([p], settings);
    p.grad = eg.tensor([1, 1e-20]);
    optimizer.step();
    p.grad = eg.zeros([2]);
    const averages = () => {
      const values = Object.values(optimizer.stateDict().state[0]);
      return values.filter(({ ndim }) => ndim === 1).flatMap((t) => [...t.dataSync()]);
    };
    for (let i = 0; i < 1000; i++) {
      eg.scope(() => {
        optimizer.step();
        const denormal = averages().find((value) => value !== 0 && Math.abs(value) < 2 ** -126);
        assert.equal(denormal, undefined, `step ${i}`);
      });
    }
  });
}
