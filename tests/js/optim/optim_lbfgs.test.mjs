// L-BFGS: where it differs from the other optimizers. Its loss curves are in optim_curves.test.mjs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { LBFGS } = eg.optim;

// Rosenbrock's function, whose minimum is at (1, 1).
function valley(dtype = "float64") {
  const p = eg.tensor([-1.5, 2], { dtype, requiresGrad: true });
  const closure = () => {
    p.grad = null;
    const [x, y] = [p.at(0), p.at(1)];
    const loss = x.sub(1).square().add(y.sub(x.square()).square().mul(100));
    loss.backward();
    return loss;
  };
  return { p, closure };
}

describe("LBFGS", () => {
  for (const dtype of ["float32", "float64"]) {
    test(`finds the end of the valley in ${dtype}`, () => {
      const { p, closure } = valley(dtype);
      const optimizer = new LBFGS([p], { lineSearchFn: "strong_wolfe", maxIter: 100 });
      const first = optimizer.step(closure);
      assertClose([first.item()], [12.5], { atol: 1e-5 });
      assertClose(p.dataSync(), [1, 1], { atol: 1e-3 });
    });
  }

  test("steps complex parameters as two real ones", () => {
    const z = eg.tensor([{ re: 3, im: -2 }]).requiresGrad_();
    const target = eg.tensor([{ re: 1, im: 1 }]);
    const optimizer = new LBFGS([z], { lineSearchFn: "strong_wolfe" });
    optimizer.step(() => {
      z.grad = null;
      const loss = z.sub(target).abs().square().sum();
      loss.backward();
      return loss;
    });
    assertClose(z.dataSync(), [1, 1], { atol: 1e-4 });
  });

  test("frees all but its history", () => {
    const { p, closure } = valley();
    const optimizer = new LBFGS([p], { lineSearchFn: "strong_wolfe", historySize: 3, maxIter: 5 });
    const step = () => eg.scope(() => void optimizer.step(closure));
    step();
    step();
    p.grad = null;
    const { tensors } = eg.memory();
    step();
    p.grad = null;
    assert.equal(eg.memory().tensors, tensors);
    optimizer.loadStateDict(optimizer.stateDict());
  });

  for (const fails of [1, 2, 4]) {
    test(`changes nothing when its closure throws in call ${fails}`, () => {
      const { p, closure } = valley();
      const optimizer = new LBFGS([p], { lineSearchFn: "strong_wolfe", maxIter: 4 });
      optimizer.step(closure);
      const before = [...p.dataSync()];
      const { version } = p;
      const numbers = () => JSON.stringify(optimizer.stateDict().state[0].ro);
      const state = numbers();
      let calls = 0;
      const failing = () => {
        if (++calls === fails) throw new RangeError("no more");
        return closure();
      };
      assert.throws(() => optimizer.step(failing), RangeError);
      assert.deepEqual([...p.dataSync()], before);
      if (fails === 1) assert.equal(p.version, version);
      assert.equal(numbers(), state);
      optimizer.step(closure);
    });
  }

  test("records in the closure, also where nothing else is recorded", () => {
    const { p, closure } = valley();
    eg.noGrad(() => new LBFGS([p], { maxIter: 1 }).step(closure));
    assert.notEqual(p.dataSync()[0], -1.5);
  });

  test("says what it cannot take", () => {
    const { p, closure } = valley();
    const refuses = (fn, text) => assertThrows(fn, "InvalidArgument", text);
    const q = eg.ones([1], { requiresGrad: true });
    refuses(() => new LBFGS([{ params: p }, { params: q }]), /one parameter group/);
    refuses(() => new LBFGS([p], { lineSearchFn: "armijo" }), /lineSearchFn: .*strong_wolfe/);
    refuses(() => new LBFGS([p], { lr: -1 }), /\blr: .* -1\./);
    const optimizer = new LBFGS([p]);
    refuses(() => optimizer.step(), /\[LBFGS\.step\] closure/);
    refuses(() => optimizer.step(() => eg.ones([2])), /closure: .*the loss/);
    assert.equal(optimizer.paramGroups[0].maxEval, 25);
    optimizer.step(closure);
    const state = optimizer.stateDict();
    assert.deepEqual(Object.keys(state.state[0]), [
      ...["func_evals", "n_iter", "d", "t", "old_dirs", "old_stps", "ro", "H_diag"],
      ...["prev_flat_grad", "prev_loss"],
    ]);
    const other = new LBFGS([q]);
    assertThrows(() => other.loadStateDict(state), "ShapeMismatch", /"d" has shape \[2\]/);
  });
});
