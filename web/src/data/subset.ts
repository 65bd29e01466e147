// Datasets that are composed of other datasets.

import { generatorRule } from "../arguments/generator.js";
import { type Arguments, readArguments } from "../arguments/read.js";
import { integer, listOf, number, unchecked } from "../arguments/rule.js";
import type { Generator } from "../ops/generator.js";
import { fail } from "../runtime/errors/errors.js";
import type { Collated } from "./collated.js";
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

/** A dataset of some samples of another dataset, given by their indices: an array or a one-dimensional tensor. */
export class Subset<Sample> implements Dataset<Sample> {
  readonly dataset: Dataset<Sample>;
  /** The indices of the samples in the dataset. */
  readonly indices: readonly number[];
  getBatch?: (indices: readonly number[]) => Collated<Sample> | Promise<Collated<Sample>>;

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

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/** True if every batch is newly created: by a getBatch() that is known to do so, or by stacking samples. */
export function makesBatches(dataset: Dataset<unknown>): boolean {
  if (dataset instanceof Subset) return makesBatches(dataset.dataset);
  return !hasBatches(dataset) || dataset.getBatch === TensorDataset.prototype.getBatch;
}

/** The concatenation of several datasets. */
export class ConcatDataset<Sample> implements Dataset<Sample> {
  readonly datasets: readonly Dataset<Sample>[];

  constructor(...given: [datasets: readonly (Dataset<Sample> | readonly Sample[])[]]) {
    const { datasets } = readArguments(new.target.name, kConcatArguments, given);
    this.datasets = datasets.map((dataset) =>
      asDataset(new.target.name, dataset as Dataset<Sample> | readonly Sample[]),
    );
    if (datasets.length === 0) {
      fail("InvalidArgument", new.target.name, "datasets: expected at least one dataset.");
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

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

const kSplitArguments = {
  dataset: unchecked<unknown>(),
  lengths: listOf(number),
  generator: generatorRule,
};

/**
 * Splits a dataset randomly into subsets with the given lengths, which must add up to the dataset's length. Fractions that
 * add up to 1 are also accepted; the samples left over by rounding are distributed one by one, starting with the first subset.
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
      `expected lengths, or fractions that add up to 1, got [${lengths}].`,
    );
  }
  if (counts.reduce((a, b) => a + b, 0) !== length) {
    const message = `the lengths [${lengths}] do not add up to the ${length} samples of the dataset.`;
    fail("InvalidArgument", "randomSplit", message);
  }
  return counts;
}

function countsOfFractions(length: number, fractions: readonly number[]): number[] {
  if (fractions.some((fraction) => fraction < 0 || fraction > 1)) {
    fail("InvalidArgument", "randomSplit", `expected fractions from 0 to 1, got [${fractions}].`);
  }
  const counts = fractions.map((fraction) => Math.floor(length * fraction));
  const rest = length - counts.reduce((a, b) => a + b, 0);
  for (let i = 0; i < rest; i++) counts[i % counts.length] = (counts[i % counts.length] ?? 0) + 1;
  counts.forEach((count, i) => {
    if (count > 0) return;
    console.warn(`edgegrad: randomSplit: subset ${i} is empty.`);
  });
  return counts;
}
