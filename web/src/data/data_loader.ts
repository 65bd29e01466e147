// Batches of a dataset, in order or shuffled.

import { readOptions } from "../arguments/read.js";
import { boolean, count, integer, type Options, size } from "../arguments/rule.js";
import { randperm } from "../generated/ops.js";
import { batchOf, checkDataset, type Dataset } from "./dataset.js";
import { EventLoopVisits } from "./event_loop.js";
import { shuffled } from "./shuffle.js";

const kOptions = {
  /** Samples per batch; default 1. */
  batchSize: count.or(1),
  /** Draw a new order for each pass; default false. */
  shuffle: boolean.or(false),
  /** Leave out the last batch when it is smaller; default false. */
  dropLast: boolean.or(false),
  /** The shuffling of this loader alone; default: eg.manualSeed() decides. */
  seed: integer.orNull(),
};

/** Options of `DataLoader`. */
export type DataLoaderOptions = Options<typeof kOptions>;

/** Gives the batches of a dataset: `for await (const batch of loader)`. */
export class DataLoader<Sample> implements AsyncIterable<Sample> {
  /** Samples in a batch. */
  readonly batchSize: number;
  /** Whether every pass has an order of its own. */
  readonly shuffle: boolean;
  /** Whether a smaller last batch is left out. */
  readonly dropLast: boolean;
  readonly #seed: number | null;
  #pass = 0;

  constructor(
    /** What the batches are made of. */
    readonly dataset: Dataset<Sample>,
    ...rest: [options?: DataLoaderOptions]
  ) {
    const name = new.target.name;
    const { batchSize, shuffle, dropLast, seed } = readOptions(name, kOptions, rest);
    checkDataset(name, dataset);
    this.batchSize = batchSize;
    this.shuffle = shuffle;
    this.dropLast = dropLast;
    this.#seed = seed;
  }

  /** The number of batches in one pass. */
  get length(): number {
    const batches = this.dataset.length / this.batchSize;
    return this.dropLast ? Math.floor(batches) : Math.ceil(batches);
  }

  /** One pass over the dataset; between batches the page and the garbage collector have their turn. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Sample, void, undefined> {
    const length = size.check("DataLoader", "the length of the dataset", this.dataset.length);
    const order = this.shuffle ? this.#shuffled(length) : null;
    const visits = new EventLoopVisits();
    for (let batch = 0; batch < this.length; batch++) {
      await visits.whenDue();
      const start = batch * this.batchSize;
      const end = Math.min(start + this.batchSize, length);
      yield batchOf(this.dataset, order?.slice(start, end) ?? range(start, end));
    }
  }

  #shuffled(length: number): number[] {
    if (this.#seed !== null) return shuffled(length, this.#seed, this.#pass++);
    const permutation = randperm(length);
    const order = Array.from(permutation.dataSync(), Number);
    permutation.dispose();
    return order;
  }
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}
