// The classifier and its accuracy.

import * as eg from "edgegrad";
import { normalize } from "./data.mjs";

const kTestBatch = 1000;

const kModels = {
  mlp: ({ Sequential, Linear, ReLU }) =>
    new Sequential(new Linear(784, 256), new ReLU(), new Linear(256, 10)),
  cnn: ({ Sequential, Unflatten, Conv2d, ReLU, MaxPool2d, Flatten, Linear }) =>
    new Sequential(
      new Unflatten(1, [1, 28, 28]),
      new Conv2d(1, 16, 5, { padding: 2 }),
      new ReLU(),
      new MaxPool2d(2),
      new Conv2d(16, 32, 5, { padding: 2 }),
      new ReLU(),
      new MaxPool2d(2),
      new Flatten(),
      new Linear(32 * 7 * 7, 10),
    ),
};

/** Returns a classifier by name, with new weights; its input is rows of 784 pixels. */
export function makeModel(name, device = "cpu") {
  return kModels[name](eg.nn).to(device);
}

// Digits in the form of the model's input, on its device.
function inputOf(model, images) {
  const [{ device }] = model.parameters();
  return normalize(images.to(device));
}

// Labels as int64, on the device of the scores.
function targetOf(scores, labels) {
  return labels.to("int64").to(scores.device);
}

/** Returns the loss on a batch. */
export function lossOf(model, [images, labels]) {
  const scores = model.call(inputOf(model, images));
  return eg.crossEntropy(scores, targetOf(scores, labels));
}

/** Takes one training step and returns the loss before it. */
export function trainStep(model, optimizer, batch) {
  return eg.scope(() => {
    const loss = lossOf(model, batch);
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    return loss.item();
  });
}

/** Returns the share of digits that the model classifies correctly. */
export async function accuracy(model, dataset) {
  let correct = 0;
  for await (const [images, labels] of new eg.data.DataLoader(dataset, { batchSize: kTestBatch })) {
    correct += eg.scope(() => {
      const guesses = eg.noGrad(() => model.call(inputOf(model, images)).argmax(1));
      return guesses.eq(targetOf(guesses, labels)).sum().item();
    });
  }
  return correct / dataset.length;
}

/** Returns the model's probabilities of the ten digits, one row per image. */
export function probabilities(model, images) {
  return eg.scope(() => eg.noGrad(() => model.call(inputOf(model, images)).softmax(1).arraySync()));
}
