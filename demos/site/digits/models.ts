// The two classifiers. Both end in two linear layers, which are trained on a visitor's handwriting.

import * as eg from "edgegrad";

const kModels = {
  dense: ({ Sequential, Linear, ReLU }: typeof eg.nn) =>
    new Sequential(
      new Linear(784, 64),
      new ReLU(),
      new Linear(64, 32),
      new ReLU(),
      new Linear(32, 10),
    ),
  convolutional: ({
    Sequential,
    Unflatten,
    Conv2d,
    ReLU,
    MaxPool2d,
    Flatten,
    Linear,
  }: typeof eg.nn) =>
    new Sequential(
      new Unflatten(1, [1, 28, 28]),
      new Conv2d(1, 12, 5, { padding: 2 }),
      new ReLU(),
      new MaxPool2d(2),
      new Conv2d(12, 16, 5, { padding: 2 }),
      new ReLU(),
      new MaxPool2d(2),
      new Flatten(),
      new Linear(784, 64),
      new ReLU(),
      new Linear(64, 10),
    ),
};

export type ModelName = keyof typeof kModels;

/** A classifier with new weights; its input is rows of 784 pixels. */
export function makeModel(name: ModelName, device: eg.Device): eg.nn.Sequential {
  return kModels[name](eg.nn).to(device);
}

/** The parameters of the last two layers: a weight and a bias each. */
export function lastLayers(model: eg.nn.Module): eg.Tensor[] {
  return model.parameters().slice(-4);
}

/** The weights of the first layer: one picture per neuron or filter. */
export function firstWeights(model: eg.nn.Module): eg.Tensor {
  return model.parameters()[0] as eg.Tensor;
}
