// The worker of the page: the engine, the open file, and the lesson for its last layer.

import { expose, transfer } from "comlink";
import * as eg from "edgegrad";
import { type OnnxModule, save } from "edgegrad/onnx";
import { type Layout, layOut } from "../shared/graph/layout.js";
import { Loop, startEngine, throttled } from "../shared/trainer.js";
import type { Picture } from "./graph/picture.js";
import type {
  Format,
  Learned,
  Lesson,
  LossPoint,
  Opened,
  Pictures,
  RunOptions,
  RunResult,
  Statistics,
  TensorRow,
} from "./messages.js";
import { type PictureFormat, pictureFormat } from "./pictures/format.js";
import {
  closeFile,
  type OpenFile,
  openedOf,
  openFile,
  rowsOf,
  tensorsOf,
  weightsOf,
} from "./worker/files.js";
import { featuresOf, headFor, type LastLayer, lastLayerOf, putHead } from "./worker/last_layer.js";
import { batchesOf } from "./worker/pictures.js";
import { inputsFor, runOnce, statisticsOf } from "./worker/run.js";

const kReportMs = 60;
/** Of the pictures of a class, every fourth is kept to test the lesson, if there are so many. */
const kTestEvery = 4;
const kWeightDecay = 0.01;

class Converter {
  readonly #loop = new Loop();
  #file: OpenFile | null = null;
  // The sizes that pictures had in a lesson after which the last layer has other sizes than the file says.
  #changed: Readonly<Record<string, number>> | null = null;

  start(): Promise<eg.RuntimeInfo> {
    return startEngine("cpu");
  }

  /** Opens a file, and closes the one before. */
  async open(file: File, beside: readonly File[]): Promise<Opened> {
    const opened = await openFile(file, beside);
    if (this.#file !== null) closeFile(this.#file);
    this.#file = opened;
    this.#changed = null;
    return openedOf(opened);
  }

  /** The tensors of the file as they are now. */
  tensors(): TensorRow[] {
    return rowsOf(this.#opened);
  }

  layOut({ boxes, edges }: Picture): Layout {
    return layOut(
      boxes.map(({ lines }) => lines),
      edges,
    );
  }

  /** Measures tensors; null for those that cannot be measured. */
  async measure(names: readonly string[]): Promise<(Statistics | null)[]> {
    const tensors = tensorsOf(this.#opened);
    const found: (Statistics | null)[] = [];
    for (const name of names) {
      const tensor = tensors.get(name);
      found.push(tensor === undefined ? null : await statisticsOf(tensor));
    }
    return found;
  }

  run(options: RunOptions): Promise<RunResult> {
    return runOnce(this.#opened, options);
  }

  /** Says how many outputs the last layer has, or why it cannot be taught. */
  lastLayer(): { outputs: number; weight: string } | string {
    const found = this.#layer();
    if (typeof found === "string") return found;
    return { outputs: outputsOf(this.#module, found), weight: found.weight };
  }

  /** Trains the last layer until it has taken its steps or stop() is called. */
  async learn(lesson: Lesson, report: (points: readonly LossPoint[]) => void): Promise<Learned> {
    const layer = this.#layer();
    if (typeof layer === "string") throw new Error(layer);
    const features = await featuresOf(this.#opened, layer, batchesOf(lesson, this.#format(lesson)));
    const [tests, training] = divided(lesson.labels);
    const { head, isNew } = headFor(this.#module, layer, lesson.classes);
    const optimizer = new eg.optim.AdamW(head.parameters(), {
      lr: lesson.rate,
      weightDecay: kWeightDecay,
    });
    let points: LossPoint[] = [];
    const tell = throttled(kReportMs, () => {
      report(points);
      points = [];
    });
    const x = features.indexSelect(0, eg.tensor(training).long()).float();
    const y = eg.tensor(training.map((i) => lesson.labels[i] as number)).long();
    let [steps, loss] = [0, Number.NaN];
    await this.#loop.run(() => {
      loss = eg.scope(() => {
        const value = eg.crossEntropy(head.call(x), y);
        optimizer.zeroGrad();
        value.backward();
        optimizer.step();
        return Number(value.item());
      });
      points.push([++steps, loss]);
      tell(null);
      return steps < lesson.steps;
    });
    report(points);
    putHead(this.#module, layer, head);
    if (isNew) this.#changed = lesson.sizes;
    const right = eg.scope(() => {
      if (tests.length === 0) return 0;
      const inputs = features.indexSelect(0, eg.tensor(tests).long()).float();
      const wanted = eg.tensor(tests.map((i) => lesson.labels[i] as number)).long();
      return Number(head.call(inputs).argmax(1).eq(wanted).sum().item());
    });
    for (const tensor of [features, x, y, ...head.parameters()]) tensor.dispose();
    return { steps, loss, right, tested: tests.length, trained: training.length, isNew };
  }

  stop(): void {
    this.#loop.stop();
  }

  /** The probabilities of the classes for one picture. */
  async classify(pictures: Pictures): Promise<number[]> {
    const layer = this.#layer();
    const [batch] = batchesOf(pictures, this.#format(pictures));
    const shares = eg.scope(() =>
      eg.noGrad(() => {
        const result = this.#module.call(batch?.() as eg.Tensor);
        const scores = ([result].flat()[0] as eg.Tensor).narrow(0, 0, 1).flatten().float();
        const isShare = typeof layer !== "string" && layer.hasSoftmax;
        return isShare ? scores.clone() : scores.softmax(0);
      }),
    );
    const values = (await shares.data()) as Float32Array;
    shares.dispose();
    return Array.from(values);
  }

  /** Writes the file in a format; the bytes move to the page. */
  async save(format: Format): Promise<Uint8Array> {
    const bytes = await this.#written(format);
    return transfer(bytes, [bytes.buffer]);
  }

  async #written(format: Format): Promise<Uint8Array> {
    const file = this.#opened;
    if (format !== "onnx") return weightsOf(file, format);
    const module = this.#module;
    if (this.#changed === null) return save(module);
    // The file says how many outputs its last layer has, so that another number needs it to be written anew.
    const { inputs, outputs } = module;
    const made = inputsFor(module, { sizes: this.#changed, fill: "normal", below: 1 });
    const open = inputs
      .filter(({ isOptional }) => !isOptional)
      .map(({ name, shape }) => [name, openAxes(shape)]);
    try {
      return await save(module, {
        inputs: Object.values(made),
        inputNames: Object.keys(made),
        outputNames: outputs.map(({ name }) => name),
        dynamicAxes: Object.fromEntries(open),
        metadata: file.metadata,
      });
    } finally {
      for (const tensor of Object.values(made)) tensor.dispose();
    }
  }

  get #opened(): OpenFile {
    if (this.#file === null) throw new Error("No file is open.");
    return this.#file;
  }

  get #module(): OnnxModule {
    const { module } = this.#opened;
    if (module === null) throw new Error("This file has no model that can be run.");
    return module;
  }

  #layer(): LastLayer | string {
    const { description } = this.#opened;
    if (description === null) return "This file has no graph.";
    const layer = lastLayerOf(description);
    if (typeof layer === "string") return layer;
    const names = new Set(this.#module.namedParameters().map(([name]) => name));
    if (names.has(layer.weight) && (layer.bias === null || names.has(layer.bias))) return layer;
    return `The weights "${layer.weight}" of its last layer are no parameters of floating-point numbers.`;
  }

  #format({ sizes }: Pictures): PictureFormat {
    const format = pictureFormat(this.#module.inputs, sizes);
    if (typeof format === "string") throw new Error(format);
    return format;
  }
}

function outputsOf(module: OnnxModule, { weight, isTransposed }: LastLayer): number {
  const { shape } = module.getParameter(weight);
  return shape[isTransposed ? 1 : 0] ?? 0;
}

// The pictures of a lesson for the test, and for training; the order within a class decides.
function divided(labels: readonly number[]): [tests: number[], training: number[]] {
  const counts = new Map<number, number>();
  const [tests, training]: [number[], number[]] = [[], []];
  labels.forEach((label, i) => {
    const count = (counts.get(label) ?? 0) + 1;
    counts.set(label, count);
    (count % kTestEvery === 0 ? tests : training).push(i);
  });
  return [tests, training];
}

function openAxes(shape: readonly (number | string | null)[]): Record<number, string> {
  return Object.fromEntries(
    shape.flatMap((size, i) => (typeof size === "number" ? [] : [[i, size ?? `size_${i}`]])),
  );
}

export type { Converter };

expose(new Converter());
