// The chart of a classifier's training, as it is kept and shipped.

import type { TestResult } from "./evaluation.js";
import type { Progress } from "./meter.js";

type Point = readonly [steps: number, loss: number, accuracy: number];

/** Means over batches, tests, and the last test. */
export interface Chart {
  readonly progress: readonly Point[];
  readonly tests: readonly Point[];
  readonly result: TestResult | null;
}

// If there are more points, every second one is dropped.
const kMostPoints = 400;

/** A chart to which points are added. */
export class ChartRecord {
  #progress: readonly Point[];
  #tests: readonly Point[];
  #result: TestResult | null;

  constructor(chart: Chart = { progress: [], tests: [], result: null }) {
    ({ progress: this.#progress, tests: this.#tests, result: this.#result } = chart);
  }

  get chart(): Chart {
    return { progress: this.#progress, tests: this.#tests, result: this.#result };
  }

  addProgress({ steps, loss, accuracy }: Progress): void {
    this.#progress = thinned([...this.#progress, [steps, loss, accuracy]]);
  }

  addTest(result: TestResult): void {
    const { steps, loss, accuracy } = result;
    this.#tests = thinned([...this.#tests, [steps, loss, accuracy]]);
    this.#result = result;
  }
}

function thinned(points: readonly Point[]): readonly Point[] {
  return points.length > kMostPoints ? points.filter((_, i) => i % 2 === 1) : points;
}
