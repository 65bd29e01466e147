// The main worker of the Hogwild page: starts the training workers, and evaluates the model meanwhile.

import { expose } from "comlink";
import * as eg from "edgegrad";
import { DigitStream, type Digits, kPixels, sliceOf } from "../digits/digits.js";
import { Loop } from "../shared/trainer.js";
import { type Counters, makeCounters, stepsTaken, stopSteps, takeStep } from "./counters.js";
import { type DigitTensors, evaluate, kBatch, makeModel, Trainer } from "./model.js";

const kTestDigits = 1000;
const kWatchMs = 120;
const kWarmUpSteps = 40;

/** The progress of a run. */
export interface Progress {
  readonly seconds: number;
  readonly steps: number;
  readonly loss: number;
}

/** The result of a run. */
export interface Result {
  readonly samplesPerSecond: number;
  readonly accuracy: number;
}

class Hogwild {
  #train: DigitTensors | null = null;
  #test: DigitTensors | null = null;
  #workers: Worker[] = [];
  #counters = makeCounters();

  /** Starts the engine and loads the digits from a folder; `watch` receives the share that has arrived. */
  async start(folder: string, watch: (share: number) => void): Promise<eg.RuntimeInfo> {
    // One engine thread, so that each op runs on the worker that calls it.
    await eg.init({ threads: 1 });
    const stream = new DigitStream(folder, watch);
    await stream.done;
    this.#train = tensorsOf(stream.train);
    this.#test = tensorsOf([sliceOf(stream.test as Digits, 0, kTestDigits)]);
    return eg.runtime();
  }

  /** Trains a new model with `workers` workers for a total of `steps` steps. */
  async run(workers: number, steps: number, report: (progress: Progress) => void): Promise<Result> {
    const model = makeModel();
    const counters = makeCounters();
    this.#counters = counters;
    // Starts each worker and loads its code before the time is measured.
    await this.#trainWith(workers, makeModel(), kWarmUpSteps);
    const begin = performance.now();
    let end: number | null = null;
    const training = this.#trainWith(workers, model, steps, counters).then(() => {
      end = performance.now();
    });
    const look = () => {
      const seconds = ((end ?? performance.now()) - begin) / 1000;
      const { loss, accuracy } = evaluate(model, this.#digits().test);
      const taken = stepsTaken(counters, steps);
      report({ seconds, steps: taken, loss });
      return { samplesPerSecond: (taken * kBatch) / seconds, accuracy };
    };
    look();
    while (end === null) {
      await Promise.race([training, new Promise((turn) => setTimeout(turn, kWatchMs))]);
      if (end === null) look();
    }
    await training;
    return look();
  }

  stop(): void {
    stopSteps(this.#counters);
  }

  #digits(): { train: DigitTensors; test: DigitTensors } {
    if (this.#train === null || this.#test === null) throw new Error("call start() first");
    return { train: this.#train, test: this.#test };
  }

  async #trainWith(
    count: number,
    model: eg.nn.Sequential,
    steps: number,
    counters = makeCounters(),
  ): Promise<void> {
    const { train } = this.#digits();
    if (eg.runtime().variant === "single") return trainHere(model, train, counters, steps);
    while (this.#workers.length < count) {
      this.#workers.push(
        new Worker(new URL("./hogwild_worker.ts", import.meta.url), { type: "module" }),
      );
    }
    const weights = model.stateDict();
    await Promise.all(
      this.#workers
        .slice(0, count)
        .map((worker) => eg.spawn(worker, "train", weights, train, counters, steps)),
    );
  }
}

// Without shared memory only this worker trains, and handles messages of the page between steps.
async function trainHere(
  model: eg.nn.Sequential,
  digits: DigitTensors,
  counters: Counters,
  steps: number,
): Promise<void> {
  const trainer = new Trainer(model.stateDict(), digits);
  await new Loop().run(() => {
    if (!takeStep(counters, steps)) return false;
    trainer.step();
    return true;
  });
}

function tensorsOf(parts: readonly Digits[]): DigitTensors {
  const rows = parts.map(({ images, labels }) =>
    eg.tensor(images, { shape: [labels.length, kPixels] }),
  );
  const labels = parts.map((part) => eg.tensor(part.labels));
  return { images: eg.cat(rows), labels: eg.cat(labels).to("int64") };
}

export type { Hogwild };

expose(new Hogwild());
