// The view of the training: numbers, curves, the confusion table and the pictures of weights.

import { byId } from "../shared/frame.js";
import { LineChart } from "../shared/line_chart.js";
import { ConfusionTable } from "./confusion_table.js";
import type { TestResult } from "./evaluation.js";
import type { Progress } from "./meter.js";
import type { Past } from "./trainer.js";
import { WeightPictures } from "./weight_pictures.js";

const kBatchesAndTest = [
  { label: "batches", color: "series-1" },
  { label: "test", color: "series-2" },
];

/** A share in percent. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

export class TrainingView {
  readonly #loss = new LineChart(byId("loss"), {
    label: "Loss by step",
    x: "step",
    series: kBatchesAndTest,
    log: true,
    height: 300,
  });
  readonly #accuracy = new LineChart(byId("accuracies"), {
    label: "Accuracy by step",
    x: "step",
    series: kBatchesAndTest,
    height: 300,
  });
  readonly #confusion = new ConfusionTable(byId("confusion"));
  readonly #pictures = new WeightPictures(byId<HTMLCanvasElement>("pictures"));

  /** Clears the curves, for another model. */
  restart(): void {
    this.#loss.clear();
    this.#accuracy.clear();
    this.#confusion.show([]);
    for (const id of ["speed", "loss-now", "batch-accuracy", "accuracy"])
      byId(id).textContent = "–";
    for (const id of ["now", "kept"]) byId(id).textContent = "";
    this.stopped(0);
  }

  /** Shows the training of an earlier visit, or of the model that the page has. */
  showPast({ origin, chart: { progress, tests, result } }: Past): void {
    this.restart();
    // A chart needs all points in the order of x.
    const points = [
      ...progress.map(([steps, ...values]) => ({ steps, values, isTest: false })),
      ...tests.map(([steps, ...values]) => ({ steps, values, isTest: true })),
    ].sort((a, b) => a.steps - b.steps);
    for (const { steps, values, isTest } of points) {
      const at = (value: number) => (isTest ? [null, value] : [value, null]);
      this.#loss.push(steps, ...at(values[0]));
      this.#accuracy.push(steps, ...at(values[1]));
    }
    const [steps = 0, loss = 0, accuracy = 0] = progress.at(-1) ?? [];
    this.stopped(steps);
    byId("loss-now").textContent = loss.toPrecision(3);
    byId("batch-accuracy").textContent = percent(accuracy);
    if (result !== null) this.#showTest(result);
    byId("kept").textContent =
      origin === "kept"
        ? "Resumes from the model saved in this browser."
        : `This network comes with the page, after ${count(steps)} steps. “Start over” begins with random weights.`;
  }

  /** Shows weights of the first layer as `n` pictures. */
  showPictures(values: Float32Array, n: number): void {
    this.#pictures.show(values, n);
  }

  arrived(share: number): void {
    byId<HTMLProgressElement>("arrived").value = share;
    byId("arrived-text").textContent = `${count(share * 70_000)} of ${count(70_000)}`;
  }

  progress({ steps, loss, accuracy, samplesPerSecond }: Progress): void {
    this.#loss.push(steps, loss, null);
    this.#accuracy.push(steps, accuracy, null);
    byId("steps").textContent = count(steps);
    byId("now").textContent = `step ${count(steps)}, loss ${loss.toPrecision(3)}`;
    byId("speed").textContent = `${count(samplesPerSecond)} digits/s`;
    byId("loss-now").textContent = loss.toPrecision(3);
    byId("batch-accuracy").textContent = percent(accuracy);
  }

  tested(result: TestResult, pictures: Float32Array, n: number): void {
    this.#loss.push(result.steps, null, result.loss);
    this.#accuracy.push(result.steps, null, result.accuracy);
    this.#showTest(result);
    this.showPictures(pictures, n);
  }

  #showTest({ accuracy, confusion }: TestResult): void {
    byId("accuracy").textContent = percent(accuracy);
    this.#confusion.show(confusion);
  }

  /** Shows the final step when training has stopped, because not every step is reported. */
  stopped(steps: number): void {
    byId("steps").textContent = count(steps);
  }

  kept(steps: number | null): void {
    byId("kept").textContent =
      steps === null
        ? "This browser cannot store data for this page: save a file instead."
        : `Saved in this browser at step ${count(steps)}: after a reload, training resumes from there.`;
  }
}

// As toLocaleString("en") does, for which a browser loads the rules of all languages before the page can be used.
function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
}
