// eg.func.vmap: a function of one sample becomes a function of a batch.
//
// How it works. Inside of vmap() a batch is a BatchedTensor: it holds the batch, with its dimension in front, and shows
// the shape of one sample. All calls of ops pass through one place, dispatch/call.ts, which hands them to an interpreter
// while a level of vmap() runs (interpret.ts). That one looks up the op's rule (rules/) and calls ops on the batches:
//
//   x.sum(0)  with x of samples [3, 4]   becomes   sum(batch, 1)   with a batch [B, 3, 4]
//
// The calls that a rule makes belong to the level around: there, their tensors may be batches again, whose rules are
// applied in turn. So a rule knows of one batch dimension only, and levels nest to any depth.
//
//   elementwise    operands broadcast, new dimensions between the batch and the sample     rules/elementwise.ts
//   dimensions     what is named `dim` moves on by one                                     rules/dims.ts
//   shapes         the size of the batch in front                                          rules/views.ts
//   products       matmul() and einsum() know batches                                      rules/matrix.ts
//   batched ops    two batches are folded into one                                         rules/folded.ts
//   convolutions   samples become groups, where weights differ                             rules/conv.ts
//   anything else  sample by sample, with one warning                                      interpret.ts
//
// Composites need no rules: their parts have them. Gradients need none either: the engine records what is done to the
// batches. A tensor that eg.func.grad() differentiates by inside of vmap() is repeated for every sample first
// (grad.ts), so each has a gradient of its own: one backward pass gives those of all samples.

import { type Arguments, isPlainObject, readArguments } from "../arguments/read.js";
import { count, functionOf, type Options, oneOf, unchecked } from "../arguments/rule.js";
import { cat, expand, movedim, narrow, unsqueeze } from "../generated/ops.js";
import { drawingFrom, drawingIsolated, generatorState } from "../ops/generator.js";
import { describe, fail } from "../runtime/errors.js";
import { isPromise } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import { BatchedTensor, isBatchedAt, type Level, type Randomness } from "./batched.js";
import { newLevel } from "./interpret.js";
import { atLevel } from "./levels.js";
import { leavesOf, mapTree, spreadOver, type Tree, withLeaves } from "./pytree.js";

/** A dimension for all tensors, or a tree of dimensions; null for what is the same for all samples. */
export type Dims = number | null | readonly Dims[] | { readonly [name: string]: Dims };

const kOptions = {
  /** The dimension of the batch in the arguments: one for all, or a list with one (or a tree of them) for each. */
  inDims: unchecked<Dims>().or(0),
  /** Where the results are to have the batch: one for all, or a tree of the form of the result. */
  outDims: unchecked<Dims>().or(0),
  /** What random ops do: fail, draw for every sample, or draw once for all. */
  randomness: oneOf("error", "different", "same").or("error"),
  /** Samples to compute at a time, which takes less memory; null for all. */
  chunkSize: count.orNull(),
};

/** Options of `vmap`. */
export type VmapOptions = Options<typeof kOptions>;

const kName = "vmap";
const kFunction = functionOf<(...args: never[]) => unknown>();

/**
 * Returns a function that applies `fn` to every sample of a batch at once: arguments have one dimension more, `inDims`,
 * and results too, `outDims`. `fn` sees single samples; it takes and returns tensors, or arrays and plain objects of
 * them. Ops without a rule run sample by sample, with a warning on the console.
 */
export function vmap<Args extends Tree[], Output extends Tree>(
  fn: (...args: Args) => Output,
  ...rest: Arguments<[inDims: Dims, outDims: Dims, randomness: Randomness], VmapOptions>
): (...args: Args) => Output {
  kFunction.check(kName, "fn", fn);
  const options = readArguments(kName, kOptions, rest);
  return (...args: Args) => {
    const leaves = leavesOf(args);
    const dims = inDimsOf(options.inDims, args, leaves);
    const size = batchSize(leaves, dims);
    const { chunkSize } = options;
    const run = (start: number, length: number) =>
      runLevel(fn, args, batchesOf(leaves, dims, start, length, size), {
        ...options,
        size: length,
      });
    if (chunkSize === null || chunkSize >= size) return run(0, size) as Output;
    const starts = Array.from({ length: Math.ceil(size / chunkSize) }, (_, i) => i * chunkSize);
    const drawn = options.randomness === "same" ? generatorState() : null;
    const chunks = starts.map((start) => {
      const runChunk = () => run(start, Math.min(chunkSize, size - start));
      // What is drawn once for all samples is drawn for the first of them.
      if (drawn === null) return runChunk();
      return start === 0 ? drawingIsolated(drawn, runChunk) : drawingFrom(drawn, runChunk);
    });
    drawn?.dispose();
    return joined(chunks, options.outDims) as Output;
  };
}

function inDimsOf(
  inDims: Dims,
  args: readonly unknown[],
  leaves: readonly unknown[],
): (number | null)[] {
  const dims = spreadOver(kName, "inDims", inDims, args);
  return dims.map((dim, i) => {
    const leaf = leaves[i];
    if (dim === null) return null;
    if (!(leaf instanceof Tensor)) {
      if (inDims === 0 || typeof inDims === "number") return null;
      fail(
        kCode,
        kName,
        `Got in_dim=${dim} for an input but the input is ${describe(leaf)}: use null for it.`,
      );
    }
    return checkedDim("inDims", dim, leaf.ndim);
  });
}

const kCode = "InvalidArgument";

function checkedDim(name: string, dim: unknown, ndim: number): number {
  if (!Number.isInteger(dim)) {
    fail(kCode, kName, `${name}: expected whole numbers or null, got ${describe(dim)}.`);
  }
  const number = dim as number;
  if (number >= -ndim && number < ndim) return number < 0 ? number + ndim : number;
  fail(
    "IndexOutOfRange",
    kName,
    `Got ${name}=${dim} for a tensor of dimensionality ${ndim}, so expected it to satisfy -${ndim} <= dim < ${ndim}.`,
  );
}

function batchSize(leaves: readonly unknown[], dims: readonly (number | null)[]): number {
  const sizes = dims.flatMap((dim, i) =>
    dim === null ? [] : [(leaves[i] as Tensor).shape[dim] ?? 0],
  );
  const [size] = sizes;
  if (size === undefined) {
    fail(
      kCode,
      kName,
      "at least one input must be a tensor with a batch dimension: inDims names none.",
    );
  }
  if (sizes.every((one) => one === size)) return size;
  fail(
    "ShapeMismatch",
    kName,
    `Expected all tensors to have the same size in the mapped dimension, got sizes [${sizes}] for the mapped dimension.`,
  );
}

// The leaves with the batch in front, and which of them have one.
function batchesOf(
  leaves: readonly unknown[],
  dims: readonly (number | null)[],
  start: number,
  length: number,
  size: number,
): (unknown | { readonly batch: Tensor })[] {
  return leaves.map((leaf, i) => {
    const dim = dims[i] ?? null;
    if (dim === null) return leaf;
    const front = dim === 0 ? (leaf as Tensor) : movedim(leaf as Tensor, dim, 0);
    return new Batch(length === size ? front : narrow(front, 0, start, length));
  });
}

class Batch {
  constructor(readonly tensor: Tensor) {}
}

interface Run {
  readonly size: number;
  readonly randomness: Level["randomness"];
  readonly outDims: Dims;
}

function runLevel(
  fn: (...args: never[]) => unknown,
  args: readonly unknown[],
  leaves: readonly unknown[],
  { size, randomness, outDims }: Run,
): unknown {
  const level = newLevel(size, randomness);
  const inputs = leaves.map((leaf) =>
    leaf instanceof Batch ? new BatchedTensor(leaf.tensor, level) : leaf,
  );
  const result = atLevel(level, () => fn(...(withLeaves(args, inputs) as never[])));
  if (isPromise(result)) {
    result.then(undefined, () => undefined);
    fail(kCode, kName, "the function returned a promise: only synchronous ones can be mapped.");
  }
  const places = spreadOver(kName, "outDims", outDims, result);
  let next = 0;
  return mapTree(result, (leaf) => unwrapped(leaf, level, places[next++]));
}

// A result with its batch where it is wanted; what does not depend on the samples is repeated.
function unwrapped(leaf: unknown, level: Level, place: unknown): Tensor {
  if (!(leaf instanceof Tensor)) {
    fail(kCode, kName, `the function must only return Tensors, got ${describe(leaf)}.`);
  }
  const isBatched = isBatchedAt(leaf, level);
  if (place === null) {
    if (!isBatched) return leaf;
    fail(kCode, kName, "can not return a BatchedTensor when out_dim is null.");
  }
  const batch = isBatched ? leaf.shown : expand(unsqueeze(leaf, 0), [level.size, ...leaf.shape]);
  const dim = checkedDim("outDims", place, batch.ndim);
  return dim === 0 ? batch : movedim(batch, 0, dim);
}

function joined(chunks: readonly unknown[], outDims: Dims): unknown {
  const [first] = chunks;
  const places = spreadOver(kName, "outDims", outDims, first);
  const lists = chunks.map(leavesOf) as Tensor[][];
  const leaves = places.map((place, k) => {
    const parts = lists.map((list) => list[k] as Tensor);
    return place === null ? parts[0] : cat(parts, place as number);
  });
  return isPlainObject(first) || Array.isArray(first) ? withLeaves(first, leaves) : leaves[0];
}
