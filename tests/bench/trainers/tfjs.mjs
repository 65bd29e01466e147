// Training in TensorFlow.js.

import * as tf from "@tensorflow/tfjs";
import { kModels } from "../models/tfjs.mjs";

/** TensorFlow.js has no AdamW; Adam without weight decay is used instead, which is slightly less work. */
function makeOptimizer({ name, rate }) {
  return name === "sgd" ? tf.train.sgd(rate) : tf.train.adam(rate, 0.9, 0.999, 1e-8);
}

/** Returns a function that takes a step with a batch of tensors, and returns the loss. */
function start({ model: name, layers, optimizer }) {
  const model = kModels[name];
  const variables = model.start(layers);
  const rule = makeOptimizer(optimizer);
  const loss = ({ x, y }) => tf.losses.softmaxCrossEntropy(y, model.forward(variables, x, layers));
  return (batch) => rule.minimize(() => loss(batch), true);
}

/** Returns {step, loss} of a task. */
export function trainer(task, batches) {
  const step = start(task);
  const tensors = batches.map(kModels[task.model].inputs);
  let loss = null;
  return {
    step(i) {
      loss?.dispose();
      loss = step(tensors[i % tensors.length]);
    },
    loss: async () => (await loss.data())[0],
  };
}
