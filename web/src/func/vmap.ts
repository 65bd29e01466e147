// eg.func.vmap: turns a function of one sample into a function of a batch.
//
// Inside vmap() a batch is a BatchedTensor: it holds the batch, whose dimension comes first, but reports
// the shape of one sample. All calls of ops pass through dispatch/call.ts, which forwards them to an interpreter
// while a level of vmap() runs (interpret.ts). The interpreter looks up the op's rule (rules/), which calls ops on the batches:
//
//   x.sum(0)  with x of samples [3, 4]   becomes   sum(batch, 1)   with a batch [B, 3, 4]
//
// The calls that a rule makes belong to the enclosing level: there, their tensors may be batches again, whose rules are
// applied in turn. So each rule handles only one batch dimension, and levels can be nested to any depth.
//
//   elementwise    broadcast operands, with new dimensions between the batch and the sample  rules/elementwise.ts
//   dimensions     increase every `dim` by one                                               rules/dims.ts
//   shapes         prepend the size of the batch                                             rules/views.ts
//   products       matmul() and einsum() support batches                                     rules/matrix.ts
//   batched ops    fold two batch dimensions into one                                        rules/folded.ts
//   convolutions   turn samples into groups where the weights differ                         rules/conv.ts
//   anything else  run each sample separately, with one warning                              interpret.ts
//
// Composites need no rules because their parts have them. Gradients need none either: the engine records the operations on the
// batches. A tensor that eg.func.grad() differentiates with respect to inside vmap() is first repeated for every sample
// (gradients.ts), so each sample has a separate gradient: one backward pass computes the gradients of all samples. autograd.grad()
// of tensors from outside runs their graph once for each sample (batched_gradients.ts).

import { type Arguments, isPlainObject, readArguments } from "../arguments/read.js";
import { count, functionOf, type Options, oneOf, unchecked } from "../arguments/rule.js";
import { cat, movedim, narrow } from "../generated/ops.js";
import { drawingFrom, drawingIsolated, generatorState } from "../ops/generator.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { isPromise } from "../runtime/host/promise.js";
import { Tensor } from "../tensor/tensor.js";
import { BatchedTensor, isBatchedAt, type Level, type Randomness } from "./batched.js";
import { newLevel } from "./interpret.js";
import { atLevel, repeatedFor } from "./levels.js";
import { leavesOf, mapTree, spreadOver, type Tree, withLeaves } from "./pytree.js";

/** A dimension for all tensors, or a tree of dimensions; null for a tensor that is the same for all samples. */
export type Dims = number | null | readonly Dims[] | { readonly [name: string]: Dims };

const kOptions = {
  /** The batch dimension of the arguments: one for all, or an array with one (or a tree of them) per argument; default 0. */
  inDims: unchecked<Dims>().or(0),
  /** The batch dimension of the results: one for all, or a tree with the structure of the result; default 0. */
  outDims: unchecked<Dims>().or(0),
  /** How random ops behave: throw (the default), draw different numbers for every sample, or the same for all samples. */
  randomness: oneOf("error", "different", "same").or("error"),
  /** The number of samples to compute at a time, which saves memory; null (the default) for all. */
  chunkSize: count.orNull(),
};

/** Options of `vmap`. */
export type VmapOptions = Options<typeof kOptions>;

const kName = "vmap";
const kFunction = functionOf<(...args: never[]) => unknown>();

/**
 * Returns a function that applies `fn` to all samples of a batch at once. Its arguments and results have an additional batch
 * dimension, given by `inDims` and `outDims`. `fn` itself sees single samples; it takes and returns tensors, or arrays and plain
 * objects of tensors. Ops without a rule run sample by sample, with a warning on the console.
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
    const state = options.randomness === "same" ? generatorState() : null;
    const chunks = starts.map((start) => {
      const runChunk = () => run(start, Math.min(chunkSize, size - start));
      // With the same numbers for all samples, the first chunk draws them and the others repeat them.
      if (state === null) return runChunk();
      return start === 0 ? drawingIsolated(state, runChunk) : drawingFrom(state, runChunk);
    });
    state?.dispose();
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
        `inDims: got ${dim} for an argument that is not a tensor but ${describe(leaf)}. Use null for it.`,
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
    `${name}: expected a dimension from ${-ndim} to ${ndim - 1} for a tensor with ${ndim} dimensions, got ${dim}.`,
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
      "at least one argument must be a tensor with a batch dimension, but inDims is null for all.",
    );
  }
  if (sizes.every((other) => other === size)) return size;
  fail(
    "ShapeMismatch",
    kName,
    `the batch dimensions of the arguments have different sizes: [${sizes}].`,
  );
}

// Returns the leaves, those with a batch dimension as a Batch with that dimension in front.
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
    fail(
      kCode,
      kName,
      "the function returned a promise: only synchronous functions can be mapped.",
    );
  }
  const resultDims = spreadOver(kName, "outDims", outDims, result);
  let next = 0;
  return mapTree(result, (leaf) => unwrapped(leaf, level, resultDims[next++]));
}

// Moves the batch dimension of a result to its position; repeats a result that does not depend on the samples.
function unwrapped(leaf: unknown, level: Level, outDim: unknown): Tensor {
  if (!(leaf instanceof Tensor)) {
    fail(kCode, kName, `the function must return only tensors, got ${describe(leaf)}.`);
  }
  const isBatched = isBatchedAt(leaf, level);
  if (outDim === null) {
    if (!isBatched) return leaf;
    fail(kCode, kName, "outDims is null for a result that differs by sample.");
  }
  const batch = isBatched ? leaf.shown : repeatedFor(leaf, level);
  const dim = checkedDim("outDims", outDim, batch.ndim);
  return dim === 0 ? batch : movedim(batch, 0, dim);
}

function joined(chunks: readonly unknown[], outDims: Dims): unknown {
  const [first] = chunks;
  const resultDims = spreadOver(kName, "outDims", outDims, first);
  const lists = chunks.map(leavesOf) as Tensor[][];
  const leaves = resultDims.map((outDim, k) => {
    const parts = lists.map((list) => list[k] as Tensor);
    return outDim === null ? parts[0] : cat(parts, outDim as number);
  });
  return isPlainObject(first) || Array.isArray(first) ? withLeaves(first, leaves) : leaves[0];
}
