// One call of an op with a batch among its tensors, as the rules see it.

import { listOf } from "../../arguments/rule.js";
import { callOp } from "../../dispatch/call.js";
import { Kind, type Op, type Parameter, usageOf } from "../../dispatch/signature.js";
import { expand, reshape, unsqueeze } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import { Tensor } from "../../tensor/tensor.js";
import { isBatchedAt, type Level } from "../batched.js";

/** What an op returns. */
export type Result = Tensor | Tensor[];

/** Computes a call for the whole batch; the results have it along their first dimension. null: there is no such way. */
export type Rule = (call: Call) => Result | null;

/** A tensor of a call: `tensor` has the batch along its first dimension when `isBatched`. */
export interface Operand {
  readonly tensor: Tensor;
  readonly isBatched: boolean;
  /** Dimensions of one sample. */
  readonly rank: number;
}

/** A call of an op inside of a level of vmap(). Its tensors belong to the levels around it. */
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
      return fail("InvalidArgument", op.name, `it is called as ${usageOf(op)}.`);
    });
  }

  /** Samples in the batch. */
  get size(): number {
    return this.level.size;
  }

  /** Returns the value of a parameter. */
  value<T = unknown>(name: string): T {
    return this.values[this.op.parameters.findIndex((parameter) => parameter.name === name)] as T;
  }

  /** Returns a tensor that was given, or null. */
  operand(name: string): Operand | null {
    const value = this.value(name);
    return value instanceof Tensor ? this.operandOf(value) : null;
  }

  /** Returns what a tensor of the call stands for. */
  operandOf(value: Tensor): Operand {
    return isBatchedAt(value, this.level)
      ? { tensor: value.shown, isBatched: true, rank: value.ndim }
      : { tensor: value, isBatched: false, rank: value.ndim };
  }

  /** Returns the dimensions of a sample of a tensor. */
  rank(name: string): number {
    return this.operand(name)?.rank ?? 0;
  }

  /** True when a tensor was given and is batched. */
  isBatched(name: string): boolean {
    return this.operand(name)?.isBatched === true;
  }

  /** Returns a tensor with the batch in front: as often as there are samples, where it is the same for all. */
  batch(name: string): Tensor {
    return this.batchOf(this.value(name));
  }

  /** Like batch(), for a value. */
  batchOf(value: Tensor): Tensor {
    const { tensor, isBatched } = this.operandOf(value);
    return isBatched ? tensor : expand(unsqueeze(tensor, 0), [this.size, ...tensor.shape]);
  }

  /** Runs the op with other values for some parameters; the others have to be without a batch. */
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

// Rules look at tensors before the engine does.
function checkTensors(op: Op, { name, kind }: Parameter, value: unknown): void {
  if (kind === Kind.Tensor) tensorRule.check(op.name, name, value);
  else if (kind === Kind.Tensors) kTensors.check(op.name, name, value);
  else if (kind === Kind.OptionalTensor && value !== null) tensorRule.check(op.name, name, value);
}

const kTensors = /* @__PURE__ */ listOf(tensorRule);

/** Gives the samples of a batch `rank` dimensions, new ones in front. */
export function withRank(batch: Tensor, rank: number): Tensor {
  const missing = rank - (batch.ndim - 1);
  if (missing <= 0) return batch;
  const { shape } = batch;
  return reshape(batch, [...shape.slice(0, 1), ...new Array(missing).fill(1), ...shape.slice(1)]);
}

/** An operand that broadcasts with others of `rank`, dimensions of the batch apart. */
export function broadcastable({ tensor, isBatched }: Operand, rank: number): Tensor {
  return isBatched ? withRank(tensor, rank) : tensor;
}

/** Applies `fn` to the result, or to each. */
export function eachResult(result: Result, fn: (tensor: Tensor) => Tensor): Result {
  return Array.isArray(result) ? result.map(fn) : fn(result);
}

/** Whole numbers from `start` to before `end`. */
export function range(start: number, end: number): number[] {
  return Array.from({ length: Math.max(end - start, 0) }, (_, i) => start + i);
}
