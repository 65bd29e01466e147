// The functions that tests/js/engine/shared_tensors.test.mjs runs in engine workers.

import * as eg from "edgegrad";
import { until } from "../../support/until.mjs";

/** Trains a tensor that other threads also train; returns how many steps failed, and their error codes. */
export function train(w, steps) {
  const optimizer = new eg.optim.SGD([w], { lr: 1e-3, momentum: 0.9 });
  const refused = {};
  for (let step = 0; step < steps; step++) {
    eg.scope(() => {
      try {
        optimizer.zeroGrad(step % 2 === 0);
        w.square().sum().backward();
        optimizer.step();
      } catch (error) {
        refused[error.code] = (refused[error.code] ?? 0) + 1;
      }
    });
  }
  return refused;
}

/** Trains shared memory through a separate model, as in the guide. */
export function trainModel(shared, steps) {
  const model = new eg.nn.Linear(2, 1, { bias: false });
  model.loadStateDict(shared, { assign: true });
  const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.01 });
  for (let step = 0; step < steps; step++) {
    eg.scope(() => {
      optimizer.zeroGrad();
      model.weight.square().sum().backward();
      optimizer.step();
    });
  }
}

/** Flips whether a tensor requires a gradient and sets its gradient, `rounds` times. */
export function disturb(w, rounds) {
  for (let i = 0; i < rounds; i++) {
    eg.scope(() => {
      w.grad = i % 3 === 0 ? null : eg.zeros(w.shape);
      w.requiresGrad_(i % 2 === 0);
      w.requiresGrad_(true);
    });
  }
}

/** Returns how many gradients of a Function of this thread are not `factor`. */
export function wrongGradients(factor, steps) {
  class Scale extends eg.autograd.Function {
    static forward(ctx, x) {
      ctx.saveForBackward(x);
      ctx.factor = factor;
      return x.mul(factor);
    }
    static backward(ctx, grad) {
      const [x] = ctx.savedTensors;
      if (ctx.factor !== factor || ctx.needsInputGrad[0] !== true) return grad.mul(Number.NaN);
      return grad.mul(factor).add(x.mul(0));
    }
  }
  let wrong = 0;
  for (let step = 0; step < steps; step++) {
    eg.scope(() => {
      const x = eg.ones([2], { requiresGrad: true });
      Scale.apply(x).sum().backward();
      if (x.grad.at(0).item() !== factor) wrong++;
    });
  }
  return wrong;
}

/** Registers and removes hooks of all kinds; returns how often a removed hook was called. */
export function addAndRemoveHooks(w, rounds) {
  let called = 0;
  const count = () => {
    called++;
  };
  for (let i = 0; i < rounds; i++) {
    eg.scope(() => {
      const y = w.mul(2);
      const handles = [
        y.registerHook(count),
        w.registerHook(count),
        w.registerPostAccumulateGradHook(count),
        y.gradFn.registerHook(count),
        y.gradFn.registerPrehook(count),
      ];
      for (const handle of handles) handle.remove();
    });
  }
  return called;
}

/** Runs backward from its argument `count` times. */
export function backwardOften(loss, count) {
  for (let i = 0; i < count; i++) loss.backward(null, { retainGraph: true });
}

/** Reads and changes the metadata that this thread stores with the node of a tensor. */
export function ownMetadata(y, value) {
  const before = y.gradFn.metadata.value ?? null;
  y.gradFn.metadata.value = value;
  return [before, y.gradFn.metadata.value];
}

/** Holds a tensor until it is released. */
export async function hold(x, flag) {
  await until("flag", () => flag.item() !== 0);
  return x.shape;
}
