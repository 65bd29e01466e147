// The worker of the page: opens a language model, trains an adapter, and writes with it meanwhile.

import { expose } from "comlink";
import type * as eg from "edgegrad";
import { nextMessage, startEngine } from "../shared/trainer.js";
import { finishedAdapter, kFinished } from "./finished/finished.js";
import { LanguageModel } from "./language_model.js";
import type {
  Lesson,
  LessonSettings,
  Listener,
  OpenedModel,
  Prompt,
  WeightKind,
} from "./messages.js";
import { shippedModel } from "./shipped_model.js";

// The number of times that a lesson writes what it knows, besides before the first step.
const kSamplesOfLesson = 5;

interface Wanted {
  readonly prompt: Prompt;
  readonly usesAdapter: boolean;
}

class FineTuner {
  #model: LanguageModel | null = null;
  #stop = new AbortController();
  #steps = 0;
  #isBusy = false;
  // Resolves when the page is seen again.
  #pause: Promise<void> | null = null;
  #resume = () => {};
  #wanted: Wanted[] = [];

  start(device: eg.Device): Promise<eg.RuntimeInfo> {
    return startEngine(device);
  }

  /** Opens the files of a model, or the one that the page has. Rejects with an AbortError after stop(). */
  async open(
    files: Readonly<Record<string, Blob>> | null,
    device: eg.Device,
    weights: WeightKind,
    watch: (share: number) => void,
  ): Promise<OpenedModel> {
    return this.#busy(async (signal) => {
      const given = files ?? (await shippedModel());
      this.#model?.dispose();
      this.#model = null;
      this.#steps = 0;
      this.#model = await LanguageModel.open(given, device, weights, (share) => {
        signal.throwIfAborted();
        watch(share);
      });
      return this.#model.opened;
    });
  }

  /** Trains for the steps of a lesson, or until stop(), and writes its prompt now and then. */
  async train(lesson: Lesson, settings: LessonSettings, listener: Listener): Promise<void> {
    const model = this.#opened();
    const { steps, prompt } = settings;
    const every = Math.ceil(steps / kSamplesOfLesson);
    await this.#busy(async (signal) => {
      await this.#write({ prompt, usesAdapter: true }, signal, listener);
      let done = 0;
      let tokensDone = 0;
      let start = performance.now();
      const stepped = async ({ loss, tokens }: { loss: number; tokens: number }) => {
        this.#steps++;
        done++;
        tokensDone += tokens;
        const tokensPerSecond = (1000 * tokensDone) / (performance.now() - start);
        listener.stepped({ step: this.#steps, loss, share: done / steps, tokensPerSecond });
        await nextMessage();
        const paused = performance.now();
        if (this.#pause !== null) listener.paused();
        await this.#pause;
        if (done % every === 0 || done === steps) this.#wanted.push({ prompt, usesAdapter: true });
        await this.#writeWanted(signal, listener);
        // Neither pauses nor writing count as training.
        start += performance.now() - paused;
      };
      await model.learn(lesson, settings, signal, listener.began, stepped);
    });
  }

  /** Continues a prompt, during a training after its current step. */
  async write(prompt: Prompt, usesAdapter: boolean, listener: Listener): Promise<void> {
    this.#opened();
    this.#wanted.push({ prompt, usesAdapter });
    if (!this.#isBusy) await this.#busy((signal) => this.#writeWanted(signal, listener));
  }

  stop(): void {
    this.#stop.abort();
    this.setPaused(false);
  }

  /** Pauses a training after its current step, or goes on with it. */
  setPaused(isPaused: boolean): void {
    if (isPaused) {
      this.#pause ??= new Promise((resolve) => {
        this.#resume = resolve;
      });
    } else {
      this.#pause = null;
      this.#resume();
    }
  }

  adapterFiles(): Promise<Record<string, Uint8Array>> {
    return this.#opened().adapterFiles();
  }

  /** Opens the files of an adapter, which has learned some steps; returns its rank. */
  async openAdapter(files: Readonly<Record<string, Blob>>, steps: number): Promise<number> {
    this.#steps = steps;
    return this.#opened().openAdapter(files);
  }

  /** Opens the adapter that the page has, on the model that it has. */
  async openFinished(): Promise<void> {
    await this.openAdapter(await finishedAdapter(), kFinished.steps);
  }

  removeAdapter(): void {
    this.#steps = 0;
    this.#model?.removeAdapter();
  }

  #opened(): LanguageModel {
    if (this.#model === null) throw new Error("no model is open");
    return this.#model;
  }

  async #busy<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.#isBusy) throw new Error("the worker is busy: stop it first");
    this.#isBusy = true;
    this.#stop = new AbortController();
    try {
      return await work(this.#stop.signal);
    } catch (error) {
      // A library may have wrapped the reason.
      this.#stop.signal.throwIfAborted();
      throw error;
    } finally {
      this.#isBusy = false;
      this.#wanted = [];
    }
  }

  async #writeWanted(signal: AbortSignal, listener: Listener): Promise<void> {
    for (let next = this.#wanted.shift(); next !== undefined; next = this.#wanted.shift()) {
      await this.#write(next, signal, listener);
    }
  }

  async #write({ prompt, usesAdapter }: Wanted, signal: AbortSignal, listener: Listener) {
    const model = this.#opened();
    const step = usesAdapter && model.hasAdapter ? this.#steps : null;
    listener.wrote(prompt.kind === "answers" ? `${prompt.text} ` : prompt.text, true, step);
    await model.write(prompt, usesAdapter, signal, (text) => listener.wrote(text, false, step));
  }
}

export type { FineTuner };

expose(new FineTuner());
