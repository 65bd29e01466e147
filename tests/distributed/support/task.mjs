// What the tests train: small models with the same batches in every process.

import * as eg from "edgegrad";

export const kSteps = 8;
const kBatch = 24;
const { Conv2d, Flatten, Linear, MaxPool2d, ReLU, Sequential, Tanh } = eg.nn;

/** Makes a model whose weights are those of a seed. */
export function makeModel(kind, seed) {
  eg.manualSeed(seed);
  if (kind === "mlp") return new Sequential(new Linear(8, 32), new Tanh(), new Linear(32, 4));
  const parts = [new Conv2d(1, 4, 3, { padding: 1 }), new ReLU(), new MaxPool2d(2)];
  return new Sequential(...parts, new Flatten(), new Linear(4 * 4 * 4, 4));
}

/** The inputs and labels of a step. */
export function wholeBatch(kind, step) {
  const generator = new eg.Generator(1000 + step);
  const shape = kind === "mlp" ? [kBatch, 8] : [kBatch, 1, 8, 8];
  return [eg.randn(shape, { generator }), eg.randint(0, 4, [kBatch], { generator })];
}

/** Takes a step; resolves to the loss. */
export async function trainStep(model, optimizer, x, y, isAsync) {
  return eg.scope(async () => {
    const loss = eg.crossEntropy(model.call(x), y);
    optimizer.zeroGrad();
    if (isAsync) await loss.backwardAsync();
    else loss.backward();
    optimizer.step();
    return loss.item();
  });
}

/** The losses of one process with whole batches. */
export async function lossesAlone(kind, { seed, lr, steps = kSteps }) {
  const model = makeModel(kind, seed);
  const optimizer = new eg.optim.SGD(model.parameters(), { lr, momentum: 0.9 });
  const losses = [];
  for (let step = 0; step < steps; step++) {
    losses.push(await trainStep(model, optimizer, ...wholeBatch(kind, step), false));
  }
  return losses;
}
