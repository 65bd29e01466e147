// Shared code of the derivatives in eg.func: fresh inputs, one backward pass for all samples, and results that are detached from
// the transform's own graph.
//
// A transform differentiates with respect to views of its inputs. If no tensor outside requires a gradient, these are views of
// new leaves, and the results are detached; this is decided by checking whether the graph reaches any other leaf that requires a
// gradient. So transforms can be nested, and their results can be differentiated if a tensor from outside requires a gradient. When
// the function has returned, its new leaves no longer require one: what vjp() and linearize() return depends on them only for this
// transform, not for one that differentiates it later with respect to the cotangents or tangents.

import { grad as gradOf } from "../autograd/grad.js";
import { noGrad } from "../autograd/grad_mode.js";
import { gradFnOf, type Node } from "../autograd/node.js";
import { freshLeaf, opsAreRecorded, recording } from "../autograd/recording.js";
import {
  clone,
  copy_,
  eye,
  onesLike,
  reshape,
  select,
  stack,
  unbind,
  viewAs,
  zerosLike,
} from "../generated/ops.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { isComplex } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";
import { BatchedTensor, batchedAt, type Level, levelsOf, physicalOf } from "./batched.js";
import { atLevel, currentLevel, repeatedAt } from "./levels.js";
import { mapTree, tensorsOf } from "./pytree.js";

/** The inputs that one transform differentiates with respect to. */
export class Inputs {
  readonly tensors: readonly Tensor[];
  /** What the function is called with: these tensors, or copies of them. */
  readonly passed: readonly Tensor[];
  readonly #given: readonly Tensor[];
  readonly #areOuter: readonly boolean[];
  readonly #levels: readonly Level[];
  readonly #roots: ReadonlySet<Node | null>;
  readonly #isInner: boolean;
  readonly #leaves: Tensor[] = [];

  /**
   * `given` are the inputs; inside vmap(), those that are the same for all samples are repeated for every sample. With
   * `areWritable` the function may change them in place.
   */
  constructor(where: string, given: readonly Tensor[], areWritable = false) {
    this.#given = given;
    this.#levels = runningLevels();
    const physical = given.map((tensor, i) => repeatedAt(floating(where, tensor, i), this.#levels));
    // Also where operations are not recorded: what vjp() returns may be called where they are.
    const roots = physical.map((tensor) => (tensor.requiresGrad ? tensor : null));
    this.#isInner = roots.some((root) => root !== null);
    const views = atLevel(null, () =>
      recording(() =>
        physical.map((tensor, i) => {
          const root = roots[i] ?? this.#newLeaf(tensor);
          // Writing to an input must not change what is differentiated with respect to.
          return areWritable ? clone(root) : viewAs(root, root);
        }),
      ),
    );
    this.#roots = new Set(views.map(gradFnOf));
    this.tensors = views.map((tensor) => batchedAt(tensor, this.#levels));
    this.passed = areWritable
      ? recording(() => this.tensors.map((tensor) => clone(tensor)))
      : this.tensors;
    this.#areOuter = roots.map((root) => root !== null);
  }

  /** Writes what the function has written into its copies of the inputs to the inputs. */
  writeBack(): void {
    this.passed.forEach((tensor, i) => {
      if (tensor === this.tensors[i] || tensor.version === 0) return;
      const write = () => copy_(this.#given[i] as Tensor, tensor);
      if (this.#areOuter[i] === true) write();
      else noGrad(write);
    });
  }

  #newLeaf(tensor: Tensor): Tensor {
    const leaf = freshLeaf(tensor);
    this.#leaves.push(leaf);
    return leaf;
  }

  /** Ends the time in which the operations of other transforms depend on these inputs. */
  close(): void {
    for (const leaf of this.#leaves) leaf.requiresGrad = false;
  }

  /** Returns the vector-Jacobian products: gradients of `outputs`, weighted by `cotangents` of the same shapes. */
  pull(
    outputs: readonly Tensor[],
    cotangents: readonly Tensor[],
    createGraph = opsAreRecorded() && this.hasOthers([...outputs, ...cotangents]),
  ): Tensor[] {
    const extra = extraLevel(cotangents, outputs);
    if (extra !== null) return this.#pullEach(outputs, cotangents, extra, createGraph);
    const used = outputs.flatMap((output, i) =>
      output.requiresGrad ? [{ output, cotangent: cotangents[i] as Tensor }] : [],
    );
    const weights = used.map(({ output, cotangent }) => repeatedAt(cotangent, levelsOf(output)));
    const roots = used.map(({ output }) => physicalOf(output));
    const inputs = this.tensors.map(physicalOf);
    const options = { gradOutputs: weights, allowUnused: true, retainGraph: true, createGraph };
    const grads =
      roots.length === 0
        ? inputs.map(() => null)
        : atLevel(null, () => gradOf(roots, inputs, options));
    return grads.map((grad, i) => {
      const known = grad ?? atLevel(null, () => zerosLike(inputs[i] as Tensor));
      return batchedAt(known, this.#levels);
    });
  }

  // Handles cotangents with a batch dimension that the outputs lack, as in vmap() of a vjpFn, one sample after the other.
  #pullEach(
    outputs: readonly Tensor[],
    cotangents: readonly Tensor[],
    level: Level,
    createGraph: boolean,
  ): Tensor[] {
    return atLevel(level.outer, () => {
      const rows = Array.from({ length: level.size }, (_, i) => {
        const own = cotangents.map((cotangent) =>
          cotangent instanceof BatchedTensor && cotangent.level === level
            ? select(cotangent.shown, 0, i)
            : cotangent,
        );
        return this.pull(outputs, own, createGraph);
      });
      return this.tensors.map((_, k) => {
        const all = rows.map((row) => row[k] as Tensor);
        return new BatchedTensor(stack(all), level);
      });
    });
  }

  /** True if tensors also depend on tensors that require a gradient other than these inputs. */
  hasOthers(tensors: readonly Tensor[]): boolean {
    return (
      this.#isInner ||
      tensors.some((tensor) => tensor.requiresGrad && this.#reachesOtherLeaves(tensor))
    );
  }

  /** True if a tensor depends on one of these inputs. */
  reach(tensor: Tensor): boolean {
    for (const node of this.#ancestors(tensor)) if (this.#roots.has(node)) return true;
    return false;
  }

  #reachesOtherLeaves(tensor: Tensor): boolean {
    if (gradFnOf(physicalOf(tensor)) === null) return true;
    for (const { variable } of this.#ancestors(tensor)) if (variable?.requiresGrad) return true;
    return false;
  }

  // Yields the nodes that a tensor was computed by, back to these inputs.
  *#ancestors(tensor: Tensor): Generator<Node> {
    const start = gradFnOf(physicalOf(tensor));
    const seen = new Set<Node>(start === null ? [] : [start]);
    for (const node of seen) {
      yield node;
      if (this.#roots.has(node)) continue;
      for (const [next] of node.nextFunctions) if (next !== null) seen.add(next);
    }
  }

  /** Returns a tree whose tensors are detached from the graph of this transform, unless tensors outside need it. */
  released<T>(tree: T): T {
    return mapTree(tree, (leaf) => {
      if (!(leaf instanceof Tensor) || !leaf.requiresGrad) return leaf;
      return opsAreRecorded() && this.hasOthers([leaf]) ? leaf : leaf.detach();
    }) as T;
  }
}

function floating(where: string, tensor: Tensor, i: number): Tensor {
  if (/^(b?float|complex)/.test(tensor.dtype)) return tensor;
  return fail(
    "NotDifferentiable",
    where,
    `only floating-point and complex tensors have derivatives: input ${i} is ${tensor.dtype}.`,
  );
}

function runningLevels(): Level[] {
  const levels: Level[] = [];
  for (let level = currentLevel(); level !== null; level = level.outer) levels.unshift(level);
  return levels;
}

// Returns the innermost level at which a cotangent is batched but its output is not.
function extraLevel(cotangents: readonly Tensor[], outputs: readonly Tensor[]): Level | null {
  const extra = cotangents.flatMap((cotangent, i) => {
    const known = levelsOf(outputs[i] as Tensor);
    return (outputs[i] as Tensor).requiresGrad
      ? levelsOf(cotangent).filter((level) => !known.includes(level))
      : [];
  });
  return extra.sort((a, b) => depthOf(b) - depthOf(a))[0] ?? null;
}

function depthOf(level: Level | null): number {
  return level === null ? 0 : 1 + depthOf(level.outer);
}

/** Returns the result of a function as a list of tensors, for derivatives. */
export function outputsOf(where: string, result: unknown): Tensor[] {
  return tensorsOf(where, "the result of the function", result);
}

/** Returns the result of a function if it is a scalar tensor; throws otherwise. */
export function checkScalar(where: string, result: unknown): Tensor {
  if (!(result instanceof Tensor)) {
    return fail(
      "InvalidArgument",
      where,
      `the function must return a single tensor, got ${describe(result)}.`,
    );
  }
  if (isComplex(result.dtype)) {
    const reason = `the function must return a real number, got ${result.dtype}.`;
    fail("NonScalarBackward", where, `${reason} Return its real() or abs(), or use eg.func.vjp().`);
  }
  if (result.ndim === 0) return result;
  return fail(
    "NonScalarBackward",
    where,
    `the function must return a scalar, got a tensor with ${result.ndim} dimensions. For such results use ` +
      "eg.func.vjp() or eg.func.jacrev().",
  );
}

/** Returns the standard basis for a tensor: one tensor per element, with a 1 at that element and zeros elsewhere. */
export function basisOf({ numel, shape, dtype, device }: Tensor): Tensor[] {
  return unbind(reshape(eye(numel, { dtype, device }), [numel, ...shape]));
}

/** Returns the cotangent of a scalar: 1. */
export function oneFor(output: Tensor): Tensor {
  return onesLike(output).detach();
}

/** Throws ShapeMismatch unless `tensors` have the same shapes as `likes`. */
export function checkAlike(
  where: string,
  what: string,
  tensors: readonly Tensor[],
  likes: readonly Tensor[],
): void {
  const shapes = (list: readonly Tensor[]) => list.map(({ shape }) => `[${shape}]`).join(", ");
  if (shapes(tensors) === shapes(likes)) return;
  fail(
    "ShapeMismatch",
    where,
    `${what} have the shapes ${shapes(tensors)}, expected ${shapes(likes)}.`,
  );
}
