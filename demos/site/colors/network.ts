// The network that guesses colors from brightness.

import * as eg from "edgegrad";

/** Height and width of what the network sees. */
export const kSize = [96, 128] as const;

/** Its learning rate. */
export const kRate = 3e-3;

/** What brightness has of red, green and blue (ITU-R BT.601). */
const kBrightness = [0.299, 0.587, 0.114];

/** Maps brightness [1, 1, height, width] to colors [1, 3, height, width] from 0 to 1. */
export function makeModel(device: eg.Device): eg.nn.Sequential {
  const { Conv2d, ReLU, Sequential, Sigmoid } = eg.nn;
  return new Sequential(
    new Conv2d(1, 24, 5, { padding: 2 }),
    new ReLU(),
    new Conv2d(24, 24, 3, { padding: 1 }),
    new ReLU(),
    new Conv2d(24, 3, 3, { padding: 1 }),
    new Sigmoid(),
  ).to(device);
}

/** The weights with which brightness() sums colors, [3, 1, 1]. */
export function brightnessWeights(device: eg.Device): eg.Tensor {
  return eg.tensor(kBrightness, { device }).reshape([3, 1, 1]);
}

/** The brightness of a picture [3, height, width], [1, height, width]. */
export function brightnessOf(picture: eg.Tensor, weights: eg.Tensor): eg.Tensor {
  return picture.mul(weights).sum(0, true);
}

/** One step on a picture and its brightness; returns the guess before it. */
export function learn(
  model: eg.nn.Sequential,
  optimizer: eg.optim.Adam,
  given: eg.Tensor,
  seen: eg.Tensor,
): eg.Tensor {
  const guess = model.call(given.unsqueeze(0));
  optimizer.zeroGrad();
  eg.mseLoss(guess, seen.unsqueeze(0)).backward();
  optimizer.step();
  return guess;
}
