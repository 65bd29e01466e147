// What the devices of the page learn: eight digits; each device has two of them.

import * as eg from "edgegrad";
import { copyDigit, type Digits, kPixels, kSide } from "../digits/digits.js";

export const kDevices = 4;
export const kDigitsEach = 2;
export const kStepsOfRound = 4;
const kBatch = 64;
const kLearningRate = 0.15;

/** Digits as tensors: pixels float32 [count, 1, 28, 28], labels int64 [count]. */
export interface DigitTensors {
  readonly images: eg.Tensor;
  readonly labels: eg.Tensor;
}

export function makeModel(): eg.nn.Sequential {
  const { Conv2d, Flatten, Linear, MaxPool2d, ReLU, Sequential } = eg.nn;
  const block = (from: number, to: number) => [
    new Conv2d(from, to, 3, { padding: 1 }),
    new ReLU(),
    new MaxPool2d(2),
  ];
  return new Sequential(...block(1, 8), ...block(8, 16), new Flatten(), new Linear(16 * 7 * 7, 10));
}

/** At most `most` of the digits from `first` to below `end`. */
export function digitsBetween(
  parts: readonly Digits[],
  first: number,
  end: number,
  most: number,
): DigitTensors {
  const found = parts.flatMap((part) =>
    [...part.labels.keys()]
      .filter((i) => (part.labels[i] as number) >= first && (part.labels[i] as number) < end)
      .map((i) => ({ part, i })),
  );
  const count = Math.min(most, found.length);
  const digits = { labels: new Uint8Array(count), images: new Uint8Array(count * kPixels) };
  for (const [k, { part, i }] of found.slice(0, count).entries()) copyDigit(part, i, digits, k);
  return eg.scope(() => {
    const pixels = eg.tensor(digits.images, { shape: [count, 1, kSide, kSide] });
    return {
      images: pixels.to("float32").div(255).sub(0.1307).div(0.3081),
      labels: eg.tensor(digits.labels).to("int64"),
    };
  });
}

/** What a device does in a round; returns the last loss. */
export function trainRound(model: eg.nn.Sequential, { images, labels }: DigitTensors): number {
  const optimizer = new eg.optim.SGD(model.parameters(), { lr: kLearningRate });
  let last = 0;
  for (let step = 0; step < kStepsOfRound; step++) {
    last = eg.scope(() => {
      const chosen = eg.randint(0, labels.numel, [kBatch]);
      const scores = model.call(images.indexSelect(0, chosen));
      const loss = eg.crossEntropy(scores, labels.indexSelect(0, chosen));
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      return Number(loss.item());
    });
  }
  return last;
}

/** How many samples a round trains with. */
export const kSamplesOfRound = kStepsOfRound * kBatch;

/** The share of digits that a model recognizes. */
export function accuracyOf(model: eg.nn.Sequential, { images, labels }: DigitTensors): number {
  return eg.scope(() =>
    eg.noGrad(() => {
      const scores = model.call(images);
      return Number(scores.argmax(1).eq(labels).sum().item()) / labels.numel;
    }),
  );
}
