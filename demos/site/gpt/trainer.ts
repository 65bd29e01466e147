// The worker of the small GPT: trains it, generates text during the training, and saves it for the next visit.

import { expose } from "comlink";
import * as eg from "edgegrad";
import { Learner } from "../../char_model/learner.mjs";
import bookUrl from "../../char_model/moby_dick.txt?url";
import type { Size } from "../../char_model/model.mjs";
import { Book } from "../../char_model/text.mjs";
import { fileOf } from "../../support/checkpoint.mjs";
import { Loop, startEngine } from "../shared/trainer.js";
import { finishedOf, finishedWeights } from "./finished/finished.js";
import { forgetModel, keepModel, keptPoints, takeUpModel } from "./kept_model.js";
import type { Past, Point, Report } from "./messages.js";
import { Writer } from "./writer.js";

const kReportMs = 60;
const kKeepMs = 10_000;
const kStepsPerPoint = 20;
// If there are more points, every second one is dropped.
const kMostPoints = 1000;
// Slightly faster than reading speed, without slowing down the training much.
const kCharacterMs = 25;
// The maximum between two steps, however long these take.
const kMostCharacters = 4;

type Listener = (report: Report) => void;

class GptTrainer {
  readonly #loop = new Loop();
  readonly #writer = new Writer();
  #book: Promise<Book> | null = null;
  #learner: Learner | null = null;
  #size: Size = "tiny";
  // The sizes that are to begin with random weights.
  readonly #anew = new Set<Size>();
  #points: Point[] = [];
  #losses: number[] = [];
  #reportedAt = 0;
  #reportedStep = 0;
  #keptAt: Report["keptAt"] = null;

  /** The training of the saved model, or else of that which the page has; does not start the engine. */
  async past(size: Size): Promise<Past> {
    const points = await keptPoints(size);
    if (points.length > 0) return { origin: "kept", points, sample: null, parameters: null };
    const finished = this.#anew.has(size) ? null : finishedOf(size);
    if (finished === null) return { origin: "new", points: [], sample: null, parameters: null };
    const { points: shipped, sample, parameters } = finished;
    return { origin: "shipped", points: shipped, sample, parameters };
  }

  /** Starts the engine and creates a model of this size: the saved one, that which the page has, or a new one. */
  async start(size: Size, device: eg.Device) {
    const runtime = await startEngine(device);
    this.#book ??= fetch(bookUrl).then(async (answer) => new Book(await answer.text()));
    const learner = new Learner(await this.#book, size, device);
    const { origin, points } = await this.past(size);
    if (origin === "shipped") {
      const file = await finishedWeights();
      eg.scope(() => void learner.model.loadStateDict(eg.io.loadSafetensors(file)));
      learner.steps = points.at(-1)?.step ?? 0;
    } else await takeUpModel(size, learner);
    this.#points = [...points];
    this.#reportedStep = learner.steps;
    this.#losses = [];
    this.#size = size;
    this.#learner = learner;
    return { runtime, steps: learner.steps, parameters: learner.parameterCount };
  }

  async forget(size: Size): Promise<void> {
    await forgetModel(size);
    this.#anew.add(size);
    this.#learner = null;
    this.#keptAt = null;
  }

  /** Trains until stop(), and generates text meanwhile. */
  async train(report: Listener): Promise<void> {
    const learner = this.#started();
    const start = { time: performance.now(), step: learner.steps };
    let keepAt = start.time + kKeepMs;
    let wroteAt = start.time;
    await this.#loop.run(async () => {
      await this.#step(learner);
      const now = performance.now();
      const due = Math.min(kMostCharacters, Math.floor((now - wroteAt) / kCharacterMs));
      for (let i = 0; i < due; i++) await this.#writer.writeCharacter(learner);
      if (due > 0) wroteAt = now;
      if (now > keepAt) {
        await this.#keep(learner);
        keepAt = now + kKeepMs;
      }
      const tokens = (learner.steps - start.step) * learner.tokensPerStep;
      this.#reportSometimes(learner, report, (1000 * tokens) / (now - start.time));
      return true;
    });
    await this.#keep(learner);
    this.#report(learner, report, null);
  }

  stop(): void {
    this.#loop.stop();
  }

  /** The weights as a safetensors file, which char_model/model.mjs reads. */
  weights(): Promise<Uint8Array> {
    return fileOf(this.#started().model.stateDict());
  }

  /** The model as an ONNX file for texts of any length up to its context. */
  async onnx(): Promise<Uint8Array> {
    const { model, size } = this.#started();
    const { save } = await import("edgegrad/onnx");
    const input = eg.zeros([1, size.context], { dtype: "int64" });
    try {
      return await save(model, {
        inputs: [input],
        inputNames: ["tokens"],
        outputNames: ["scores"],
        dynamicAxes: { tokens: { 0: "batch" } },
      });
    } finally {
      input.dispose();
    }
  }

  setTemperature(temperature: number): void {
    this.#writer.temperature = temperature;
  }

  /** Starts a sample with this prompt. If no training is running, generates the whole sample, or until stop(). */
  async write(prompt: string, report: Listener): Promise<void> {
    this.#writer.begin(prompt);
    if (this.#loop.running) return;
    const learner = this.#started();
    await this.#loop.run(async () => {
      await this.#writer.writeCharacter(learner);
      this.#reportSometimes(learner, report, null);
      return !this.#writer.isAtEnd;
    });
    this.#report(learner, report, null);
  }

  #started(): Learner {
    if (this.#learner === null) throw new Error("call start() first");
    return this.#learner;
  }

  async #step(learner: Learner): Promise<void> {
    this.#losses.push(await learner.step());
    if (learner.steps % kStepsPerPoint !== 0) return;
    const losses = this.#losses.splice(0);
    const loss = losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
    this.#points.push({ step: learner.steps, loss, heldOut: await learner.heldOutLoss() });
    if (this.#points.length > kMostPoints) this.#points = this.#points.filter((_, i) => i % 2);
  }

  async #keep(learner: Learner): Promise<void> {
    const isKept = await keepModel(this.#size, learner, this.#points);
    this.#keptAt = isKept ? Date.now() : "never";
  }

  #reportSometimes(learner: Learner, report: Listener, tokensPerSecond: number | null): void {
    if (performance.now() < this.#reportedAt + kReportMs) return;
    this.#report(learner, report, tokensPerSecond);
  }

  #report(learner: Learner, report: Listener, tokensPerSecond: number | null): void {
    const before = this.#reportedStep;
    this.#reportedStep = learner.steps;
    this.#reportedAt = performance.now();
    report({
      step: learner.steps,
      points: this.#points.filter(({ step }) => step > before),
      written: this.#writer.take(),
      tokensPerSecond,
      keptAt: this.#keptAt,
    });
  }
}

export type { GptTrainer };

expose(new GptTrainer());
