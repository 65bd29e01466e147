// A small linear regression in plain numbers, by which the engine's runs are checked: [weight 0, weight 1, weight 2, bias].

import * as eg from "edgegrad";

const kFeatures = 3;
const kPoints = 16;

export const makeRegression = () => new eg.nn.Sequential(new eg.nn.Linear(kFeatures, 1));

/** The points of a client: rows of features, and targets that no two clients have alike. */
export function pointsOf(client) {
  const wave = (i) => Math.sin(1 + 7 * i + 3 * client);
  const rows = Array.from({ length: kPoints }, (_, i) =>
    Array.from({ length: kFeatures }, (_, j) => wave(i + 5 * j)),
  );
  const targets = rows.map(([a, b, c]) => a * (1 + client) - b + 0.5 * c + client);
  return { rows, targets };
}

/** The gradient of the mean squared error. */
export function gradientOf(weights, { rows, targets }) {
  const gradient = weights.map(() => 0);
  for (const [i, row] of rows.entries()) {
    const inputs = [...row, 1];
    const error = inputs.reduce((sum, one, j) => sum + one * weights[j], -targets[i]);
    for (const [j, one] of inputs.entries()) gradient[j] += (2 * error * one) / rows.length;
  }
  return gradient;
}

/** The function `train` of a client: steps of SGD on all of its points. */
export function trainerOf(client, { steps, lr }) {
  const { rows, targets } = pointsOf(client);
  const features = eg.tensor(rows);
  const labels = eg.tensor(targets).reshape([-1, 1]);
  return async ({ model }) => {
    const optimizer = new eg.optim.SGD(model.parameters(), { lr });
    for (let step = 0; step < steps; step++) {
      eg.scope(() => {
        optimizer.zeroGrad();
        eg.mseLoss(model.call(features), labels).backward();
        optimizer.step();
      });
    }
    return { samples: kPoints };
  };
}

/** The weights of a state in the order of gradientOf(). */
export const weightsOf = (state) => [
  ...state["0.weight"].dataSync(),
  ...state["0.bias"].dataSync(),
];

/** The mean of lists, number by number. */
export const meanOf = (lists) =>
  lists[0].map((_, i) => lists.reduce((sum, one) => sum + one[i], 0) / lists.length);
