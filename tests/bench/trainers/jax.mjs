// Training in jax-js, in steps that are compiled with jit.

import { jit, nn, numpy as np, tree, valueAndGrad } from "@jax-js/jax";
import { kModels } from "../models/jax.mjs";

function crossEntropy(logits, y) {
  return np.mean(np.sum(nn.logSoftmax(logits).mul(y), -1)).neg();
}

const kOptimizers = {
  sgd: {
    start: () => ({}),
    update: (rate) => (parameters, gradients, state) => [
      tree.map((p, g) => p.sub(g.mul(rate)), parameters, gradients),
      state,
    ],
  },
  adam: adam(0),
  adamw: adam(0.01),
};

function adam(decay) {
  return {
    start: (parameters) => ({
      first: tree.map((p) => np.zeros(p.shape), parameters),
      second: tree.map((p) => np.zeros(p.shape), parameters),
      power1: np.array(1),
      power2: np.array(1),
    }),
    update: (rate) => (parameters, gradients, state) => {
      const first = tree.map(
        (m, g) => m.mul(0.9).add(g.mul(0.1)),
        state.first,
        tree.ref(gradients),
      );
      const second = tree.map(
        (v, g) => v.mul(0.999).add(g.ref.mul(g).mul(0.001)),
        state.second,
        gradients,
      );
      const power1 = state.power1.mul(0.9);
      const power2 = state.power2.mul(0.999);
      const scale1 = np.array(1).sub(power1.ref);
      const scale2 = np.array(1).sub(power2.ref);
      const updated = tree.map(
        (p, m, v) => {
          const size = np.sqrt(v.div(scale2.ref)).add(1e-8);
          const kept = decay ? p.mul(1 - rate * decay) : p;
          return kept.sub(m.div(scale1.ref).div(size).mul(rate));
        },
        parameters,
        tree.ref(first),
        tree.ref(second),
      );
      scale1.dispose();
      scale2.dispose();
      return [updated, { first, second, power1, power2 }];
    },
  };
}

/** Returns a compiled step (parameters, state, x, y) -> [parameters, state, loss], and its first two arguments. */
function compile({ model: name, layers, optimizer: { name: rule, rate } }) {
  const { start, forward } = kModels[name];
  const parameters = start(layers);
  const state = kOptimizers[rule].start(parameters);
  const update = kOptimizers[rule].update(rate);
  const lossOf = (current, x, y) => crossEntropy(forward(current, x, layers), y);
  const step = jit((current, optimizer, x, y) => {
    const [loss, gradients] = valueAndGrad(lossOf)(tree.ref(current), x, y);
    const [next, nextState] = update(current, gradients, optimizer);
    return [next, nextState, loss];
  });
  return { parameters, state, step };
}

/** Returns {step, loss} of a task. */
export function trainer(task, batches) {
  let { parameters, state, step } = compile(task);
  const arrays = batches.map(kModels[task.model].inputs);
  let loss = null;
  return {
    step(i) {
      const { x, y } = arrays[i % arrays.length];
      loss?.dispose();
      [parameters, state, loss] = step(parameters, state, x.ref, y.ref);
    },
    loss: async () => (await loss.ref.data())[0],
  };
}
