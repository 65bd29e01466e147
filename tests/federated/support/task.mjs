// What the tests train: a small classifier of points, of which every client has its own.

import * as eg from "edgegrad";

const kFeatures = 8;
const kClasses = 4;
const kPoints = 64;

/** Makes the model. */
export function makeModel() {
  return new eg.nn.Sequential(
    new eg.nn.Linear(kFeatures, 16),
    new eg.nn.Tanh(),
    new eg.nn.Linear(16, kClasses),
  );
}

/** The points of a client, the same in every process: [features, labels]. */
export function pointsOf(client) {
  const generator = new eg.Generator(1000 + client);
  const centers = eg.randn([kClasses, kFeatures], { generator: new eg.Generator(1) });
  const labels = eg.randint(0, kClasses, [kPoints], { generator });
  const noise = eg.randn([kPoints, kFeatures], { generator }).mul(0.5);
  return [centers.indexSelect(0, labels).add(noise), labels];
}

/** Takes `steps` steps of SGD with all points; returns the last loss. */
export function trainSteps(model, [features, labels], steps = 5, lr = 0.2) {
  const optimizer = new eg.optim.SGD(model.parameters(), { lr });
  let last = 0;
  for (let step = 0; step < steps; step++) {
    last = eg.scope(() => {
      const loss = eg.crossEntropy(model.call(features), labels);
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      return loss.item();
    });
  }
  return last;
}

/** The function `train` of the client with a number. */
export function trainerOf(client, { steps, lr } = {}) {
  const points = pointsOf(client);
  return async ({ model }) => {
    const loss = trainSteps(model, points, steps, lr);
    return { samples: kPoints, metrics: { loss } };
  };
}

/** The share of all clients' points that a model classifies correctly. */
export function accuracyOf(model, clients) {
  return eg.scope(() => {
    const shares = Array.from({ length: clients }, (_, client) => {
      const [features, labels] = pointsOf(client);
      const right = model.call(features).argmax(1).eq(labels).sum().item();
      return right / labels.numel;
    });
    return shares.reduce((sum, share) => sum + share, 0) / clients;
  });
}

/** The weights of a state as plain numbers. */
export function numbersOf(state) {
  return Object.fromEntries(
    Object.entries(state).map(([key, tensor]) => [key, Array.from(tensor.dataSync())]),
  );
}
