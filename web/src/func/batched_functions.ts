// eg.autograd.Function inside vmap().
//
// A Function defines its behavior on batches by a static method `vmap` or by `generateVmapRule`. With the latter, a second
// Function is derived from it that handles one batch dimension: it runs forward and backward of the original inside the level.
// The derived Function is applied at the enclosing level, where its tensors may be batches again.

import {
  Function as AutogradFunction,
  FunctionContext,
  type FunctionGradients,
  hasJvp,
} from "../autograd/function.js";
import { sumToSize } from "../composites/reshaping.js";
import { contiguous, movedim, sum } from "../generated/ops.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { BatchedTensor, isBatchedAt, type Level } from "./batched.js";
import { atLevel, repeatedFor } from "./levels.js";
import { spreadOver } from "./pytree.js";

/** The static methods of a subclass of autograd.Function. */
export interface FunctionType {
  readonly name: string;
  readonly onceDifferentiable?: boolean;
  readonly generateVmapRule?: boolean;
  forward(ctx: unknown, ...args: readonly unknown[]): unknown;
  backward(ctx: unknown, ...grads: readonly unknown[]): unknown;
  jvp(ctx: unknown, ...tangents: readonly unknown[]): unknown;
  vmap(info: unknown, inDims: unknown, ...args: readonly unknown[]): unknown;
}

/** Applies a Function to tensors of which some may be batches of a level. */
export function applyToBatches(fn: FunctionType, args: readonly unknown[], level: Level): unknown {
  const hasBatch = args.some((arg) => isBatchedAt(arg, level));
  return atLevel(level.outer, () => {
    if (!hasBatch) return applied(fn, args);
    const hasRule = fn.vmap !== (AutogradFunction.vmap as FunctionType["vmap"]);
    if (hasRule && fn.generateVmapRule === true) {
      failFor(
        fn,
        "has both a static vmap() and generateVmapRule = true, which contradict each other.",
      );
    }
    if (hasRule) return byOwnRule(fn, args, level);
    if (fn.generateVmapRule === true) return generated(fn, args, level);
    return failFor(
      fn,
      "has no rule for vmap(): define a static method vmap(info, inDims, ...args) or, if vmap() supports the operations in " +
        "its forward and backward, static generateVmapRule = true.",
    );
  });
}

function failFor({ name }: FunctionType, message: string): never {
  return fail("InvalidArgument", "vmap", `the Function ${name} ${message}`);
}

function applied(fn: unknown, args: readonly unknown[]): unknown {
  return (AutogradFunction.apply as (...args: unknown[]) => unknown).apply(fn, [...args]);
}

const innerOf = (value: unknown, level: Level): unknown =>
  isBatchedAt(value, level) ? value.shown : value;

function byOwnRule(fn: FunctionType, args: readonly unknown[], level: Level): unknown {
  const info = { batchSize: level.size, randomness: level.randomness };
  const inDims = args.map((arg) => (isBatchedAt(arg, level) ? 0 : null));
  const result = fn.vmap(info, inDims, ...args.map((arg) => innerOf(arg, level)));
  if (!Array.isArray(result) || result.length !== 2) {
    failFor(fn, `must return [output, outDims] from vmap(), got ${describe(result)}.`);
  }
  const [output, outDims] = result as [unknown, unknown];
  const outputs: readonly unknown[] = Array.isArray(output) ? output : [output];
  const dims = spreadOver("vmap", `outDims of ${fn.name}`, outDims, output);
  const batches = outputs.map((output, i) => {
    const dim = dims[i] ?? null;
    if (dim === null || !(output instanceof Tensor)) return output;
    const { ndim } = output;
    if (!Number.isInteger(dim) || (dim as number) < -ndim || (dim as number) >= ndim) {
      failFor(
        fn,
        `returned from vmap() the invalid outDims ${describe(dim)} for a result with ${ndim} dimensions.`,
      );
    }
    return new BatchedTensor(movedim(output, dim as number, 0), level);
  });
  return Array.isArray(output) ? batches : batches[0];
}

function generated(fn: FunctionType, args: readonly unknown[], level: Level): unknown {
  const rule = functionOfBatches(fn, args, level);
  const result = applied(
    rule.function,
    args.map((arg) => innerOf(arg, level)),
  );
  const outputs: readonly unknown[] = Array.isArray(result) ? result : [result];
  const batches = outputs.map((output, i) =>
    rule.isBatch[i] === true ? new BatchedTensor(output as Tensor, level) : output,
  );
  return Array.isArray(result) ? batches : batches[0];
}

// Derives the Function that takes whole batches. After its forward, `isBatch` tells which of its results are batches.
function functionOfBatches(fn: FunctionType, args: readonly unknown[], level: Level) {
  const isBatch: boolean[] = [];
  const asBatches = (values: readonly unknown[], which: readonly boolean[]) =>
    values.map((value, i) =>
      which[i] === true && value instanceof Tensor ? new BatchedTensor(value, level) : value,
    );
  const isBatchArg = args.map((arg) => isBatchedAt(arg, level));
  // Only the shapes, because the graph would keep the arguments alive.
  const shapes = args.map((arg) => (arg instanceof Tensor ? arg.shape : []));
  let own: ContextOfSamples;

  const tangentsOf = (_ctx: FunctionContext, ...tangents: Tensor[]): FunctionGradients => {
    const raw = atLevel(level, () =>
      own.inJvp(() => fn.jvp(own, ...asBatches(tangents, isBatchArg))),
    );
    return [raw].flat().map((grad, i) => {
      if (!(grad instanceof Tensor)) return grad;
      if (isBatchedAt(grad, level)) return grad.shown;
      return isBatch[i] === true ? contiguous(repeatedFor(grad, level)) : grad;
    }) as FunctionGradients;
  };

  class OfBatches extends AutogradFunction {
    static override readonly name = fn.name;
    static override readonly onceDifferentiable = fn.onceDifferentiable === true;
    static override readonly generateVmapRule = true;

    static override forward(ctx: FunctionContext, ...inner: unknown[]): unknown {
      const fixed = new Set<unknown>();
      own = new ContextOfSamples(ctx, level, fixed);
      const inputs = asBatches(inner, isBatchArg);
      const raw = atLevel(level, () => fn.forward(own, ...inputs));
      const outputs: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
      const results = outputs.map((output, i) => {
        isBatch[i] =
          output instanceof Tensor && (isBatchedAt(output, level) || !inner.includes(output));
        if (isBatch[i] !== true || isBatchedAt(output, level)) return innerOf(output, level);
        // Repeated because samples that share a result would each receive the gradient of all samples.
        return contiguous(repeatedFor(output as Tensor, level));
      });
      const marked = results.filter((_, i) => fixed.has(outputs[i])) as Tensor[];
      if (marked.length > 0) ctx.markNonDifferentiable(...marked);
      return Array.isArray(raw) ? results : results[0];
    }

    static override backward(_ctx: FunctionContext, ...grads: Tensor[]): FunctionGradients {
      const raw = atLevel(level, () => fn.backward(own, ...asBatches(grads, isBatch)));
      const list: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
      return list.map((grad, i) =>
        grad instanceof Tensor
          ? gradientOf(isBatchArg[i] === true, shapes[i] ?? [], grad, level)
          : grad,
      ) as FunctionGradients;
    }

    static override readonly jvp = hasJvp(fn) ? tangentsOf : AutogradFunction.jvp;
  }
  return { function: OfBatches, isBatch };
}

// Returns the gradient of an argument from the gradients of its samples; `shape` is that of a sample, or of the argument if it is
// the same for all samples.
function gradientOf(
  isBatch: boolean,
  shape: readonly number[],
  grad: Tensor,
  level: Level,
): Tensor {
  if (!isBatch) return isBatchedAt(grad, level) ? sum(grad.shown, 0) : grad;
  const reduced = isBroadcast(grad.shape, shape)
    ? atLevel(level, () => sumToSize(grad, shape))
    : grad;
  return isBatchedAt(reduced, level) ? reduced.shown : repeatedFor(reduced, level);
}

// True if a tensor can be summed to a shape by undoing broadcasting. The engine rejects other gradients of a wrong shape.
function isBroadcast(own: readonly number[], shape: readonly number[]): boolean {
  const extra = own.length - shape.length;
  if (String(own) === String(shape) || extra < 0) return false;
  return shape.every((size, d) => size === 1 || size === own[d + extra]);
}

// The context for forward and backward of a sample. It wraps the context of the batch and converts between samples and batches.
class ContextOfSamples extends FunctionContext {
  readonly #ctx: FunctionContext;
  readonly #level: Level;
  readonly #fixed: Set<unknown>;
  #isBatch: readonly boolean[] = [];
  #isBatchInJvp: readonly boolean[] = [];
  #isInJvp = false;

  /** Collects results without a gradient in `fixed`: some are turned into batches later, and only those are in the graph. */
  constructor(ctx: FunctionContext, level: Level, fixed: Set<unknown>) {
    super(kNoNode, 0);
    this.#ctx = ctx;
    this.#level = level;
    this.#fixed = fixed;
  }

  override saveForBackward(...tensors: (Tensor | null)[]): void {
    this.#isBatch = tensors.map((tensor) => isBatchedAt(tensor, this.#level));
    this.#ctx.saveForBackward(...this.#batchesOf(tensors));
  }

  override saveForForward(...tensors: (Tensor | null)[]): void {
    this.#isBatchInJvp = tensors.map((tensor) => isBatchedAt(tensor, this.#level));
    this.#ctx.saveForForward(...this.#batchesOf(tensors));
  }

  /** Runs `jvp` with the tensors of saveForForward(). */
  inJvp<T>(jvp: () => T): T {
    this.#isInJvp = true;
    try {
      return jvp();
    } finally {
      this.#isInJvp = false;
    }
  }

  override get savedTensors(): Tensor[] {
    const isBatch = this.#isInJvp ? this.#isBatchInJvp : this.#isBatch;
    return this.#ctx.savedTensors.map((tensor, i) =>
      tensor !== null && isBatch[i] === true ? new BatchedTensor(tensor, this.#level) : tensor,
    );
  }

  override markDirty(...tensors: Tensor[]): void {
    this.#ctx.markDirty(...this.#batchesOf(tensors));
  }

  override markNonDifferentiable(...tensors: Tensor[]): void {
    for (const tensor of tensors) this.#fixed.add(tensor);
  }

  override setMaterializeGrads(value: boolean): void {
    this.#ctx.setMaterializeGrads(value);
  }

  override get needsInputGrad(): boolean[] {
    return this.#ctx.needsInputGrad;
  }

  #batchesOf<T extends Tensor | null>(tensors: readonly T[]): T[] {
    return tensors.map((tensor) => innerOf(tensor, this.#level) as T);
  }
}

// Not used: every method calls the context of the batch.
const kNoNode = 0;
