// Tests a classifier on many digits, a few at a time, so that messages are handled in between.

import type { Classifier } from "./classifier.js";
import { type Digits, sliceOf } from "./digits.js";

const kAtOnce = 250;

/** The results of a test. */
export interface TestResult {
  readonly steps: number;
  readonly loss: number;
  readonly accuracy: number;
  /** The confusion matrix, row by row: the number of digits by label (row) and prediction (column). */
  readonly confusion: readonly number[];
}

export class Evaluation {
  readonly #classifier: Classifier;
  readonly #digits: Digits;
  readonly #confusion: number[] = new Array(100).fill(0);
  #done = 0;
  #lossSum = 0;

  constructor(classifier: Classifier, digits: Digits) {
    this.#classifier = classifier;
    this.#digits = digits;
  }

  /** Classifies the next digits; returns true while there are more. */
  async advance(): Promise<boolean> {
    const part = sliceOf(this.#digits, this.#done, kAtOnce);
    const { loss, guesses } = await this.#classifier.test(part);
    part.labels.forEach((label, i) => {
      const cell = label * 10 + (guesses[i] as number);
      this.#confusion[cell] = (this.#confusion[cell] as number) + 1;
    });
    this.#lossSum += loss * part.labels.length;
    this.#done += part.labels.length;
    return this.#done < this.#digits.labels.length;
  }

  /** The results so far. */
  result(): TestResult {
    const right = this.#confusion.reduce((sum, n, cell) => (cell % 11 === 0 ? sum + n : sum), 0);
    return {
      steps: this.#classifier.steps,
      loss: this.#lossSum / this.#done,
      accuracy: right / this.#done,
      confusion: this.#confusion,
    };
  }
}
