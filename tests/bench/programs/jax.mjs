// The same training step in jax-js, compiled with jit.

import { defaultDevice, init, jit, nn, numpy as np, tree, valueAndGrad } from "@jax-js/jax";

await init("wasm");
defaultDevice("wasm");
// Random numbers come from JavaScript, because compiling jax-js's generator would take as long as everything else.
const uniform = (count, bound) =>
  np.array(Float32Array.from({ length: count }, () => (2 * Math.random() - 1) * bound));
const parameters = {
  w1: uniform(784 * 128, 0.03).reshape([784, 128]),
  b1: np.zeros([128]),
  w2: uniform(128 * 10, 0.03).reshape([128, 10]),
  b2: np.zeros([10]),
};
const x = uniform(64 * 784, 1).reshape([64, 784]);
const labels = Float32Array.from({ length: 640 }, (_, i) => Number(i % 10 === 0));
const y = np.array(labels).reshape([64, 10]);

function meanLoss({ w1, b1, w2, b2 }, images, targets) {
  const hidden = nn.relu(np.matmul(images, w1).add(b1));
  const logits = np.matmul(hidden, w2).add(b2);
  return np.mean(np.sum(nn.logSoftmax(logits).mul(targets), -1)).neg();
}

const step = jit((current, images, targets) => {
  const [loss, gradients] = valueAndGrad(meanLoss)(tree.ref(current), images, targets);
  return [tree.map((p, g) => p.sub(g.mul(0.1)), current, gradients), loss];
});
const [, loss] = step(parameters, x, y);
await loss.data();
console.log(performance.timeOrigin + performance.now());
