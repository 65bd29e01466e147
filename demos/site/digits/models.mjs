// Classifiers of handwritten digits: 28 x 28 pixels from 0 (paper) to 255 (ink), row by row. Both end in two linear layers.

import * as eg from "edgegrad";

const kPixels = 784;

const kModels = {
  dense: ({ Sequential, Linear, ReLU }) =>
    new Sequential(
      new Linear(kPixels, 64),
      new ReLU(),
      new Linear(64, 32),
      new ReLU(),
      new Linear(32, 10),
    ),
  convolutional: ({ Sequential, Unflatten, Conv2d, ReLU, MaxPool2d, Flatten, Linear }) =>
    new Sequential(
      new Unflatten(1, [1, 28, 28]),
      new Conv2d(1, 12, 5, { padding: 2 }),
      new ReLU(),
      new MaxPool2d(2),
      new Conv2d(12, 16, 5, { padding: 2 }),
      new ReLU(),
      new MaxPool2d(2),
      new Flatten(),
      new Linear(kPixels, 64),
      new ReLU(),
      new Linear(64, 10),
    ),
};

/** @typedef {"dense" | "convolutional"} ModelName */

/**
 * A classifier with new weights; its input is that of inputOf().
 * @param {ModelName} name
 * @param {eg.Device} device
 * @returns {eg.nn.Sequential}
 */
export function makeModel(name = "dense", device = "cpu") {
  return kModels[name](eg.nn).to(device);
}

/**
 * Pixels [count · 784] as float32 [count, 784] with mean 0 and variance 1 over all of MNIST.
 * @param {Uint8Array} pixels
 * @param {eg.Device} device
 */
export function inputOf(pixels, device = "cpu") {
  const rows = eg.tensor(pixels, { shape: [pixels.length / kPixels, kPixels] }).to(device);
  return rows
    .to("float32")
    .mul(1 / 255 / 0.3081)
    .sub(0.1307 / 0.3081);
}

/**
 * The probabilities of the ten digits for one image, on the CPU.
 * @param {eg.nn.Sequential} model
 * @param {Uint8Array} pixels
 * @returns {number[]}
 */
export function predict(model, pixels) {
  return eg.scope(() =>
    eg.noGrad(() => Array.from(model.call(inputOf(pixels)).softmax(1).dataSync(), Number)),
  );
}
