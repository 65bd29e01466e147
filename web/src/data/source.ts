// The sources of the batches of one pass: the indices of a dataset, or an iterable.

import { describe, fail } from "../runtime/errors/errors.js";
import type { IterableDataset } from "./dataset.js";

/** Runs code whose tensors belong to one batch. Code after an `await` must be passed to it again. */
export type Fill = <T>(code: () => T) => T;

/** The batches of one pass. */
export interface Source<Batch> {
  /** Loads the next batch; may be called while others are being loaded. */
  next(fill: Fill): Promise<IteratorResult<Batch, undefined>>;
  /** Closes the iterator of the samples or of their indices. */
  close(): Promise<void>;
}

const kDone = { done: true, value: undefined } as const;

/** Batches that can be loaded concurrently, each from the next element of `positions`. */
export class PositionSource<Position, Batch> implements Source<Batch> {
  readonly #positions: Iterator<Position>;
  #hasEnded = false;

  constructor(
    positions: Iterable<Position>,
    private readonly load: (position: Position, fill: Fill) => Promise<Batch>,
  ) {
    this.#positions = positions[Symbol.iterator]();
  }

  async next(fill: Fill): Promise<IteratorResult<Batch, undefined>> {
    if (this.#hasEnded) return kDone;
    // Set first because an iterator that throws has ended as well.
    this.#hasEnded = true;
    const next = this.#positions.next();
    if (next.done) return kDone;
    this.#hasEnded = false;
    return { done: false, value: await this.load(next.value, fill) };
  }

  async close(): Promise<void> {
    if (!this.#hasEnded) this.#positions.return?.();
  }
}

/** Batches of samples from an iterable, which are loaded one after another. */
export class StreamSource<Sample, Batch> implements Source<Batch> {
  readonly #samples: Iterator<Sample> | AsyncIterator<Sample>;
  // Settles when all requested batches have been loaded.
  #last: Promise<unknown> = Promise.resolve();
  #hasEnded = false;
  #isClosed = false;
  #count = 0;

  /** Each batch has `batchSize` samples; the last one may have fewer, unless `dropLast` is true. */
  constructor(
    samples: IterableDataset<Sample>,
    private readonly batchSize: number,
    private readonly dropLast: boolean,
    private readonly make: (samples: Sample[], firstNumber: number) => Batch | Promise<Batch>,
  ) {
    this.#samples =
      Symbol.asyncIterator in samples
        ? samples[Symbol.asyncIterator]()
        : samples[Symbol.iterator]();
    if (typeof this.#samples?.next !== "function") refuse("an iterator with next()", this.#samples);
  }

  next(fill: Fill): Promise<IteratorResult<Batch, undefined>> {
    const result = this.#last.then(() => this.#load(fill));
    this.#last = result.catch(() => {});
    return result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    if (!this.#hasEnded) await this.#samples.return?.();
  }

  async #load(fill: Fill): Promise<IteratorResult<Batch, undefined>> {
    const samples: Sample[] = [];
    while (samples.length < this.batchSize && !this.#hasEnded) {
      if (this.#isClosed) return kDone;
      const next = await this.#nextSample(fill);
      if (!next.done) samples.push(await next.value);
    }
    if (samples.length === 0 || (samples.length < this.batchSize && this.dropLast)) return kDone;
    const first = this.#count;
    this.#count += samples.length;
    return { done: false, value: await fill(() => this.make(samples, first)) };
  }

  async #nextSample(fill: Fill): Promise<IteratorResult<Sample>> {
    this.#hasEnded = true;
    const next = await fill(() => this.#samples.next());
    if (typeof next !== "object" || next === null) {
      refuse("next() of its iterator to return { value, done }", next);
    }
    this.#hasEnded = next.done === true;
    return next;
  }
}

function refuse(expected: string, got: unknown): never {
  fail("InvalidArgument", "DataLoader", `dataset: expected ${expected}, got ${describe(got)}.`);
}
