// Loss curves of a small network under every optimizer that is made of ops, and the same after a resume.
// tests/golden/optimizers.json was written by PyTorch, from the same inputs in float64.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { assertClose } from "./support/assert.mjs";
import { eg } from "./support/engine.mjs";

const file = new URL("../golden/optimizers.json", import.meta.url);
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

    test("goes on exactly from its state, and leaves no tensors behind", () => {
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
      // The history of L-BFGS grows: optim_lbfgs.test.mjs looks at what it leaves.
      if (optimizer === "LBFGS") return;
      eg.scope(() => train(later, second, 1));
      const { tensors } = eg.memory();
      eg.scope(() => train(later, second, 3));
      assert.equal(eg.memory().tensors, tensors);
    });
  });
}
