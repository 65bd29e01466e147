// A classifier and its training, on its device. Computations are synchronous and run in a scope. Only reading values waits, outside
// of any scope, so that it does not interfere with a prediction that is requested meanwhile.

import * as eg from "edgegrad";
import { fileOf, packCheckpoint, unpackCheckpoint } from "../../support/checkpoint.mjs";
import type { Digits } from "./digits.js";
import { inputOf, type ModelName, makeModel } from "./models.mjs";

const kLearningRate = 0.002;
// High enough that the weights of pixels without ink fade in the pictures.
const kWeightDecay = 0.3;
const kFineTuningRate = 0.003;
// The parameters of the last two layers: a weight and a bias each.
const kFineTuned = 4;

/** The results for one batch. */
export interface Outcome {
  /** Mean over the batch. */
  readonly loss: number;
  /** The predicted digit for each sample. */
  readonly guesses: Uint8Array;
}

interface OutcomeTensors {
  readonly loss: eg.Tensor;
  readonly guesses: eg.Tensor;
}

export class Classifier {
  readonly name: ModelName;
  readonly device: eg.Device;
  readonly model: eg.nn.Sequential;
  readonly optimizer: eg.optim.AdamW;
  /** The number of steps so far. */
  steps = 0;

  constructor(name: ModelName, device: eg.Device) {
    this.name = name;
    this.device = device;
    this.model = makeModel(name, device);
    this.optimizer = new eg.optim.AdamW(this.model.parameters(), {
      lr: kLearningRate,
      weightDecay: kWeightDecay,
    });
  }

  /** Takes one step. Reads the loss and the predictions only if `read` is true. */
  step(digits: Digits, read: boolean): Promise<Outcome> | null {
    this.steps++;
    const tensors = this.#learn(this.optimizer, digits);
    if (read) return outcomeOf(tensors);
    for (const tensor of Object.values(tensors)) tensor.dispose();
    return null;
  }

  /** Classifies digits and computes the loss for their labels. */
  test(digits: Digits): Promise<Outcome> {
    const tensors = eg.scope(() => eg.noGrad(() => this.#lossAndGuesses(digits)));
    return outcomeOf(tensors);
  }

  /** The probabilities of the ten digits for one image. */
  async predict(image: Uint8Array): Promise<number[]> {
    const scores = eg.scope(() =>
      eg.noGrad(() => this.model.call(inputOf(image, this.device)).softmax(1).to("float32")),
    );
    const values = await scores.data();
    scores.dispose();
    return Array.from(values as Float32Array);
  }

  /** The first layer's weights, [pictures, pixels of each]. */
  async firstLayer(): Promise<{ values: Float32Array; count: number }> {
    const weights = this.model.parameters()[0] as eg.Tensor;
    return { values: (await weights.data()) as Float32Array, count: weights.shape[0] ?? 0 };
  }

  /** Returns a function that trains only the last two layers, one step per call. */
  fineTuner(): (digits: Digits) => Promise<Outcome> {
    const optimizer = new eg.optim.AdamW(this.model.parameters().slice(-kFineTuned), {
      lr: kFineTuningRate,
    });
    return (digits) => outcomeOf(this.#learn(optimizer, digits));
  }

  /** The weights as a safetensors file, which PyTorch reads too. */
  weights(): Promise<Uint8Array> {
    return fileOf(this.model.stateDict());
  }

  /** The model as an ONNX file, for any number of digits at once. */
  async onnx(): Promise<Uint8Array> {
    const { save } = await import("edgegrad/onnx");
    const input = inputOf(new Uint8Array(784), this.device);
    try {
      return await save(this.model, {
        inputs: [input],
        inputNames: ["pixels"],
        outputNames: ["scores"],
        dynamicAxes: { pixels: { 0: "batch" } },
      });
    } finally {
      input.dispose();
    }
  }

  /** Loads weights; throws, without changing anything, if the file is invalid or belongs to another model. */
  loadWeights(file: Uint8Array): void {
    eg.scope(() => void this.model.loadStateDict(eg.io.loadSafetensors(file)));
  }

  checkpoint(): Promise<Uint8Array> {
    return packCheckpoint(this);
  }

  restore(file: Uint8Array): void {
    unpackCheckpoint(this, file);
  }

  #learn(optimizer: eg.optim.AdamW, digits: Digits): OutcomeTensors {
    const inputs = optimizer.paramGroups.flatMap(({ params }) => params);
    return eg.scope(() => {
      const { loss, guesses } = this.#lossAndGuesses(digits);
      optimizer.zeroGrad();
      loss.backward(null, { inputs });
      optimizer.step();
      return { loss: loss.detach(), guesses };
    });
  }

  #lossAndGuesses({ images, labels }: Digits): OutcomeTensors {
    const scores = this.model.call(inputOf(images, this.device));
    const target = eg.tensor(labels).to("int64").to(this.device);
    return { loss: eg.crossEntropy(scores, target), guesses: scores.argmax(1).to("uint8") };
  }
}

async function outcomeOf({ loss, guesses }: OutcomeTensors): Promise<Outcome> {
  const [value, read] = await Promise.all([loss.itemAsync(), guesses.data()]);
  loss.dispose();
  guesses.dispose();
  return { loss: Number(value), guesses: read as Uint8Array };
}
