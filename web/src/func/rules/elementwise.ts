// Rules for elementwise ops, whose operands are broadcast sample by sample.

import { callInPlace } from "../../dispatch/call.js";
import { toDtype } from "../../generated/internal.js";
import { unsqueeze } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { DType } from "../../tensor/dtype.js";
import { Tensor } from "../../tensor/tensor.js";
import { broadcastable, type Call, type Operand, type Result, range, withRank } from "./call.js";

/** The rule of elementwise ops. */
export function elementwise(call: Call): Result {
  return call.run(aligned(call));
}

/** Runs an elementwise op in place; `target`, the first value, is batched. */
export function elementwiseInPlace(call: Call, target: Tensor, flags: number): void {
  const { rank } = call.operandOf(target);
  const changes = aligned(call);
  const other = operandsOf(call).find((operand) => operand.rank > rank);
  if (other !== undefined) {
    fail(
      "ShapeMismatch",
      call.op.name,
      "the tensor to write to has fewer dimensions than the result.",
    );
  }
  const values = call.op.parameters.map(({ name }, i) => changes[name] ?? call.values[i]);
  callInPlace(call.op, values, flags);
}

/** Returns the tensors of a call by parameter name, with shapes that broadcast with each other. */
function aligned(call: Call): Record<string, unknown> {
  const operands = operandsOf(call);
  const rank = Math.max(...operands.map((operand) => operand.rank));
  const changes: Record<string, unknown> = {};
  call.op.parameters.forEach(({ name }, i) => {
    const value = call.values[i];
    if (!(value instanceof Tensor)) return;
    changes[name] = alignedOperand(call.operandOf(value), rank, operands);
  });
  return changes;
}

function operandsOf(call: Call): Operand[] {
  return call.values
    .filter((value) => value instanceof Tensor)
    .map((value) => call.operandOf(value));
}

// Tensors without dimensions have lower priority in dtype promotion; a batch of them must behave the same way.
function alignedOperand(operand: Operand, rank: number, all: readonly Operand[]): Tensor {
  const { tensor, isBatched } = operand;
  if (operand.rank > 0) return broadcastable(operand, rank);
  if (rank === 0) return isBatched ? tensor : unsqueeze(tensor, 0);
  if (!isBatched) return tensor;
  const wide = all.find(
    (operand) => operand.rank > 0 && kindOf(operand.tensor.dtype) >= kindOf(tensor.dtype),
  );
  const isConverted = wide !== undefined && wide.tensor.dtype !== tensor.dtype;
  return withRank(isConverted ? toDtype(tensor, wide.tensor.dtype) : tensor, rank);
}

// Returns the rank of a dtype in the order of promotion: bool, integer, floating point, complex.
function kindOf(dtype: DType): number {
  if (dtype === "bool") return 0;
  if (dtype.startsWith("complex")) return 3;
  return dtype.includes("float") ? 2 : 1;
}

/** Like elementwise(), for ops whose tensors must all have the batch dimension: they are repeated for every sample. */
export function repeated(call: Call, others: Readonly<Record<string, unknown>> = {}): Result {
  const ranks = operandsOf(call).map((operand) => operand.rank);
  const rank = Math.max(...ranks);
  const changes: Record<string, unknown> = { ...others };
  call.op.parameters.forEach(({ name }, i) => {
    const value = call.values[i];
    if (value instanceof Tensor) changes[name] = withRank(call.batchOf(value), rank);
  });
  return call.run(changes);
}

/** The rule of losses of pairs of elements: computes them element by element, then reduces each sample. */
export function elementwiseLoss(call: Call): Result {
  const losses = repeated(call, { reduction: "none" }) as Tensor;
  return reduceSamples(losses, call.value("reduction"));
}

/** Reduces the losses of every sample according to `reduction`. */
export function reduceSamples(losses: Tensor, reduction: string): Tensor {
  const dims = range(1, losses.ndim);
  if (reduction === "none" || dims.length === 0) return losses;
  if (reduction === "mean") return losses.mean(dims);
  const sum = losses.sum(dims);
  return reduction === "batchmean" ? sum.div(losses.shape[1] ?? 1) : sum;
}
