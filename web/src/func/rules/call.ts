// A call of an op with a batch among its tensors, in the form that rules use.

import { listOf } from "../../arguments/rule.js";
import { callOp } from "../../dispatch/call.js";
import { Kind, type Op, type Parameter, usageOf } from "../../dispatch/signature.js";
import { expand, reshape, unsqueeze } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import { Tensor } from "../../tensor/tensor.js";
import { isBatchedAt, type Level } from "../batched.js";

/** The result of an op. */
export type Result = Tensor | Tensor[];

/** Computes a call for the whole batch, which is the first dimension of the results. Returns null if it cannot. */
export type Rule = (call: Call) => Result | null;

/** A tensor argument of a call. If `isBatched`, the first dimension of `tensor` is the batch. */
export interface Operand {
  readonly tensor: Tensor;
  readonly isBatched: boolean;
  /** The number of dimensions of one sample. */
  readonly rank: number;
}

/** A call of an op inside a level of vmap(). Its tensors belong to the enclosing levels. */
export class Call {
  readonly values: readonly unknown[];

  constructor(
    readonly op: Op,
    given: readonly unknown[],
    readonly level: Level,
  ) {
    this.values = op.parameters.map((parameter, i) => {
      const value = i < given.length ? given[i] : parameter.defaultValue;
      checkTensors(op, parameter, value);
      if (value !== undefined || !parameter.isRequired) return value;
      return fail(
        "InvalidArgument",
        op.name,
        `an argument is missing: it is called as ${usageOf(op)}.`,
      );
    });
  }

  /** The number of samples in the batch. */
  get size(): number {
    return this.level.size;
  }

  /** Returns the value of a parameter. */
  value<T = unknown>(name: string): T {
    return this.values[this.op.parameters.findIndex((parameter) => parameter.name === name)] as T;
  }

  /** Returns a tensor argument, or null if it is not a tensor. */
  operand(name: string): Operand | null {
    const value = this.value(name);
    return value instanceof Tensor ? this.operandOf(value) : null;
  }

  /** Returns the operand that a tensor of the call represents. */
  operandOf(value: Tensor): Operand {
    return isBatchedAt(value, this.level)
      ? { tensor: value.shown, isBatched: true, rank: value.ndim }
      : { tensor: value, isBatched: false, rank: value.ndim };
  }

  /** Returns the number of dimensions of a sample of a tensor argument. */
  rank(name: string): number {
    return this.operand(name)?.rank ?? 0;
  }

  /** True if an argument is a batched tensor. */
  isBatched(name: string): boolean {
    return this.operand(name)?.isBatched === true;
  }

  /** Returns a tensor argument with the batch in front; repeats it if it is the same for all samples. */
  batch(name: string): Tensor {
    return this.batchOf(this.value(name));
  }

  /** Like batch(), but takes the tensor. */
  batchOf(value: Tensor): Tensor {
    const { tensor, isBatched } = this.operandOf(value);
    return isBatched ? tensor : expand(unsqueeze(tensor, 0), [this.size, ...tensor.shape]);
  }

  /** Runs the op with some parameters replaced; all others must not be batched. */
  run(changes: Readonly<Record<string, unknown>> = {}): Result {
    const values = this.op.parameters.map(({ name }, i) =>
      Object.hasOwn(changes, name) ? changes[name] : this.values[i],
    );
    return callOp(this.op, values);
  }

  /** Like run(), for an op with one result. */
  runOne(changes: Readonly<Record<string, unknown>> = {}): Tensor {
    return this.run(changes) as Tensor;
  }
}

// Checked here because rules use the tensors before the engine checks them.
function checkTensors(op: Op, { name, kind }: Parameter, value: unknown): void {
  if (kind === Kind.Tensor) tensorRule.check(op.name, name, value);
  else if (kind === Kind.Tensors) kTensors.check(op.name, name, value);
  else if (kind === Kind.OptionalTensor && value !== null) tensorRule.check(op.name, name, value);
}

const kTensors = /* @__PURE__ */ listOf(tensorRule);

/** Extends the samples of a batch to `rank` dimensions, with new ones in front. */
export function withRank(batch: Tensor, rank: number): Tensor {
  const missing = rank - (batch.ndim - 1);
  if (missing <= 0) return batch;
  const { shape } = batch;
  return reshape(batch, [...shape.slice(0, 1), ...new Array(missing).fill(1), ...shape.slice(1)]);
}

/** Returns an operand that broadcasts with others whose samples have `rank` dimensions. */
export function broadcastable({ tensor, isBatched }: Operand, rank: number): Tensor {
  return isBatched ? withRank(tensor, rank) : tensor;
}

/** Applies `fn` to a result, or to each of several. */
export function eachResult(result: Result, fn: (tensor: Tensor) => Tensor): Result {
  return Array.isArray(result) ? result.map(fn) : fn(result);
}

/** Returns the whole numbers from `start` up to but excluding `end`. */
export function range(start: number, end: number): number[] {
  return Array.from({ length: Math.max(end - start, 0) }, (_, i) => start + i);
}
