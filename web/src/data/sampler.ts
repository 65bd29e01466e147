// Samplers: the order in which a DataLoader takes samples. A sampler is any iterable of positions;
// these are PyTorch's, with its draws.

import { generatorRule } from "../arguments/generator.js";
import { type Arguments, readArguments, readNothing } from "../arguments/read.js";
import { boolean, count, integer, type Options, Rule, size } from "../arguments/rule.js";
import { fromElements } from "../ops/create.js";
import { Generator } from "../ops/generator.js";
import { fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { drawSeed, permutation, weightedPositions, wholesBelow } from "./draws.js";
import { type Numbers, numbersOf, numbersRule } from "./numbers.js";

/** The positions of samples in the order they are taken; a new pass each time it is iterated over. */
export interface Sampler<Position = number> extends Iterable<Position> {
  /** The number of positions in a pass, where it is known. */
  readonly length?: number;
}

/** What has a number of samples. */
export interface Sized {
  /** How many there are. */
  readonly length: number;
}

const sized = new Rule<Sized>("an object with a length", (value) => {
  return typeof value === "object" && value !== null && "length" in value;
});

function sizeOf(where: string, source: Sized): number {
  return size.check(where, "the length of dataSource", source.length);
}

/** A sampler: what can be iterated over. */
export const samplerRule = new Rule<Sampler<never>>("an iterable of positions", (value) => {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
});

/** All positions in order. */
export class SequentialSampler implements Sampler {
  readonly #source: Sized;

  constructor(dataSource: Sized, ...rest: []) {
    // Apart from the others, for a dataset may look like an object of options.
    this.#source = sized.check(new.target.name, "dataSource", dataSource);
    readNothing(new.target.name, rest);
  }

  get length(): number {
    return this.#source.length;
  }

  /** Begins a new pass. */
  *[Symbol.iterator](): IterableIterator<number> {
    sizeOf("SequentialSampler", this.#source);
    for (let i = 0; i < this.#source.length; i++) yield i;
  }
}

const kRandomOptions = {
  /** Draw each position from all; default false: each comes once before any comes again. */
  replacement: boolean.or(false),
  /** Positions in a pass; default the length of the data. */
  numSamples: count.orNull(),
  /** Where draws come from; default a generator that is seeded anew for each pass. */
  generator: generatorRule,
};

/** Options of `RandomSampler`. */
export type RandomSamplerOptions = Options<typeof kRandomOptions>;

// How many positions PyTorch draws at once with replacement.
const kDrawnAtOnce = 32;

/** Positions in random order. */
export class RandomSampler implements Sampler {
  readonly replacement: boolean;
  readonly #source: Sized;
  readonly #numSamples: number | null;
  readonly #generator: Generator | null;

  constructor(
    dataSource: Sized,
    ...rest: Arguments<
      [replacement: boolean, numSamples: number | null, generator: Generator | null],
      RandomSamplerOptions
    >
  ) {
    // Apart from the others, for a dataset may look like an object of options.
    this.#source = sized.check(new.target.name, "dataSource", dataSource);
    const values = readArguments(new.target.name, kRandomOptions, rest);
    this.replacement = values.replacement;
    this.#numSamples = values.numSamples;
    this.#generator = values.generator;
    if (this.length === 0) {
      const told = "num_samples should be a positive integer value, but got num_samples=0";
      fail("InvalidArgument", new.target.name, `${told}: there are no samples to draw from.`);
    }
  }

  get length(): number {
    return this.#numSamples ?? this.#source.length;
  }

  /** Begins a new pass. */
  *[Symbol.iterator](): IterableIterator<number> {
    const samples = sizeOf("RandomSampler", this.#source);
    const generator = this.#generator ?? new Generator(drawSeed(null));
    const rounds = this.replacement ? kDrawnAtOnce : samples;
    const draw = (wanted: number) => {
      if (this.replacement) return wholesBelow(samples, wanted, generator);
      return permutation(samples, generator).slice(0, wanted);
    };
    for (let taken = 0; taken + rounds <= this.length; taken += rounds) yield* draw(rounds);
    yield* draw(this.length % rounds);
  }
}

const kSubsetOptions = {
  /** Where the order comes from; default the common generator. */
  generator: generatorRule,
};
const kSubsetArguments = { indices: numbersRule(integer), ...kSubsetOptions };

/** Options of `SubsetRandomSampler`. */
export type SubsetRandomSamplerOptions = Options<typeof kSubsetOptions>;

/** Given positions in random order; a tensor of them has one dimension. */
export class SubsetRandomSampler implements Sampler {
  readonly indices: readonly number[];
  readonly #generator: Generator | null;

  constructor(
    ...given: [
      indices: Numbers,
      ...rest: Arguments<[generator: Generator | null], SubsetRandomSamplerOptions>,
    ]
  ) {
    const name = new.target.name;
    const { indices, generator } = readArguments(name, kSubsetArguments, given);
    this.indices = numbersOf(name, "indices", integer, indices);
    this.#generator = generator;
  }

  get length(): number {
    return this.indices.length;
  }

  /** Begins a new pass. */
  *[Symbol.iterator](): IterableIterator<number> {
    for (const i of permutation(this.indices.length, this.#generator)) {
      yield this.indices[i] as number;
    }
  }
}

const weight = new Rule<number>("a number from 0 on", (value) => {
  return typeof value === "number" && value >= 0 && value < Infinity;
});

const kWeightedOptions = {
  /** Draw each position from all; default true. */
  replacement: boolean.or(true),
  /** Where draws come from; default the generator that `manualSeed` seeds. */
  generator: generatorRule,
};

const kWeightedArguments = { weights: numbersRule(weight), numSamples: count, ...kWeightedOptions };

/** Options of `WeightedRandomSampler`. */
export type WeightedRandomSamplerOptions = Options<typeof kWeightedOptions>;

/** Positions drawn by weight; the weights, a list or a tensor of one dimension, need not add up to 1. */
export class WeightedRandomSampler implements Sampler {
  readonly length: number;
  readonly replacement: boolean;
  readonly #weights: Tensor;
  readonly #generator: Generator | null;

  constructor(
    ...given: [
      weights: Numbers,
      numSamples: number,
      ...rest: Arguments<
        [replacement: boolean, generator: Generator | null],
        WeightedRandomSamplerOptions
      >,
    ]
  ) {
    const name = new.target.name;
    const values = readArguments(name, kWeightedArguments, given);
    this.length = values.numSamples;
    this.replacement = values.replacement;
    const weights = numbersOf(name, "weights", weight, values.weights);
    this.#weights = fromElements("float64", [weights.length], Float64Array.from(weights));
    this.#generator = values.generator;
  }

  /** Begins a new pass. */
  *[Symbol.iterator](): IterableIterator<number> {
    yield* weightedPositions(this.#weights, this.length, this.replacement, this.#generator);
  }
}

const kBatchArguments = { sampler: samplerRule, batchSize: count, dropLast: boolean };

/** The positions of another sampler in batches. */
export class BatchSampler implements Sampler<number[]> {
  readonly sampler: Sampler;
  readonly batchSize: number;
  readonly dropLast: boolean;

  constructor(
    ...given: [
      sampler: Sampler,
      ...rest: Arguments<
        [batchSize: number, dropLast: boolean],
        { batchSize?: number; dropLast?: boolean }
      >,
    ]
  ) {
    const values = readArguments(new.target.name, kBatchArguments, given);
    this.sampler = values.sampler;
    this.batchSize = values.batchSize;
    this.dropLast = values.dropLast;
  }

  /** The number of batches in a pass; InvalidArgument where the sampler does not know its own. */
  get length(): number {
    const { length } = this.sampler;
    if (length === undefined) fail("InvalidArgument", "BatchSampler", "the sampler has no length.");
    return this.dropLast ? Math.floor(length / this.batchSize) : Math.ceil(length / this.batchSize);
  }

  /** Begins a new pass. */
  *[Symbol.iterator](): IterableIterator<number[]> {
    let batch: number[] = [];
    for (const position of this.sampler) {
      batch.push(position);
      if (batch.length < this.batchSize) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0 && !this.dropLast) yield batch;
  }
}
