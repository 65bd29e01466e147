// Datasets made of datasets.

import { generatorRule } from "../arguments/generator.js";
import { type Arguments, readArguments } from "../arguments/read.js";
import { integer, listOf, number, unchecked } from "../arguments/rule.js";
import type { Generator } from "../ops/generator.js";
import { fail } from "../runtime/errors.js";
import {
  asDataset,
  type Dataset,
  hasBatches,
  lengthOf,
  sampleOf,
  TensorDataset,
} from "./dataset.js";
import { permutation } from "./draws.js";
import { type Numbers, numbersOf, numbersRule } from "./numbers.js";
import { checkPosition, positionOf } from "./positions.js";

const kSubsetArguments = { dataset: unchecked<unknown>(), indices: numbersRule(integer) };
const kConcatArguments = { datasets: listOf(unchecked<unknown>()) };

/** Some of the samples of a dataset, by their positions: a list, or a tensor of one dimension. */
export class Subset<Sample> implements Dataset<Sample> {
  readonly dataset: Dataset<Sample>;
  /** The positions of the samples in the dataset. */
  readonly indices: readonly number[];
  getBatch?: (indices: readonly number[]) => Sample | Promise<Sample>;

  constructor(...given: [dataset: Dataset<Sample> | readonly Sample[], indices: Numbers]) {
    const name = new.target.name;
    const { dataset, indices } = readArguments(name, kSubsetArguments, given);
    this.dataset = asDataset(name, dataset as Dataset<Sample> | readonly Sample[]);
    const length = lengthOf(name, this.dataset);
    this.indices = numbersOf(name, "indices", integer, indices).map((index) => {
      return checkPosition(name, "indices", index, length);
    });
    const source = this.dataset;
    if (hasBatches(source)) this.getBatch = (given) => source.getBatch(given.map(this.#at));
  }

  get length(): number {
    return this.indices.length;
  }

  get(index: number): Sample | Promise<Sample> {
    return sampleOf("Subset", this.dataset, this.#at(index));
  }

  readonly #at = (index: number): number => {
    return this.indices[positionOf("Subset", index, this.length)] as number;
  };
}

/** True when what getBatch() returns, or without it the stacked samples, is made anew for each call. */
export function makesBatches(dataset: Dataset<unknown>): boolean {
  if (dataset instanceof Subset) return makesBatches(dataset.dataset);
  return !hasBatches(dataset) || dataset.getBatch === TensorDataset.prototype.getBatch;
}

/** Datasets one after another. */
export class ConcatDataset<Sample> implements Dataset<Sample> {
  readonly datasets: readonly Dataset<Sample>[];

  constructor(...given: [datasets: readonly (Dataset<Sample> | readonly Sample[])[]]) {
    const { datasets } = readArguments(new.target.name, kConcatArguments, given);
    this.datasets = datasets.map((dataset) =>
      asDataset(new.target.name, dataset as Dataset<Sample> | readonly Sample[]),
    );
    if (datasets.length === 0) {
      fail("InvalidArgument", new.target.name, "datasets should not be an empty list.");
    }
    for (const dataset of this.datasets) lengthOf(new.target.name, dataset);
  }

  get length(): number {
    return this.datasets.reduce((sum, { length }) => sum + length, 0);
  }

  get(index: number): Sample | Promise<Sample> {
    let position = positionOf("ConcatDataset", index, this.length);
    let part = 0;
    for (const { length } of this.datasets) {
      if (position < length) break;
      position -= length;
      part++;
    }
    return sampleOf("ConcatDataset", this.datasets[part] as Dataset<Sample>, position);
  }
}

const kSplitArguments = {
  dataset: unchecked<unknown>(),
  lengths: listOf(number),
  generator: generatorRule,
};

/**
 * Splits a dataset at random into subsets of these lengths, which add up to its own; or of these
 * fractions, which add up to 1, what is left over going to the first ones in turn.
 */
export function randomSplit<Sample>(
  ...given: [
    dataset: Dataset<Sample> | readonly Sample[],
    lengths: readonly number[],
    ...rest: Arguments<[generator: Generator | null], { generator?: Generator | null }>,
  ]
): Subset<Sample>[] {
  const values = readArguments("randomSplit", kSplitArguments, given);
  const dataset = asDataset("randomSplit", values.dataset as Dataset<Sample>);
  const counts = countsOf(dataset.length, values.lengths);
  const order = permutation(dataset.length, values.generator);
  let end = 0;
  return counts.map((count) => {
    end += count;
    return new Subset(dataset, order.slice(end - count, end));
  });
}

function countsOf(length: number, lengths: readonly number[]): readonly number[] {
  const sum = lengths.reduce((a, b) => a + b, 0);
  const counts =
    Math.abs(sum - 1) <= 1e-9 && sum <= 1 ? countsOfFractions(length, lengths) : lengths;
  if (counts.some((count) => !Number.isInteger(count) || count < 0)) {
    fail(
      "InvalidArgument",
      "randomSplit",
      `expected lengths, or fractions of 1, got [${lengths}].`,
    );
  }
  if (counts.reduce((a, b) => a + b, 0) !== length) {
    const told = "Sum of input lengths does not equal the length of the input dataset!";
    fail("InvalidArgument", "randomSplit", `${told} They are [${lengths}], of ${length} samples.`);
  }
  return counts;
}

function countsOfFractions(length: number, fractions: readonly number[]): number[] {
  if (fractions.some((fraction) => fraction < 0 || fraction > 1)) {
    fail("InvalidArgument", "randomSplit", `Fractions are not between 0 and 1: [${fractions}].`);
  }
  const counts = fractions.map((fraction) => Math.floor(length * fraction));
  const rest = length - counts.reduce((a, b) => a + b, 0);
  for (let i = 0; i < rest; i++) counts[i % counts.length] = (counts[i % counts.length] ?? 0) + 1;
  counts.forEach((count, i) => {
    if (count > 0) return;
    console.warn(
      `edgegrad: Length of split at index ${i} is 0. This might result in an empty dataset.`,
    );
  });
  return counts;
}
