// Batches of a dataset, in order or shuffled. What is drawn is what PyTorch's DataLoader draws: a seed
// at the start of each pass, which its workers would have, then what the sampler draws.

import { type Arguments, readAfter } from "../arguments/read.js";
import { size } from "../arguments/rule.js";
import { Generator } from "../ops/generator.js";
import { fail } from "../runtime/errors.js";
import {
  checkTogether,
  type DataLoaderOptions,
  kDataLoaderOptions,
} from "./data_loader_options.js";
import {
  asDataset,
  batchOf,
  collate,
  type Dataset,
  type IterableDataset,
  isDataset,
  isIterable,
} from "./dataset.js";
import { drawSeed } from "./draws.js";
import { EventLoopVisits } from "./event_loop.js";
import { BatchSampler, RandomSampler, type Sampler, SequentialSampler } from "./sampler.js";

type Collate<Sample, Batch> = (samples: Sample[]) => Batch | Promise<Batch>;

/** Starts to load the next batch. */
type Load<Batch> = () => Promise<IteratorResult<Batch, undefined>>;

const kDone = { done: true, value: undefined } as const;

/** Gives the batches of a dataset: `for await (const batch of loader)`. */
export class DataLoader<Sample, Batch = Sample> implements AsyncIterable<Batch> {
  /** What the batches are made of; an array is a dataset of its elements. */
  readonly dataset: Dataset<Sample> | IterableDataset<Sample>;
  /** Samples in a batch; null for samples as they are. */
  readonly batchSize: number | null;
  /** Whether every pass has an order of its own. */
  readonly shuffle: boolean;
  /** Whether a smaller last batch is left out. */
  readonly dropLast: boolean;
  /** Batches that are loaded ahead. */
  readonly prefetch: number;
  /** The order of the samples; null for an iterable dataset, which has its own. */
  readonly sampler: Sampler | null;
  /** The positions of each batch; null where there are no batches, or no positions. */
  readonly batchSampler: Sampler<readonly number[]> | null;
  readonly #collateFn: Collate<Sample, Batch> | null;
  readonly #generator: Generator | null;

  constructor(
    dataset: Dataset<Sample> | readonly Sample[] | IterableDataset<Sample>,
    ...rest: Arguments<
      [
        batchSize: number | null,
        shuffle: boolean,
        sampler: Sampler | null,
        batchSampler: Sampler<readonly number[]> | null,
      ],
      DataLoaderOptions<Sample, Batch>
    >
  ) {
    const name = new.target.name;
    const options = readAfter(name, "dataset", kDataLoaderOptions, rest);
    this.dataset = isIterable(dataset)
      ? (dataset as IterableDataset<Sample>)
      : asDataset(name, dataset as Dataset<Sample> | readonly Sample[]);
    checkTogether(name, options, !isDataset(this.dataset));
    this.batchSize = options.batchSampler === null ? options.batchSize : null;
    this.shuffle = options.shuffle;
    this.dropLast = options.dropLast;
    this.prefetch = options.prefetch;
    this.#collateFn = options.collateFn as Collate<Sample, Batch> | null;
    this.#generator = options.seed === null ? options.generator : new Generator(options.seed);
    this.sampler = (options.sampler as Sampler | null) ?? this.#ownSampler();
    this.batchSampler =
      (options.batchSampler as Sampler<readonly number[]> | null) ?? this.#ownBatchSampler();
  }

  /** The number of batches in one pass; InvalidArgument where what decides it has no length. */
  get length(): number {
    if (this.batchSampler !== null) return lengthOf(this.batchSampler, "the batchSampler");
    if (this.sampler !== null) return lengthOf(this.sampler, "the sampler");
    const samples = lengthOf(this.dataset as { length?: number }, "the dataset");
    const batches = samples / (this.batchSize ?? 1);
    return this.dropLast ? Math.floor(batches) : Math.ceil(batches);
  }

  /** One pass over the dataset; between batches the page and the garbage collector have their turn. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Batch, void, undefined> {
    const { dataset } = this;
    if (isDataset(dataset)) size.check("DataLoader", "the length of the dataset", dataset.length);
    drawSeed(this.#generator);
    const load = this.#loads();
    const visits = new EventLoopVisits();
    const loading: Promise<IteratorResult<Batch, undefined>>[] = [];
    while (true) {
      await visits.whenDue();
      while (loading.length <= this.prefetch) loading.push(heard(load()));
      const result = await (loading.shift() as (typeof loading)[number]);
      if (result.done) return;
      yield result.value;
    }
  }

  #ownSampler(): Sampler | null {
    const { dataset } = this;
    if (!isDataset(dataset)) return null;
    if (!this.shuffle) return new SequentialSampler(dataset);
    return new RandomSampler(dataset, { generator: this.#generator });
  }

  #ownBatchSampler(): Sampler<readonly number[]> | null {
    if (this.sampler === null || this.batchSize === null) return null;
    return new BatchSampler(this.sampler, this.batchSize, this.dropLast);
  }

  #loads(): Load<Batch> {
    const { dataset } = this;
    if (!isDataset(dataset)) {
      const batches = this.#batchesOf(dataset as IterableDataset<Sample>);
      return () => batches.next() as Promise<IteratorResult<Batch, undefined>>;
    }
    if (this.batchSampler !== null) {
      return loadsOf(this.batchSampler, (indices) =>
        batchOf(dataset as Dataset<Sample>, indices, this.#collateFn),
      );
    }
    return loadsOf(this.sampler as Sampler, async (index) => {
      return this.#asIs((await dataset.get(index)) as Sample);
    });
  }

  async *#batchesOf(samples: IterableDataset<Sample>): AsyncGenerator<Batch, undefined, undefined> {
    let batch: Sample[] = [];
    for await (const sample of samples) {
      if (this.batchSize === null) {
        yield this.#asIs(sample);
        continue;
      }
      batch.push(sample);
      if (batch.length < this.batchSize) continue;
      yield (this.#collateFn ?? collate<Batch>)(batch);
      batch = [];
    }
    if (batch.length > 0 && !this.dropLast) yield (this.#collateFn ?? collate<Batch>)(batch);
    return undefined;
  }

  // Without batches a collateFn is given the one sample, as in PyTorch.
  #asIs(sample: Sample): Batch | Promise<Batch> {
    if (this.#collateFn === null) return sample as unknown as Batch;
    return (this.#collateFn as unknown as (sample: Sample) => Batch | Promise<Batch>)(sample);
  }
}

// Each call takes the next positions at once; loading overlaps.
function loadsOf<Position, Batch>(
  positions: Iterable<Position>,
  load: (position: Position) => Promise<Batch>,
): Load<Batch> {
  const iterator = positions[Symbol.iterator]();
  return async () => {
    const next = iterator.next();
    return next.done ? kDone : { done: false, value: await load(next.value) };
  };
}

// A promise that is awaited later, or never, must not count as a failure that nobody handles.
function heard<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

function lengthOf(of: { length?: number }, what: string): number {
  const { length } = of;
  if (length === undefined) fail("InvalidArgument", "DataLoader", `${what} has no length.`);
  return length;
}
