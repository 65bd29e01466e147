// The progress between two reports: means over the batches whose results were read, and the speed.

import type { Outcome } from "./classifier.js";

/** The training since the last report. */
export interface Progress {
  readonly steps: number;
  readonly loss: number;
  readonly accuracy: number;
  readonly samplesPerSecond: number;
}

export class Meter {
  #lossSum = 0;
  #right = 0;
  #read = 0;
  #batches = 0;
  #samples = 0;
  #ms = 0;

  /** Counts a step on `samples` digits, which took `ms`. */
  count(samples: number, ms: number): void {
    this.#samples += samples;
    this.#ms += ms;
  }

  /** Counts the results of a step, if they were read. */
  read({ loss, guesses }: Outcome, labels: Uint8Array): void {
    this.#lossSum += loss;
    this.#batches++;
    this.#right += guesses.reduce((sum, guess, i) => sum + Number(guess === labels[i]), 0);
    this.#read += labels.length;
  }

  get isEmpty(): boolean {
    return this.#batches === 0;
  }

  report(steps: number): Progress {
    return {
      steps,
      loss: this.#lossSum / this.#batches,
      accuracy: this.#right / this.#read,
      samplesPerSecond: (this.#samples / this.#ms) * 1000,
    };
  }
}
