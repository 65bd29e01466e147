// Samplers, which determine the order in which a DataLoader takes samples. Any iterable of indices is a sampler;
// those in this file are PyTorch's and draw the same random numbers.

import { generatorRule } from "../arguments/generator.js";
import { type MixedArguments, readArguments, readNothing } from "../arguments/read.js";
import { boolean, count, integer, type Options, Rule, size } from "../arguments/rule.js";
import { fromElements } from "../ops/create.js";
import { Generator } from "../ops/generator.js";
import { fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { drawSeed, permutation, weightedPositions, wholesBelow } from "./draws.js";
import { type Numbers, numbersOf, numbersRule } from "./numbers.js";

/** The indices of samples in the order in which they are used. Each iteration is a new pass. */
export interface Sampler<Position = number> extends Iterable<Position> {
  /** The number of indices in a pass, if it is known. */
  readonly length?: number;
}

/** An object with a number of samples, such as a dataset. */
export interface Sized {
  /** The number of samples. */
  readonly length: number;
}

const sized = new Rule<Sized>("an object with a length", (value) => {
  return typeof value === "object" && value !== null && "length" in value;
});

function sizeOf(where: string, source: Sized): number {
  return size.check(where, "the length of dataSource", source.length);
}

/** A sampler, which is any iterable object. */
export const samplerRule = new Rule<Sampler<never>>("an iterable of indices", (value) => {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
});

/** All indices in order. */
export class SequentialSampler implements Sampler {
  readonly #source: Sized;

  constructor(dataSource: Sized, ...rest: []) {
    // Checked separately because a dataset may look like an object of options.
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

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

const kRandomOptions = {
  /** Whether to draw with replacement; default false: every index occurs once before any is repeated. */
  replacement: boolean.or(false),
  /** The number of indices in a pass; default: the length of the data. */
  numSamples: count.orNull(),
  /** The source of random numbers; default: a generator that is newly seeded for each pass. */
  generator: generatorRule,
};

/** Options of `RandomSampler`. */
export type RandomSamplerOptions = Options<typeof kRandomOptions>;

// The number of indices that PyTorch draws at once with replacement.
const kDrawnAtOnce = 32;

/** Indices in random order. */
export class RandomSampler implements Sampler {
  readonly replacement: boolean;
  readonly #source: Sized;
  readonly #numSamples: number | null;
  readonly #generator: Generator | null;

  constructor(
    dataSource: Sized,
    replacement?: boolean,
    numSamples?: number | null,
    generator?: Generator | null,
  );
  constructor(
    dataSource: Sized,
    ...rest: MixedArguments<
      [replacement: boolean, numSamples: number | null, generator: Generator | null],
      RandomSamplerOptions
    >
  );
  constructor(dataSource: Sized, options?: RandomSamplerOptions);
  constructor(dataSource: Sized, ...rest: unknown[]) {
    // Checked separately because a dataset may look like an object of options.
    this.#source = sized.check(new.target.name, "dataSource", dataSource);
    const values = readArguments(new.target.name, kRandomOptions, rest);
    this.replacement = values.replacement;
    this.#numSamples = values.numSamples;
    this.#generator = values.generator;
    if (this.length === 0) {
      fail("InvalidArgument", new.target.name, "dataSource: expected at least one sample.");
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

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

const kSubsetOptions = {
  /** The source of random numbers; default: the global generator. */
  generator: generatorRule,
};
const kSubsetArguments = { indices: numbersRule(integer), ...kSubsetOptions };

/** Options of `SubsetRandomSampler`. */
export type SubsetRandomSamplerOptions = Options<typeof kSubsetOptions>;

/** The given indices in random order: an array or a one-dimensional tensor. */
export class SubsetRandomSampler implements Sampler {
  readonly indices: readonly number[];
  readonly #generator: Generator | null;

  constructor(indices: Numbers, generator?: Generator | null);
  constructor(
    indices: Numbers,
    ...rest: MixedArguments<[generator: Generator | null], SubsetRandomSamplerOptions>
  );
  constructor(indices: Numbers, options?: SubsetRandomSamplerOptions);
  constructor(...given: unknown[]) {
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

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

const weight = new Rule<number>("a finite number of at least 0", (value) => {
  return typeof value === "number" && value >= 0 && value < Infinity;
});

const kWeightedOptions = {
  /** Whether to draw with replacement; default true. */
  replacement: boolean.or(true),
  /** The source of random numbers; default: the global generator, which `manualSeed` seeds. */
  generator: generatorRule,
};

const kWeightedArguments = { weights: numbersRule(weight), numSamples: count, ...kWeightedOptions };

/** Options of `WeightedRandomSampler`. */
export type WeightedRandomSamplerOptions = Options<typeof kWeightedOptions>;

/** Indices drawn with probabilities proportional to weights: an array or a one-dimensional tensor, not necessarily of sum 1. */
export class WeightedRandomSampler implements Sampler {
  readonly length: number;
  readonly replacement: boolean;
  readonly #weights: Tensor;
  readonly #generator: Generator | null;

  constructor(
    weights: Numbers,
    numSamples: number,
    replacement?: boolean,
    generator?: Generator | null,
  );
  constructor(
    weights: Numbers,
    numSamples: number,
    ...rest: MixedArguments<
      [replacement: boolean, generator: Generator | null],
      WeightedRandomSamplerOptions
    >
  );
  constructor(weights: Numbers, numSamples: number, options?: WeightedRandomSamplerOptions);
  constructor(...given: unknown[]) {
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

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

const kBatchArguments = { sampler: samplerRule, batchSize: count, dropLast: boolean };

/** Batches of the indices of another sampler. */
export class BatchSampler implements Sampler<number[]> {
  readonly sampler: Sampler;
  readonly batchSize: number;
  readonly dropLast: boolean;

  constructor(sampler: Sampler, batchSize?: number, dropLast?: boolean);
  constructor(
    sampler: Sampler,
    ...rest: MixedArguments<
      [batchSize: number, dropLast: boolean],
      { batchSize?: number; dropLast?: boolean }
    >
  );
  constructor(sampler: Sampler, options?: { batchSize?: number; dropLast?: boolean });
  constructor(...given: unknown[]) {
    const values = readArguments(new.target.name, kBatchArguments, given);
    this.sampler = values.sampler;
    this.batchSize = values.batchSize;
    this.dropLast = values.dropLast;
  }

  /** The number of batches in a pass; throws InvalidArgument if the sampler has no length. */
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

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}
