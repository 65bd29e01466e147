// Trains a model on a book step by step, and generates text with it.

import * as eg from "edgegrad";
import { Gpt, kSizes } from "./model.mjs";
import { evenStarts, randomStarts, windows } from "./text.mjs";

// The first steps are small, until AdamW has estimated the size of the gradients.
const kWarmUpSteps = 50;
const kLargestNorm = 1;
const kHeldOutWindows = 32;

/** A Gpt and its optimizer; support/checkpoint.mjs saves and restores it. */
export class Learner {
  /** The number of steps so far, including those before a checkpoint was loaded. */
  steps = 0;

  /**
   * @param {import("./text.mjs").Book} book
   * @param {import("./model.mjs").Size} size
   * @param {eg.Device} device
   */
  constructor(book, size, device) {
    this.book = book;
    this.device = device;
    this.size = kSizes[size];
    this.model = new Gpt(book.characters.length, this.size).to(device);
    const { lr } = this.size;
    this.optimizer = new eg.optim.AdamW(this.model.parameters(), { lr, betas: [0.9, 0.99] });
  }

  /** The number of characters in one step. */
  get tokensPerStep() {
    return this.size.batch * this.size.context;
  }

  /** The number of trained parameters. */
  get parameterCount() {
    return [...this.model.parameters()].reduce((sum, { numel }) => sum + numel, 0);
  }

  /** Takes one step and returns the loss before it. */
  async step() {
    for (const group of this.optimizer.paramGroups) {
      group.lr = this.size.lr * Math.min(1, (this.steps + 1) / kWarmUpSteps);
    }
    const loss = eg.scope(() => {
      const loss = this.#loss(this.book.train, randomStarts);
      this.optimizer.zeroGrad();
      loss.backward();
      eg.nn.utils.clipGradNorm_(this.model.parameters(), kLargestNorm);
      this.optimizer.step();
      return loss.detach();
    });
    this.steps++;
    return numberIn(loss);
  }

  /** The loss on held-out text. */
  heldOutLoss() {
    return numberIn(
      eg.scope(() => eg.noGrad(() => this.#loss(this.book.heldOut, evenStarts, kHeldOutWindows))),
    );
  }

  /**
   * Samples the character that follows a text: the most likely one at a temperature near 0, almost any at a high one.
   * @param {string} text
   * @param {number} temperature
   */
  async nextCharacter(text, temperature) {
    const tokens = this.book.encode(text || "\n").slice(-this.size.context);
    const scores = eg.scope(() =>
      eg.noGrad(() => {
        const input = eg.tensor(tokens, { shape: [1, tokens.length] }).to("int64");
        return this.model.call(input.to(this.device)).at(0, -1);
      }),
    );
    const numbers = await scores.data();
    scores.dispose();
    return this.book.decode(draw(Array.from(numbers, Number), temperature));
  }

  #loss(tokens, choose, count = this.size.batch) {
    const { context } = this.size;
    const starts = choose(tokens, count, context);
    const [inputs, targets] = windows(tokens, starts, context, this.device);
    return eg.crossEntropy(this.model.call(inputs).flatten(0, 1), targets.flatten());
  }
}

async function numberIn(tensor) {
  const value = Number(await tensor.itemAsync());
  tensor.dispose();
  return value;
}

// Samples an index from the softmax of the scores.
function draw(scores, temperature) {
  const highest = Math.max(...scores);
  const weights = scores.map((score) => Math.exp((score - highest) / Math.max(temperature, 1e-3)));
  let left = Math.random() * weights.reduce((sum, weight) => sum + weight, 0);
  const drawn = weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return drawn < 0 ? scores.indexOf(highest) : drawn;
}
