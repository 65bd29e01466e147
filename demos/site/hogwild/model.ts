// The classifier that all workers train.

import * as eg from "edgegrad";
import { type Counters, takeStep } from "./counters.js";

export const kBatch = 64;
const kLearningRate = 0.05;
const kMomentum = 0.9;
const kPixels = 784;

/** Digits as tensors: pixels uint8 [count, 784], labels int64 [count]. */
export interface DigitTensors {
  readonly images: eg.Tensor;
  readonly labels: eg.Tensor;
}

export function makeModel(): eg.nn.Sequential {
  const { Linear, ReLU, Sequential } = eg.nn;
  return new Sequential(new Linear(kPixels, 128), new ReLU(), new Linear(128, 10));
}

/** Takes steps on random digits. */
export class Trainer {
  readonly #model = makeModel();
  readonly #optimizer: eg.optim.SGD;
  readonly #digits: DigitTensors;

  /** The model uses these tensors themselves, so everyone who shares them sees them change. */
  constructor(weights: Record<string, eg.Tensor>, digits: DigitTensors) {
    this.#model.loadStateDict(weights, { assign: true });
    this.#digits = digits;
    const settings = { lr: kLearningRate, momentum: kMomentum };
    this.#optimizer = new eg.optim.SGD(this.#model.parameters(), settings);
  }

  step(): void {
    eg.scope(() => {
      const { images, labels } = this.#digits;
      const chosen = eg.randint(0, labels.numel, [kBatch]);
      const scores = this.#model.call(inputOf(images.indexSelect(0, chosen)));
      const loss = eg.crossEntropy(scores, labels.indexSelect(0, chosen));
      this.#optimizer.zeroGrad();
      loss.backward();
      this.#optimizer.step();
    });
  }
}

/** What a worker does: takes steps on weights that others train too, until none of `total` is left. */
export function trainShared(
  weights: Record<string, eg.Tensor>,
  digits: DigitTensors,
  counters: Counters,
  total: number,
): void {
  const trainer = new Trainer(weights, digits);
  while (takeStep(counters, total)) trainer.step();
}

/** The loss and the share of digits that are classified correctly. */
export function evaluate(model: eg.nn.Sequential, { images, labels }: DigitTensors) {
  return eg.scope(() =>
    eg.noGrad(() => {
      const scores = model.call(inputOf(images));
      const loss = Number(eg.crossEntropy(scores, labels).item());
      const right = Number(scores.argmax(1).eq(labels).sum().item());
      return { loss, accuracy: right / labels.numel };
    }),
  );
}

function inputOf(images: eg.Tensor): eg.Tensor {
  return images.to("float32").div(255).sub(0.1307).div(0.3081);
}
