// What a DataLoader draws from.

import { integer, listOf } from "../arguments/rule.js";
import { indexSelect, select, stack } from "../generated/ops.js";
import { fromElements } from "../ops/create.js";
import { fail, refusal } from "../runtime/errors.js";
import { tensorRule } from "../tensor/rules.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";

/** Samples by position. */
export interface Dataset<Sample> {
  /** The number of samples. */
  readonly length: number;
  /** Returns one sample. */
  get(index: number): Sample;
  /** Returns many samples as one batch; without it, the samples are stacked. */
  getBatch?(indices: readonly number[]): Sample;
}

/** Throws InvalidArgument for what is no dataset. */
export function checkDataset(where: string, value: unknown): void {
  const { get, getBatch } = (value ?? {}) as Partial<Dataset<unknown>>;
  if (typeof get === "function" || typeof getBatch === "function") return;
  const expected = "an object with length and get(index), as TensorDataset is";
  fail("InvalidArgument", where, refusal("dataset", expected, value));
}

/** Samples that are the rows of tensors of equal length. */
export class TensorDataset implements Dataset<Tensor[]> {
  /** The tensors whose rows are the samples. */
  readonly tensors: readonly Tensor[];
  readonly length: number;

  constructor(...tensors: Tensor[]) {
    const checked = tensors.map((tensor) => tensorRule.check("TensorDataset", "tensors", tensor));
    const lengths = checked.map((tensor) => tensor.shape[0]);
    const [length] = lengths;
    if (length === undefined) {
      fail("InvalidArgument", "TensorDataset", "expected tensors of at least one dimension.");
    }
    if (lengths.some((other) => other !== length)) {
      fail("ShapeMismatch", "TensorDataset", `Size mismatch between tensors: lengths ${lengths}.`);
    }
    this.tensors = tensors;
    this.length = length;
  }

  get(index: number): Tensor[] {
    return this.tensors.map((tensor) => select(tensor, 0, index));
  }

  getBatch(indices: readonly number[]): Tensor[] {
    const list = listOf(integer).check("TensorDataset", "indices", indices);
    return scope(() => {
      const positions = fromElements("int64", [list.length], BigInt64Array.from(list, BigInt));
      return this.tensors.map((tensor) => indexSelect(tensor, 0, positions.to(tensor.device)));
    });
  }
}

/** Returns the samples at `indices` as one batch: tensors are stacked, in arrays and objects too. */
export function batchOf<Sample>(dataset: Dataset<Sample>, indices: readonly number[]): Sample {
  if (dataset.getBatch !== undefined) return dataset.getBatch(indices);
  return collate(indices.map((index) => dataset.get(index))) as Sample;
}

function collate(samples: readonly unknown[]): unknown {
  const [first] = samples;
  if (first instanceof Tensor) return stack(samples as Tensor[], 0);
  if (typeof first === "number") return numbers(samples as number[]);
  if (Array.isArray(first)) {
    return first.map((_, i) => collate((samples as unknown[][]).map((sample) => sample[i])));
  }
  if (typeof first === "object" && first !== null) {
    const keys = Object.keys(first);
    const rows = samples as Record<string, unknown>[];
    return Object.fromEntries(keys.map((key) => [key, collate(rows.map((row) => row[key]))]));
  }
  return samples;
}

// Whole numbers are class numbers, as in PyTorch.
function numbers(values: readonly number[]): Tensor {
  if (!values.every(Number.isSafeInteger)) {
    return fromElements("float32", [values.length], Float32Array.from(values));
  }
  return fromElements("int64", [values.length], BigInt64Array.from(values, BigInt));
}
