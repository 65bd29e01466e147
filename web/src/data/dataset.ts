// Datasets, from which a DataLoader takes samples.

import { integer, listOf, Rule, size } from "../arguments/rule.js";
import { indexSelect, select } from "../generated/ops.js";
import { fromElements } from "../ops/create.js";
import { fail } from "../runtime/errors/errors.js";
import { tensorRule } from "../tensor/rules.js";
import { scope } from "../tensor/scope.js";
import type { Tensor } from "../tensor/tensor.js";
import type { Collated } from "./collated.js";
import { positionOf } from "./positions.js";

/** Samples that are accessed by index. `Batch` is what getBatch() returns, if there is one. */
export interface Dataset<Sample, Batch = Collated<Sample>> {
  /** The number of samples. */
  readonly length: number;
  /** Returns one sample, or a promise of it. */
  get(index: number): Sample | Promise<Sample>;
  /** Returns several samples as one batch, or a promise of it. Without this method, single samples are stacked. */
  getBatch?(indices: readonly number[]): Batch | Promise<Batch>;
}

/** Samples in a fixed order: any synchronous or asynchronous iterable. */
export type IterableDataset<Sample> = Iterable<Sample> | AsyncIterable<Sample>;

const kDataset = new Rule<Dataset<unknown>>(
  "an array, or an object with length and get(index) such as a TensorDataset",
  isDataset,
);

/** Returns a dataset; an array is wrapped as a dataset of its elements. */
export function asDataset<Sample, Batch>(
  where: string,
  dataset: Dataset<Sample, Batch> | readonly Sample[],
): Dataset<Sample, Batch> {
  if (Array.isArray(dataset)) return new ArrayDataset<Sample>(dataset);
  return kDataset.check(where, "dataset", dataset) as Dataset<Sample, Batch>;
}

/** True for a dataset whose samples are accessed by index. */
export function isDataset(value: unknown): value is Dataset<unknown> {
  const dataset = (value ?? {}) as Dataset<unknown>;
  return typeof dataset.get === "function" || hasBatches(dataset);
}

/** True for a dataset that makes batches itself. */
export function hasBatches<Sample, Batch>(
  dataset: Dataset<Sample, Batch>,
): dataset is Dataset<Sample, Batch> & Required<Pick<Dataset<Sample, Batch>, "getBatch">> {
  return typeof dataset.getBatch === "function";
}

/** Returns the number of samples. */
export function lengthOf(where: string, dataset: Dataset<unknown>): number {
  return size.check(where, "the length of the dataset", dataset.length);
}

/** True for an iterable dataset, whose samples have no indices. */
export function isIterable(value: unknown): value is IterableDataset<unknown> {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value) || isDataset(value)) return false;
  return Symbol.asyncIterator in value || Symbol.iterator in value;
}

/** A dataset of the elements of an array. */
class ArrayDataset<Sample> implements Dataset<Sample, never> {
  constructor(readonly samples: readonly Sample[]) {}

  get length(): number {
    return this.samples.length;
  }

  get(index: number): Sample {
    return this.samples[positionOf("DataLoader", index, this.length)] as Sample;
  }
}

/** One tensor for each tensor of a dataset. */
type OneForEach<Tensors extends readonly Tensor[]> = { -readonly [I in keyof Tensors]: Tensor };

/** A dataset of tensors of equal length: sample i consists of row i of each tensor. A batch has as many tensors. */
export class TensorDataset<Tensors extends readonly Tensor[] = readonly Tensor[]>
  implements Dataset<OneForEach<Tensors>, OneForEach<Tensors>>
{
  /** The tensors whose rows are the samples. */
  readonly tensors: Tensors;
  readonly length: number;

  constructor(...tensors: Tensors) {
    const checked = tensors.map((tensor) => tensorRule.check("TensorDataset", "tensors", tensor));
    const lengths = checked.map((tensor) => tensor.shape[0]);
    const [length] = lengths;
    if (length === undefined) {
      fail("InvalidArgument", "TensorDataset", "expected tensors of at least one dimension.");
    }
    if (lengths.some((other) => other !== length)) {
      fail("ShapeMismatch", "TensorDataset", `the tensors have different lengths: ${lengths}.`);
    }
    this.tensors = tensors;
    this.length = length;
  }

  get(index: number): OneForEach<Tensors> {
    return this.tensors.map((tensor) => select(tensor, 0, index)) as OneForEach<Tensors>;
  }

  getBatch(indices: readonly number[]): OneForEach<Tensors> {
    const list = listOf(integer).check("TensorDataset", "indices", indices);
    return scope(() => {
      const positions = fromElements("int64", [list.length], BigInt64Array.from(list, BigInt));
      return this.tensors.map((tensor) => indexSelect(tensor, 0, positions.to(tensor.device)));
    }) as OneForEach<Tensors>;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/** Throws InvalidArgument for a dataset that cannot return single samples. */
export function requireGet(where: string, dataset: Dataset<unknown>): void {
  if (typeof dataset.get === "function") return;
  const message = "the dataset has getBatch() but no get(index), which this call needs.";
  fail("InvalidArgument", where, message);
}

/** Returns one sample. */
export function sampleOf<Sample>(
  where: string,
  dataset: Dataset<Sample, unknown>,
  index: number,
): Sample | Promise<Sample> {
  requireGet(where, dataset);
  return dataset.get(index);
}
