// Batches of a dataset, in order or shuffled. The loader draws the same random numbers as PyTorch's DataLoader: a seed
// at the start of each pass, which PyTorch uses for its workers, then those of the sampler.

import { type MixedArguments, readAfter } from "../arguments/read.js";
import { Generator } from "../ops/generator.js";
import { fail } from "../runtime/errors/errors.js";
import { type AbortSignalLike, throwIfAborted } from "../runtime/host/abort.js";
import { needsPart } from "../runtime/start/parts.js";
import { collate } from "./collate.js";
import type { Collated } from "./collated.js";
import {
  checkTogether,
  type DataLoaderOptions,
  kDataLoaderOptions,
} from "./data_loader_options.js";
import {
  asDataset,
  type Dataset,
  hasBatches,
  type IterableDataset,
  isDataset,
  isIterable,
  lengthOf,
  requireGet,
  sampleOf,
} from "./dataset.js";
import { drawSeed } from "./draws.js";
import { EventLoopVisits } from "./event_loop.js";
import { LoadingBatches } from "./loading.js";
import { checkPosition, checkPositions } from "./positions.js";
import { BatchSampler, RandomSampler, type Sampler, SequentialSampler } from "./sampler.js";
import { type Fill, PositionSource, type Source, StreamSource } from "./source.js";
import { makesBatches } from "./subset.js";

needsPart("layers");

const kName = "DataLoader";

type Collate<Sample, Batch> = (samples: Sample[]) => Batch | Promise<Batch>;

/** What a DataLoader takes samples from. */
type Samples<Sample, Batch> = Dataset<Sample, Batch> | readonly Sample[] | IterableDataset<Sample>;

/** The arguments after the dataset, the first of them by position and the others as options. */
type LoaderArguments<Named> = MixedArguments<
  [
    batchSize: number | null,
    shuffle: boolean,
    sampler: Sampler | null,
    batchSampler: Sampler<readonly number[]> | null,
  ],
  Named
>;

/** The options of a loader that collates with a function of the program. */
type Collating<Sample, Batch> = DataLoaderOptions<Sample, Batch> & {
  collateFn: Collate<Sample, Batch>;
};

/** The options that turn batching off. */
type Unbatched<Collate> = Omit<DataLoaderOptions, "batchSize" | "collateFn"> & {
  batchSize: null;
} & Collate;

/** Iterates over a dataset in batches: `for await (const batch of loader)`. */
export class DataLoader<Sample, Batch = Collated<Sample>> implements AsyncIterable<Batch> {
  /** The dataset; an array becomes a dataset of its elements. */
  readonly dataset: Dataset<Sample, unknown> | IterableDataset<Sample>;
  /** The number of samples in a batch; null for single samples that are not batched, or if batchSampler was passed. */
  readonly batchSize: number | null;
  /** Whether every pass uses a new random order. */
  readonly shuffle: boolean;
  /** Whether an incomplete last batch is dropped. */
  readonly dropLast: boolean;
  /** The number of batches that are loaded ahead. */
  readonly prefetch: number;
  /** The order of the samples; null for an iterable dataset, which has its own order. */
  readonly sampler: Sampler | null;
  /** The indices of each batch; null for single samples and for an iterable dataset. */
  readonly batchSampler: Sampler<readonly number[]> | null;
  readonly #collateFn: Collate<Sample, Batch> | null;
  readonly #generator: Generator | null;
  readonly #signal: AbortSignalLike | undefined;
  // The option that the indices come from, for messages.
  readonly #giver: "sampler" | "batchSampler";

  // Without batching, samples are passed on one by one, to collateFn or as they are.
  constructor(
    dataset: Samples<Sample, unknown>,
    options: Unbatched<{ collateFn: (sample: Sample) => Batch | Promise<Batch> }>,
  );
  constructor(
    dataset: Samples<Sample, unknown> & Samples<Batch, unknown>,
    options: Unbatched<{ collateFn?: null }>,
  );
  constructor(dataset: Samples<Sample, unknown>, options: Collating<Sample, Batch>);
  constructor(
    dataset: Samples<Sample, unknown>,
    ...rest: LoaderArguments<Collating<Sample, Batch>>
  );
  constructor(
    dataset: Samples<Sample, Batch>,
    batchSize?: number | null,
    shuffle?: boolean,
    sampler?: Sampler | null,
    batchSampler?: Sampler<readonly number[]> | null,
  );
  constructor(
    dataset: Samples<Sample, Batch>,
    ...rest: LoaderArguments<DataLoaderOptions<Sample, Batch>>
  );
  constructor(dataset: Samples<Sample, Batch>, options?: DataLoaderOptions<Sample, Batch>);
  constructor(dataset: Samples<Sample, unknown>, ...rest: unknown[]) {
    const name = new.target.name;
    const options = readAfter(name, "dataset", kDataLoaderOptions, rest);
    this.dataset = isIterable(dataset)
      ? (dataset as IterableDataset<Sample>)
      : asDataset(name, dataset as Dataset<Sample, unknown> | readonly Sample[]);
    checkTogether(name, options, !isDataset(this.dataset));
    this.batchSize = options.batchSampler === null ? options.batchSize : null;
    this.shuffle = options.shuffle;
    this.dropLast = options.dropLast;
    this.prefetch = options.prefetch;
    this.#signal = options.signal;
    this.#collateFn = options.collateFn as Collate<Sample, Batch> | null;
    this.#generator = options.seed === null ? options.generator : new Generator(options.seed);
    this.sampler = (options.sampler as Sampler | null) ?? this.#ownSampler();
    this.#giver = options.batchSampler === null ? "sampler" : "batchSampler";
    this.batchSampler =
      (options.batchSampler as Sampler<readonly number[]> | null) ?? this.#ownBatchSampler();
    if (isDataset(this.dataset) && (this.#isUnbatched || this.#collateFn !== null)) {
      requireGet(name, this.dataset);
    }
  }

  /** The generator of the order, for a loader with a seed or generator of its own; null for the global one. */
  get generator(): Generator | null {
    return this.#generator;
  }

  /** The number of batches in one pass; throws InvalidArgument if the sampler or dataset that determines it has no length. */
  get length(): number {
    if (this.batchSampler !== null) return knownLength(this.batchSampler, "the batchSampler");
    if (this.sampler !== null) return knownLength(this.sampler, "the sampler");
    const samples = knownLength(this.dataset as { length?: number }, "the dataset");
    const batches = samples / (this.batchSize ?? 1);
    return this.dropLast ? Math.floor(batches) : Math.ceil(batches);
  }

  /** Starts a pass over the dataset. Between batches it yields to the event loop, so pages can draw and memory can be freed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Batch, void, undefined> {
    const { dataset } = this;
    const signal = this.#signal;
    throwIfAborted(signal);
    if (isDataset(dataset)) lengthOf(kName, dataset);
    drawSeed(this.#generator);
    const batches = new LoadingBatches(this.#source(), this.prefetch, this.#ownsBatches, signal);
    const visits = new EventLoopVisits();
    let hasFailed = true;
    try {
      while (true) {
        await visits.whenDue();
        throwIfAborted(signal);
        const result = await batches.next();
        if (result.done) break;
        hasFailed = false;
        yield result.value;
        hasFailed = true;
      }
      hasFailed = false;
    } finally {
      await batches.close(hasFailed);
    }
  }

  get #isUnbatched(): boolean {
    return this.batchSize === null && this.batchSampler === null;
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

  #source(): Source<Batch> {
    const { dataset } = this;
    if (!isDataset(dataset)) return this.#stream(dataset as IterableDataset<Sample>);
    const { length } = dataset;
    if (this.batchSampler !== null) {
      return new PositionSource(this.batchSampler, (given: unknown, fill) => {
        const positions = checkPositions(kName, this.#giver, given, length);
        return this.#batchOf(dataset as Dataset<Sample, unknown>, positions, fill);
      });
    }
    return new PositionSource(this.sampler as Sampler, async (given: unknown, fill) => {
      const position = checkPosition(kName, "sampler", given, length);
      const sample = await fill(() =>
        sampleOf(kName, dataset as Dataset<Sample, unknown>, position),
      );
      return fill(() => this.#asIs(sample));
    });
  }

  #stream(samples: IterableDataset<Sample>): Source<Batch> {
    if (this.batchSize === null) {
      return new StreamSource(samples, 1, false, ([sample]) => this.#asIs(sample as Sample));
    }
    return new StreamSource(samples, this.batchSize, this.dropLast, (ofBatch, first) => {
      return this.#makeBatch(ofBatch, (i) => first + i);
    });
  }

  async #batchOf(
    dataset: Dataset<Sample, unknown>,
    positions: readonly number[],
    fill: Fill,
  ): Promise<Batch> {
    if (this.#collateFn === null && positions.length === 0) {
      fail(
        "InvalidArgument",
        kName,
        "batchSampler: expected the indices of each batch, got an empty array.",
      );
    }
    if (this.#collateFn === null && hasBatches(dataset)) {
      return (await fill(() => dataset.getBatch(positions))) as Batch;
    }
    const loading = fill(() => positions.map((index) => sampleOf(kName, dataset, index)));
    const samples = await Promise.all(loading);
    return fill(() => this.#makeBatch(samples, (i) => positions[i] as number));
  }

  #makeBatch(samples: Sample[], numberOf: (i: number) => number): Batch | Promise<Batch> {
    if (this.#collateFn !== null) return this.#collateFn(samples);
    return collate<Batch>(
      kName,
      samples,
      samples.map((_, i) => numberOf(i)),
    );
  }

  // Whether batches that were loaded but not used can be freed. Batches made by the program's code may still be in use there.
  get #ownsBatches(): boolean {
    if (this.#collateFn !== null || this.#isUnbatched) return false;
    return !isDataset(this.dataset) || makesBatches(this.dataset);
  }

  // Without batching, collateFn is called with a single sample, as in PyTorch.
  #asIs(sample: Sample): Batch | Promise<Batch> {
    if (this.#collateFn === null) return sample as unknown as Batch;
    return (this.#collateFn as unknown as (sample: Sample) => Batch | Promise<Batch>)(sample);
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

function knownLength(of: { length?: number }, what: string): number {
  const { length } = of;
  if (length === undefined) {
    fail(
      "InvalidArgument",
      "DataLoader",
      `the number of batches is unknown: ${what} has no length.`,
    );
  }
  return length;
}
