// What training tells between two reports: means over the batches that were read, and how fast it goes.

import type { Outcome } from "./classifier.js";

/** Training as it was since the last report. */
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

  /** Counts a step on so many digits, which took `ms`. */
  count(samples: number, ms: number): void {
    this.#samples += samples;
    this.#ms += ms;
  }

  /** Counts what a step gave, where that was read. */
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
