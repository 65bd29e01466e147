// Runs the calls of ops inside vmap(): a call with a batch among its tensors is rewritten as calls on tensors with one more
// dimension, which belong to the enclosing level. See vmap.ts for an overview.

import { makeDual, unpackDual } from "../autograd/forward_ad.js";
import type { GradCall } from "../autograd/run.js";
import { callInPlace, callOp, invoke, invokeInPlace } from "../dispatch/call.js";
import { interpreter } from "../dispatch/interpreter.js";
import type { Op } from "../dispatch/signature.js";
import { contiguous, copy_, detach, select, stack } from "../generated/ops.js";
import { emptyToDraw, repeatedLike } from "../ops/samples.js";
import { fail } from "../runtime/errors/errors.js";
import { ownResult } from "../tensor/own_result.js";
import { Tensor } from "../tensor/tensor.js";
import {
  BatchedTensor,
  isBatchedAt,
  type Level,
  type LevelInterpreter,
  physicalOf,
  type Randomness,
} from "./batched.js";
import { applyToBatches, type FunctionType } from "./batched_functions.js";
import { gradientsOfBatch } from "./batched_gradients.js";
import { hookOfBatch } from "./batched_hooks.js";
import { atLevel, currentLevel, repeatedFor } from "./levels.js";
import { Call, type Result } from "./rules/call.js";
import { elementwiseInPlace } from "./rules/elementwise.js";
import { isElementwise, ruleOf } from "./rules/index.js";
import { drawInto, isRandomFill, type RandomRule, randomRule } from "./rules/random.js";

/** Returns a new level of vmap() inside the running one. */
export function newLevel(size: number, randomness: Randomness): Level {
  return new BatchInterpreter(size, randomness, currentLevel()).level;
}

class BatchInterpreter implements LevelInterpreter {
  readonly level: Level;

  constructor(size: number, randomness: Randomness, outer: Level | null) {
    this.level = { size, randomness, outer, interpreter: this };
  }

  call(op: Op, values: readonly unknown[], flags: number | null): unknown {
    const { level } = this;
    return atLevel(level.outer, () => {
      if (flags !== null) return inPlace(op, values, flags, level);
      return ownResult(values, () => functional(op, values, level));
    });
  }

  apply(fn: unknown, args: readonly unknown[]): unknown {
    return applyToBatches(fn as FunctionType, args, this.level);
  }

  hooked(tensor: Tensor, hook: (grad: Tensor) => unknown) {
    return hookOfBatch(tensor, hook, this.level);
  }

  makeDual(primal: Tensor, tangent: Tensor): Tensor {
    const { level } = this;
    return atLevel(level.outer, () => {
      if (!isBatchedAt(primal, level) && !isBatchedAt(tangent, level)) {
        return makeDual(primal, tangent);
      }
      const [value, direction] = [primal, tangent].map((part) => {
        // Tangents of elements that overlap would be one.
        if (!isBatchedAt(part, level)) return contiguous(repeatedFor(part, level));
        return part.shown;
      });
      return new BatchedTensor(makeDual(value as Tensor, direction as Tensor), level);
    });
  }

  unpackDual(tensor: Tensor) {
    const { level } = this;
    return atLevel(level.outer, () => {
      if (!isBatchedAt(tensor, level)) return unpackDual(tensor);
      const { primal, tangent } = unpackDual(tensor.shown);
      return {
        primal: new BatchedTensor(primal, level),
        tangent: tangent === null ? null : new BatchedTensor(tangent, level),
      };
    });
  }

  gradients(call: GradCall): (Tensor | null)[] {
    return gradientsOfBatch(call, this.level);
  }

  physical(tensor: Tensor): Tensor {
    return physicalOf(tensor);
  }

  emptyToDraw(shape: readonly number[], like: Tensor): Tensor {
    const { size, randomness, outer } = this.level;
    const isBatch = randomness === "different";
    const inner = atLevel(outer, () => emptyToDraw(isBatch ? [size, ...shape] : shape, like));
    return isBatch ? new BatchedTensor(inner, this.level) : inner;
  }

  repeatedLike(made: Tensor, like: Tensor): Tensor {
    const { level } = this;
    return atLevel(level.outer, () => {
      if (!isBatchedAt(like, level)) return repeatedLike(made, like);
      const inner = repeatedLike(made, like.shown);
      const batch = contiguous(repeatedFor(detach(inner), level));
      batch.requiresGrad = made.requiresGrad;
      return new BatchedTensor(batch, level);
    });
  }
}

// If no tensor is batched at this level, the call is passed to the enclosing level unchanged.
function functional(op: Op, values: readonly unknown[], level: Level): unknown {
  const hasBatch = values.some((value) => holdsBatch(value, level));
  const call = new Call(op, values, level);
  const drawing = randomRule(call);
  if (drawing !== null) return random(call, drawing, hasBatch);
  if (!hasBatch) return interpreter === null ? invoke(op, values) : callOp(op, values);
  return batched(ruleOf(op)?.(call) ?? loop(call, null), level);
}

function random(call: Call, rule: RandomRule, hasBatch: boolean): unknown {
  if (call.level.randomness === "different") {
    return batched(rule.different(call) ?? loop(call, null), call.level);
  }
  if (!hasBatch) return callOp(call.op, call.values);
  const result = rule.same?.(call) as Tensor;
  // An op that only uses the shape of its input returns the same for all samples.
  return result.ndim === call.rank("input") ? result : batched(result, call.level);
}

function batched(result: Result, level: Level): Result {
  return Array.isArray(result)
    ? result.map((part) => new BatchedTensor(part, level))
    : new BatchedTensor(result, level);
}

function holdsBatch(value: unknown, level: Level): boolean {
  return Array.isArray(value)
    ? value.some((item) => isBatchedAt(item, level))
    : isBatchedAt(value, level);
}

// In-place ops that change the shape of their tensor.
const kReshaping: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "squeeze",
  "unsqueeze",
  "transpose",
  "swapaxes",
  "t",
]);

// In-place ops that overwrite their tensor with another operand.
const kAssigning: ReadonlySet<string> = /* @__PURE__ */ new Set(["copy_", "fill_"]);

function inPlace(op: Op, values: readonly unknown[], flags: number, level: Level): unknown {
  const target = values[0];
  if (isRandomFill(op.name)) drawInto(new Call(op, values, level), flags);
  else if (isBatchedAt(target, level)) changeBatch(op, target, values, flags, level);
  else if (values.some((value) => holdsBatch(value, level))) failToWrite(op);
  else if (interpreter === null) invokeInPlace(op, values, flags);
  else callInPlace(op, values, flags);
  return target;
}

function changeBatch(
  op: Op,
  target: BatchedTensor,
  values: readonly unknown[],
  flags: number,
  level: Level,
): void {
  const name = op.name.replace(/_$/, "");
  const call = new Call(op, values, level);
  if (op.name === "zero_") callInPlace(op, [target.shown], flags);
  else if (kAssigning.has(op.name)) assign(call, target, values[1]);
  else if (isElementwise(op)) elementwiseInPlace(call, target, flags);
  else {
    const result = ruleOf({ ...op, name })?.(call) ?? null;
    if (result === null) loop(call, flags);
    else if (kReshaping.has(name)) target.shown = result as Tensor;
    else copy_(target.shown, result as Tensor);
  }
}

function assign(call: Call, target: BatchedTensor, source: unknown): void {
  if (source instanceof Tensor && isBatchedAt(source, call.level)) {
    const { shape } = source.shown;
    const missing = Math.max(target.ndim - source.ndim, 0);
    const full = [...shape.slice(0, 1), ...new Array(missing).fill(1), ...shape.slice(1)];
    copy_(target.shown, source.shown.reshape(full));
  } else {
    callInPlace(call.op, [target.shown, source], kInPlaceFlags);
  }
}

// copy_() and fill_() ignore the flags.
const kInPlaceFlags = 0;

function failToWrite(op: Op): never {
  fail(
    "InvalidArgument",
    "vmap",
    `${op.name} cannot write values that differ by sample into a tensor that is the same for all samples. Write into a ` +
      "batched tensor, for example zerosLike() of one.",
  );
}

// Runs a call for each sample separately.
function loop(call: Call, flags: number | null): Result {
  warnOfLoop(call.op.name);
  const results = Array.from({ length: call.size }, (_, i) => {
    const values = call.values.map((value) =>
      Array.isArray(value)
        ? value.map((item) => sampleOf(call, item, i))
        : sampleOf(call, value, i),
    );
    return flags === null ? callOp(call.op, values) : callInPlace(call.op, values, flags);
  });
  if (flags !== null) return [];
  return stacked(call, results as Result[]);
}

function stacked(call: Call, results: readonly Result[]): Result {
  const [first] = results;
  if (first === undefined) {
    fail("InvalidArgument", "vmap", `${call.op.name} cannot run on a batch of size 0.`);
  }
  if (!Array.isArray(first)) return stack(results as Tensor[]);
  return first.map((_, k) => stack(results.map((result) => (result as Tensor[])[k] as Tensor)));
}

function sampleOf(call: Call, value: unknown, i: number): unknown {
  return isBatchedAt(value, call.level) ? select(value.shown, 0, i) : value;
}

const warned = new Set<string>();

function warnOfLoop(name: string): void {
  if (warned.has(name)) return;
  warned.add(name);
  console.warn(
    `edgegrad: vmap() has no rule for this call of ${name} and runs it sample by sample, which is slow. ` +
      "(This warning appears once per op.)",
  );
}
