// What the clients of federated.mjs train, and the same training on one machine.

import * as eg from "edgegrad";
import { asImages } from "./digits.mjs";

const { Conv2d, Flatten, Linear, MaxPool2d, ReLU, Sequential } = eg.nn;
const kPoints = 50;

const block = (from, to) => [new Conv2d(from, to, 3, { padding: 1 }), new ReLU(), new MaxPool2d(2)];

/** Makes the network. */
export const makeModel = () =>
  new Sequential(...block(1, 8), ...block(8, 16), new Flatten(), new Linear(16 * 7 * 7, 10));

/** The images and labels of a set whose digits are from `first` to below `end`. */
export function digitsOf(set, first, end) {
  const [images, labels] = set.getBatch(Array.from({ length: set.length }, (_, i) => i));
  const chosen = labels.ge(first).logicalAnd(labels.lt(end));
  return [images.at(chosen), labels.at(chosen).to("int64")];
}

/** Takes a step with a random batch of some digits; returns the loss. */
export function trainStep(model, optimizer, [images, labels], size) {
  return eg.scope(() => {
    const batch = eg.randint(0, labels.numel, [size]);
    const logits = model.call(asImages(images.indexSelect(0, batch)));
    const error = eg.crossEntropy(logits, labels.indexSelect(0, batch));
    optimizer.zeroGrad();
    error.backward();
    optimizer.step();
    return error.item();
  });
}

/** The share of some digits that a model recognizes. */
export function accuracyOf(model, [images, labels]) {
  return eg.scope(() => {
    const guesses = eg.noGrad(() => model.call(asImages(images)).argmax(1));
    return guesses.eq(labels).float().mean().item();
  });
}

/** The accuracy on `test` after each of some rounds, in which one machine takes steps with batches of all digits: [round, accuracy]. */
export function accuracyAlone(train, test, { rounds, steps, batch, optimizer: makeOptimizer }) {
  eg.manualSeed(0);
  const model = makeModel();
  const optimizer = makeOptimizer(model);
  const points = [];
  for (let round = 1; round <= rounds; round++) {
    for (let step = 0; step < steps; step++) trainStep(model, optimizer, train, batch);
    if (round % Math.ceil(rounds / kPoints) === 0) points.push([round, accuracyOf(model, test)]);
  }
  return points;
}
