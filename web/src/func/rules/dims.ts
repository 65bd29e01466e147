// Rules for ops with `dim` parameters: the dimensions of a sample come after the batch dimension.

import {
  amax,
  amin,
  flatten,
  maximum,
  minimum,
  reshape,
  squeeze,
  unsqueeze,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import { broadcastable, type Call, eachResult, type Operand, type Result, range } from "./call.js";

const kDimNames: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "dim",
  "dims",
  "dim0",
  "dim1",
  "dim2",
  "axis0",
  "axis1",
  "startDim",
  "endDim",
  "dimension",
  "source",
  "destination",
]);

/** Returns the dimension of the batch that corresponds to a dimension of samples with `rank` dimensions. */
export function shiftDim(where: string, dim: unknown, rank: number): unknown {
  if (!Number.isInteger(dim)) return dim;
  const size = Math.max(rank, 1);
  const number = dim as number;
  if (number >= -size && number < size) return 1 + (number < 0 ? number + size : number);
  fail(
    "IndexOutOfRange",
    where,
    `dim: expected a dimension in [${-size}, ${size - 1}], got ${dim}.`,
  );
}

/** Like shiftDim(), for one dimension or an array of them. */
export function shiftDims(where: string, dims: unknown, rank: number): unknown {
  return Array.isArray(dims)
    ? dims.map((dim) => shiftDim(where, dim, rank))
    : shiftDim(where, dims, rank);
}

/** The rule of ops whose only special parameters are dimensions, and whose tensors have the same number of dimensions. */
export function shifted(call: Call): Result {
  const rank = firstRank(call);
  const isScalar = rank === 0;
  // A sample without dimensions is treated as a vector with one element.
  const batchOf = (value: Tensor) => {
    const batch = call.batchOf(value);
    return isScalar && batch.ndim === 1 ? unsqueeze(batch, 1) : batch;
  };
  const changes: Record<string, unknown> = {};
  call.op.parameters.forEach(({ name }, i) => {
    const value = call.values[i];
    if (value instanceof Tensor) changes[name] = batchOf(value);
    else if (isTensorList(value)) changes[name] = value.map(batchOf);
    else if (kDimNames.has(name)) changes[name] = shiftDims(call.op.name, value, rank);
  });
  const result = call.run(changes);
  if (!isScalar) return result;
  return eachResult(result, (tensor) => (tensor.ndim > 1 ? squeeze(tensor, 1) : tensor));
}

function isTensorList(value: unknown): value is Tensor[] {
  return Array.isArray(value) && value[0] instanceof Tensor;
}

function firstRank(call: Call): number {
  const first = call.values.flat().find((value) => value instanceof Tensor) as Tensor;
  return call.operandOf(first).rank;
}

/** The rule of reductions over some dimensions, or over all dimensions of a sample if none are given. */
export function reduction(call: Call): Result {
  const dims = call.value("dim");
  const rank = call.rank("input");
  const isWhole = dims === null || (Array.isArray(dims) && dims.length === 0);
  if (!isWhole) return shifted(call);
  const batch = call.batch("input");
  if (rank === 0) return call.run({ input: unsqueeze(batch, 1), dim: [1], keepdim: false });
  return call.run({ input: batch, dim: range(1, rank + 1) });
}

/** The rule of ops along one dimension, or over all elements of a sample if none is given. */
export function alongOne(call: Call): Result {
  if (call.value("dim") !== null) return shifted(call);
  const batch = call.batch("input");
  const result = call.run({ input: reshape(batch, [call.size, countOf(batch)]), dim: 1 });
  if (call.value("keepdim") !== true) return result;
  const ones = new Array(call.rank("input")).fill(1);
  return eachResult(result, (tensor) => reshape(tensor, [call.size, ...ones]));
}

/** Returns the number of elements of one sample. */
export function countOf(batch: Tensor): number {
  return batch.shape.slice(1).reduce((product, size) => product * size, 1);
}

/** Returns the rule of max() or min(), each of which has three forms. */
export function extremum(name: "max" | "min") {
  return (call: Call): Result => {
    const dim = call.value("dim");
    if (dim instanceof Tensor) {
      const pair = [call.operand("input"), call.operand("dim")] as [Operand, Operand];
      const rank = Math.max(pair[0].rank, pair[1].rank);
      const [a, b] = pair.map((operand) => broadcastable(operand, rank)) as [Tensor, Tensor];
      return (name === "max" ? maximum : minimum)(a, b);
    }
    if (dim !== null) return shifted(call);
    const flat = flatten(unsqueeze(call.batch("input"), -1), 1);
    return (name === "max" ? amax : amin)(flat, 1);
  };
}

/** The rule of median() and nanmedian(), which return no indices if no dimension is given. */
export function middle(call: Call): Result {
  const result = alongOne(call);
  return call.value("dim") === null ? ((result as Tensor[])[0] as Tensor) : result;
}
