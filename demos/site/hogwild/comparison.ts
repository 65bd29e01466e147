// Trains with several workers, and evaluates the model meanwhile.

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

/** What each worker does; resolves when no step is left. */
export type Work = (
  worker: number,
  weights: Record<string, eg.Tensor>,
  digits: DigitTensors,
  counters: Counters,
  steps: number,
) => Promise<unknown>;

/** Comparisons of workers, on the thread that has started the engine. */
export class Hogwild {
  readonly #work: Work;
  #train: DigitTensors | null = null;
  #test: DigitTensors | null = null;
  #counters = makeCounters();

  /** `work` runs in the worker with this number. */
  constructor(work: Work) {
    this.#work = work;
  }

  /** Starts the engine and loads the digits from a folder; `watch` receives the share that has arrived. */
  async start(folder: string, watch: (share: number) => void): Promise<eg.RuntimeInfo> {
    // One engine thread, so that each op runs on the worker that calls it.
    await eg.init({ threads: 1 });
    const stream = new DigitStream(folder, watch);
    await stream.done;
    this.use(stream.train, stream.test as Digits);
    return eg.runtime();
  }

  /** Takes the digits to learn, and those of which the first ones are the test. */
  use(train: readonly Digits[], test: Digits): void {
    this.#train = tensorsOf(train);
    this.#test = tensorsOf([sliceOf(test, 0, kTestDigits)]);
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
    const weights = model.stateDict();
    const workers = Array.from({ length: count }, (_, worker) =>
      this.#work(worker, weights, train, counters, steps),
    );
    await Promise.all(workers);
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
