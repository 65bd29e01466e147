// What all derivatives of eg.func share: fresh inputs, one backward pass for all samples, and results that leave no
// trace of it.
//
// A transform differentiates by views of its inputs. Where nothing outside asks for gradients, these are views of
// leaves of its own, and what it returns is detached: which is found out by looking whether the graph leads to anything
// else. So transforms nest, and their results can be differentiated where a tensor from outside asks for it.

import { grad as gradOf } from "../autograd/grad.js";
import { gradFnOf, type Node } from "../autograd/node.js";
import { freshLeaf, opsAreRecorded, recording } from "../autograd/recording.js";
import {
  eye,
  onesLike,
  reshape,
  select,
  stack,
  unbind,
  viewAs,
  zerosLike,
} from "../generated/ops.js";
import { describe, fail } from "../runtime/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { BatchedTensor, batchedAt, type Level, levelsOf, physicalOf } from "./batched.js";
import { atLevel, currentLevel, repeatedAt } from "./levels.js";
import { mapTree, tensorsOf } from "./pytree.js";

/** Inputs that one transform differentiates by. */
export class Inputs {
  readonly tensors: readonly Tensor[];
  readonly #levels: readonly Level[];
  readonly #roots: ReadonlySet<Node | null>;
  readonly #isInner: boolean;

  /** `given` are the inputs; inside of vmap() they are repeated for every sample that has none of its own. */
  constructor(where: string, given: readonly Tensor[]) {
    this.#levels = runningLevels();
    const physical = given.map((tensor, i) => repeatedAt(floating(where, tensor, i), this.#levels));
    // Where the caller records nothing, what asks for gradients there gets none.
    const isOuter = (tensor: Tensor) => tensor.requiresGrad && isRecorded;
    const isRecorded = opsAreRecorded();
    this.#isInner = physical.some(isOuter);
    const roots = physical.map((tensor) => (isOuter(tensor) ? tensor : null));
    const views = atLevel(null, () =>
      recording(() =>
        physical.map((tensor, i) => {
          const root = roots[i] ?? freshLeaf(tensor);
          return viewAs(root, root);
        }),
      ),
    );
    this.#roots = new Set(views.map(gradFnOf));
    this.tensors = views.map((tensor) => batchedAt(tensor, this.#levels));
  }

  /** The vector-Jacobian products: gradients of `outputs`, weighted by `cotangents` of the same shapes. */
  pull(
    outputs: readonly Tensor[],
    cotangents: readonly Tensor[],
    createGraph = opsAreRecorded() && this.hasOthers(outputs),
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

  // Cotangents with a batch that the outputs do not have, as in vmap() of what vjp() returned: one after the other.
  #pullEach(
    outputs: readonly Tensor[],
    cotangents: readonly Tensor[],
    level: Level,
    createGraph: boolean,
  ): Tensor[] {
    return atLevel(level.outer, () => {
      const rows = Array.from({ length: level.size }, (_, i) => {
        const own = cotangents.map((one) =>
          one instanceof BatchedTensor && one.level === level ? select(one.shown, 0, i) : one,
        );
        return this.pull(outputs, own, createGraph);
      });
      return this.tensors.map((_, k) => {
        const all = rows.map((row) => row[k] as Tensor);
        return new BatchedTensor(stack(all), level);
      });
    });
  }

  /** True when tensors depend on others that ask for gradients than on these inputs. */
  hasOthers(tensors: readonly Tensor[]): boolean {
    return this.#isInner || tensors.some((one) => one.requiresGrad && this.#leadsOut(one));
  }

  /** True when a tensor depends on one of these inputs. */
  reach(tensor: Tensor): boolean {
    for (const node of this.#behind(tensor)) if (this.#roots.has(node)) return true;
    return false;
  }

  #leadsOut(tensor: Tensor): boolean {
    if (gradFnOf(physicalOf(tensor)) === null) return true;
    for (const node of this.#behind(tensor)) if (node.name === "AccumulateGrad") return true;
    return false;
  }

  // The nodes that a tensor comes from, back to these inputs.
  *#behind(tensor: Tensor): Generator<Node> {
    const start = gradFnOf(physicalOf(tensor));
    const seen = new Set<Node>(start === null ? [] : [start]);
    for (const node of seen) {
      yield node;
      if (this.#roots.has(node)) continue;
      for (const [next] of node.nextFunctions) if (next !== null) seen.add(next);
    }
  }

  /** Returns a tree whose tensors are out of the graph of this transform, where nothing outside needs it. */
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

// The innermost level at which a cotangent is batched and its output is not.
function extraLevel(cotangents: readonly Tensor[], outputs: readonly Tensor[]): Level | null {
  const extra = cotangents.flatMap((one, i) => {
    const known = levelsOf(outputs[i] as Tensor);
    return (outputs[i] as Tensor).requiresGrad
      ? levelsOf(one).filter((level) => !known.includes(level))
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

/** Throws unless a tensor is one number. */
export function checkScalar(where: string, result: unknown): Tensor {
  if (!(result instanceof Tensor)) {
    return fail(
      "InvalidArgument",
      where,
      `Expected f(*args) to return a single tensor, got ${describe(result)}.`,
    );
  }
  if (result.ndim === 0) return result;
  return fail(
    "NonScalarBackward",
    where,
    `Expected f(*args) to return a scalar tensor, got tensor with ${result.ndim} dims. Maybe you wanted to use the ` +
      "vjp or jacrev APIs instead?",
  );
}

/** Returns the standard basis of the space that `like` is in: one tensor per element. */
export function basisOf({ numel, shape, dtype, device }: Tensor): Tensor[] {
  return unbind(reshape(eye(numel, { dtype, device }), [numel, ...shape]));
}

/** The cotangent of a number: 1. */
export function oneFor(output: Tensor): Tensor {
  return onesLike(output).detach();
}

/** Throws unless tensors have the shapes of others. */
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
