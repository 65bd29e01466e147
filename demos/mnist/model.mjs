// The classifier and how well it does.

import * as eg from "edgegrad";
import { normalize } from "./data.mjs";

const kTestBatch = 1000;

/** Makes the classifier, with new weights. */
export function makeModel() {
  return new eg.nn.Sequential(
    new eg.nn.Linear(784, 256),
    new eg.nn.ReLU(),
    new eg.nn.Linear(256, 10),
  );
}

/** Takes one training step and returns the loss before it. */
export function trainStep(model, optimizer, [images, labels]) {
  return eg.scope(() => {
    const loss = eg.crossEntropy(model.call(normalize(images)), labels.to("int64"));
    optimizer.zeroGrad();
    loss.backward();
    optimizer.step();
    return loss.item();
  });
}

/** Returns the share of digits that the model reads correctly. */
export async function accuracy(model, dataset) {
  let correct = 0;
  for await (const [images, labels] of new eg.data.DataLoader(dataset, { batchSize: kTestBatch })) {
    correct += eg.scope(() => {
      const guesses = eg.noGrad(() => model.call(normalize(images)).argmax(1));
      return guesses.eq(labels.to("int64")).sum().item();
    });
  }
  return correct / dataset.length;
}

/** Returns the probabilities the model gives the ten digits, one row per image. */
export function probabilities(model, images) {
  return eg.scope(() => eg.noGrad(() => model.call(normalize(images)).softmax(1).arraySync()));
}
