// The worker of the page: the engine, the digits, and the classifier.

import { expose } from "comlink";
import type { Device, RuntimeInfo } from "edgegrad";
import { loadFile, removeFile, saveFile } from "../shared/opfs.js";
import { Loop, startEngine } from "../shared/trainer.js";
import { type Chart, ChartRecord } from "./chart.js";
import { Classifier } from "./classifier.js";
import { copyDigit, DigitStream, type Digits, sliceOf } from "./digits.js";
import { Evaluation, type TestResult } from "./evaluation.js";
import { finishedChart, finishedWeights } from "./finished/finished.js";
import { Meter, type Progress } from "./meter.js";
import type { ModelName } from "./models.mjs";

const kBatch = 64;
// Reading waits for the device, so results are read only every few steps, but often enough that no device falls far behind.
const kStepsPerRead = 4;
const kReportMs = 100;
const kSaveMs = 10_000;
// The minimum time between two tests, in milliseconds and relative to the duration of a test.
const kTestMs = 1000;
const kTestShare = 5;
const kFineTuningSteps = 80;

/** Callbacks through which the page receives progress. */
export interface Watch {
  arrived(share: number): void;
  failed(message: string): void;
  progress(progress: Progress): void;
  tested(result: TestResult, pictures: Float32Array, count: number): void;
  /** A checkpoint was saved at this step; null if the browser cannot save one. */
  kept(steps: number | null): void;
}

/** The training of a model: of an earlier visit, or that of the model that the page has. */
export interface Past {
  readonly origin: "kept" | "shipped";
  readonly chart: Chart;
}

/** The model in use. */
export interface State {
  readonly runtime: RuntimeInfo;
  readonly steps: number;
  /** The weights of its first layer as `count` pictures. */
  readonly pictures: { readonly values: Float32Array; readonly count: number };
}

/** The predictions before and after a lesson, and the accuracy on the test digits. */
export interface Lesson {
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  readonly accuracyBefore: number;
  readonly accuracyAfter: number;
}

class DigitTrainer {
  readonly #loop = new Loop();
  #folder = "";
  #watch: Watch | null = null;
  #stream: DigitStream | null = null;
  #classifier: Classifier | null = null;
  #evaluation: Evaluation | null = null;
  #record = new ChartRecord();
  #meter = new Meter();
  #reportAt = 0;
  #testAt = 0;
  #testStart = 0;
  #saveAt = 0;
  #beforeLesson: Uint8Array | null = null;

  /** Sets the folder of the digits and the callbacks; must be called first. */
  watch(folder: string, watch: Watch): void {
    this.#folder = folder;
    this.#watch = watch;
  }

  /** The training of the saved model, or else of that which the page has; does not start the engine. */
  async past(name: ModelName): Promise<Past> {
    const kept = await keptChart(name);
    return kept === null
      ? { origin: "shipped", chart: finishedChart(name) }
      : { origin: "kept", chart: kept };
  }

  /** Creates a model on a device: a copy of the current one on another device, the saved one, or that which the page has. */
  async use(name: ModelName, device: Device): Promise<State> {
    const runtime = await startEngine(device);
    const next = new Classifier(name, device);
    const now = this.#classifier;
    if (now?.name === name) {
      next.restore(await now.checkpoint());
      this.#take(next, this.#record.chart);
    } else {
      const { origin, chart } = await this.past(name);
      if (origin === "shipped" || !(await restoreKept(next))) {
        next.loadWeights(await finishedWeights(name));
        next.steps = chart.progress.at(-1)?.[0] ?? 0;
      }
      this.#take(next, chart);
    }
    return { runtime, steps: next.steps, pictures: await next.firstLayer() };
  }

  /** Trains until stop(); resolves to the number of steps when the last one is done and saved. */
  async train(): Promise<number> {
    const digits = this.#digits();
    this.#meter = new Meter();
    const now = performance.now();
    this.#saveAt = now + kSaveMs;
    this.#testAt = Math.max(this.#testAt, now + kTestMs);
    await this.#loop.run(() => this.#next(digits), digits.ready);
    await this.#keep();
    return this.#model.steps;
  }

  stop(): void {
    this.#loop.stop();
  }

  predict(image: Uint8Array): Promise<number[]> {
    return this.#model.predict(image);
  }

  /** A random test digit. */
  async testDigit(): Promise<Digits> {
    const digits = this.#digits();
    await digits.testable;
    const test = digits.test as Digits;
    const digit = sliceOf(test, Math.floor(Math.random() * test.labels.length), 1);
    return { labels: digit.labels.slice(), images: digit.images.slice() };
  }

  weights(): Promise<Uint8Array> {
    return this.#model.weights();
  }

  onnx(): Promise<Uint8Array> {
    return this.#model.onnx();
  }

  /** Loads the weights of a file; if that fails, the model is not changed. */
  async loadWeights(file: Uint8Array): Promise<void> {
    const { name, device } = this.#model;
    const next = new Classifier(name, device);
    next.loadWeights(file);
    this.#take(next);
    await this.#keep();
  }

  /** Starts over with a new model, and deletes the saved one. */
  async startAnew(): Promise<void> {
    const { name, device } = this.#model;
    for (const file of [fileName(name), chartName(name)]) await removeFile(file).catch(() => {});
    this.#take(new Classifier(name, device));
  }

  /** Trains the last layers on a visitor's drawings, mixed with other digits so that those are not forgotten. */
  async learn(drawings: Digits): Promise<Lesson> {
    const digits = this.#digits();
    await digits.testable;
    const classifier = this.#model;
    this.#beforeLesson = await classifier.checkpoint();
    const { guesses: before } = await classifier.test(drawings);
    const accuracyBefore = await this.test();
    const teach = classifier.fineTuner();
    let steps = 0;
    await this.#loop.run(async () => {
      await teach(mixed(drawings, digits.sample(kBatch)));
      return ++steps < kFineTuningSteps;
    });
    const { guesses: after } = await classifier.test(drawings);
    const accuracyAfter = await this.test();
    await this.#keep();
    return { before, after, accuracyBefore, accuracyAfter };
  }

  /** Classifies all test digits, once they have arrived, and returns the accuracy. */
  async test(): Promise<number> {
    const test = this.#stream?.test;
    if (!test) return Number.NaN;
    const evaluation = new Evaluation(this.#model, test);
    await this.#loop.run(() => evaluation.advance());
    const result = evaluation.result();
    await this.#tell(result);
    return result.accuracy;
  }

  /** Reverts learn(). */
  async unlearn(): Promise<void> {
    if (this.#beforeLesson !== null) this.#model.restore(this.#beforeLesson);
    await this.#keep();
    await this.test();
  }

  get #model(): Classifier {
    if (this.#classifier === null) throw new Error("call use() first");
    return this.#classifier;
  }

  #take(classifier: Classifier, chart?: Chart): void {
    this.#classifier = classifier;
    this.#record = new ChartRecord(chart);
    this.#evaluation = null;
    this.#beforeLesson = null;
    this.#testAt = 0;
  }

  #digits(): DigitStream {
    if (this.#stream !== null) return this.#stream;
    const stream = new DigitStream(this.#folder, (share) => this.#watch?.arrived(share));
    stream.done.catch((error: Error) => {
      this.#watch?.failed(error.message);
      // Training continues with the digits that have arrived; without any, the next call tries again.
      if (stream.train.length === 0) this.#stream = null;
    });
    this.#stream = stream;
    return stream;
  }

  // A training step, or a part of a test.
  async #next(digits: DigitStream): Promise<boolean> {
    if (this.#evaluation !== null) await this.#testOn(this.#evaluation);
    else await this.#learnOn(digits);
    if (performance.now() > this.#saveAt) await this.#keep();
    return true;
  }

  async #learnOn(digits: DigitStream): Promise<void> {
    const start = performance.now();
    const batch = digits.sample(kBatch);
    const outcome = await this.#model.step(batch, this.#model.steps % kStepsPerRead === 0);
    const now = performance.now();
    this.#meter.count(kBatch, now - start);
    if (outcome !== null) this.#meter.read(outcome, batch.labels);
    if (now > this.#reportAt && !this.#meter.isEmpty) {
      const progress = this.#meter.report(this.#model.steps);
      this.#record.addProgress(progress);
      this.#watch?.progress(progress);
      this.#meter = new Meter();
      this.#reportAt = now + kReportMs;
    }
    if (digits.test === null || now < this.#testAt) return;
    this.#evaluation = new Evaluation(this.#model, digits.test);
    this.#testStart = now;
  }

  async #testOn(evaluation: Evaluation): Promise<void> {
    if (await evaluation.advance()) return;
    this.#evaluation = null;
    const now = performance.now();
    this.#testAt = now + Math.max(kTestMs, kTestShare * (now - this.#testStart));
    await this.#tell(evaluation.result());
  }

  async #tell(result: TestResult): Promise<void> {
    this.#record.addTest(result);
    const { values, count } = await this.#model.firstLayer();
    this.#watch?.tested(result, values, count);
  }

  async #keep(): Promise<void> {
    const { name, steps } = this.#model;
    this.#saveAt = performance.now() + kSaveMs;
    const chart = new TextEncoder().encode(JSON.stringify(this.#record.chart));
    const isKept =
      (await saveFile(fileName(name), await this.#model.checkpoint())) &&
      (await saveFile(chartName(name), chart));
    this.#watch?.kept(isKept ? steps : null);
  }
}

function fileName(name: ModelName): string {
  return `digits-${name}.safetensors`;
}

function chartName(name: ModelName): string {
  return `digits-${name}.json`;
}

async function keptChart(name: ModelName): Promise<Chart | null> {
  const file = await loadFile(chartName(name)).catch(() => null);
  return file === null ? null : (JSON.parse(new TextDecoder().decode(file)) as Chart);
}

// Returns whether there was one: a file saved by another version of this page may not match.
async function restoreKept(classifier: Classifier): Promise<boolean> {
  const file = await loadFile(fileName(classifier.name)).catch(() => null);
  try {
    if (file !== null) classifier.restore(file);
    return file !== null;
  } catch (error) {
    console.warn(error);
    return false;
  }
}

// A batch whose first digits are replaced by the drawings.
function mixed(drawings: Digits, batch: Digits): Digits {
  for (let i = 0; i < drawings.labels.length; i++) copyDigit(drawings, i, batch, i);
  return batch;
}

export type { DigitTrainer };

expose(new DigitTrainer());
