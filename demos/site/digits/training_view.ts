// The view of the training: numbers, curves, the confusion table and the pictures of weights.

import { byId } from "../shared/frame.js";
import { LineChart } from "../shared/line_chart.js";
import { ConfusionTable } from "./confusion_table.js";
import type { TestResult } from "./evaluation.js";
import type { Progress } from "./meter.js";
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
    height: 230,
  });
  readonly #accuracy = new LineChart(byId("accuracies"), {
    label: "Accuracy by step",
    x: "step",
    series: kBatchesAndTest,
    height: 230,
  });
  readonly #confusion = new ConfusionTable(byId("confusion"));
  readonly #pictures = new WeightPictures(byId<HTMLCanvasElement>("pictures"));

  /** Clears the curves, for another model or device. */
  restart(steps: number): void {
    this.#loss.clear();
    this.#accuracy.clear();
    this.#confusion.show([]);
    byId("steps").textContent = count(steps);
    for (const id of ["speed", "loss-now", "batch-accuracy", "accuracy"])
      byId(id).textContent = "–";
    byId("now").textContent = "";
    byId("kept").textContent = steps > 0 ? "Resumes from the model saved in this browser." : "";
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

  tested(
    { steps, loss, accuracy, confusion }: TestResult,
    pictures: Float32Array,
    n: number,
  ): void {
    this.#loss.push(steps, null, loss);
    this.#accuracy.push(steps, null, accuracy);
    byId("accuracy").textContent = percent(accuracy);
    this.#confusion.show(confusion);
    this.#pictures.show(pictures, n);
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
