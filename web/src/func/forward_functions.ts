// eg.autograd.Function in the forward mode of eg.func.
//
// eg.func.jvp differentiates twice in reverse mode (linearize.ts). A Function with a jvp is therefore applied with a backward that
// is derived from it: jvp is linear in the tangents, so its vector-Jacobian product with respect to them is that of the Function.

import {
  type FunctionClass,
  FunctionContext,
  type FunctionGradients,
} from "../autograd/function.js";
import { grad } from "../autograd/grad.js";
import { opsAreRecorded, recording } from "../autograd/recording.js";
import { clone, zeros } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { isComplex, isFloat } from "../tensor/dtype.js";
import { Tensor } from "../tensor/tensor.js";

type AnyFunction = FunctionClass<unknown[], unknown>;

/** Returns the Function with the forward of `fn` whose gradients are derived from its jvp. */
export function byJvp(fn: AnyFunction): AnyFunction {
  let own: ContextOfJvp;
  // Makes the zero tangents of the arguments, without which the graph would keep these alive.
  let still: ((() => Tensor) | null)[] = [];

  const push = (leaves: readonly (Tensor | null)[], count: number): (Tensor | null)[] => {
    const tangents = still.map((zero, i) => {
      const leaf = leaves[i] ?? null;
      // A copy, because a jvp may change it in place.
      if (leaf !== null) return clone(leaf);
      return own.materializes && zero !== null ? zero() : null;
    });
    const pushed = [fn.jvp?.(own, ...(tangents as Tensor[]))].flat() as (Tensor | null)[];
    if (pushed.length === count) return pushed;
    return fail(
      "InvalidGradient",
      fn.name,
      `jvp returned ${pushed.length} tangents, expected ${count}, one per result of forward.`,
    );
  };

  return {
    name: fn.name,

    forward(ctx: FunctionContext, ...args: unknown[]): unknown {
      own = new ContextOfJvp(ctx);
      still = args.map(stillOf);
      return fn.forward(own, ...args);
    },

    backward(ctx: FunctionContext, ...grads: (Tensor | null)[]): FunctionGradients {
      const isNeeded = ctx.needsInputGrad;
      const createGraph = opsAreRecorded();
      return recording(() => {
        const leaves = still.map((zero, i) =>
          zero !== null && isNeeded[i] === true ? zero().requiresGrad_() : null,
        );
        const pushed = push(leaves, grads.length);
        const used = pushed.flatMap((output, i) =>
          output instanceof Tensor && output.requiresGrad && grads[i] instanceof Tensor
            ? [{ output, weight: grads[i] }]
            : [],
        );
        if (used.length === 0) return leaves.map(() => null);
        const pulled = grad(
          used.map(({ output }) => output),
          leaves.filter((leaf) => leaf !== null),
          { gradOutputs: used.map(({ weight }) => weight), allowUnused: true, createGraph },
        );
        return leaves.map((leaf) => (leaf === null ? null : (pulled.shift() ?? null)));
      });
    },
  };
}

function stillOf(argument: unknown): (() => Tensor) | null {
  if (!(argument instanceof Tensor)) return null;
  const { shape, dtype, device } = argument;
  return isFloat(dtype) || isComplex(dtype) ? () => zeros(shape, { dtype, device }) : null;
}

// The context for forward and jvp, which saves for backward what the Function saves for jvp.
class ContextOfJvp extends FunctionContext {
  readonly #ctx: FunctionContext;
  /** Whether jvp receives zeros instead of null. */
  materializes = true;

  constructor(ctx: FunctionContext) {
    super(kNoNode, 0);
    this.#ctx = ctx;
  }

  override saveForBackward(): void {}

  override saveForForward(...tensors: (Tensor | null)[]): void {
    this.#ctx.saveForBackward(...tensors);
  }

  override get savedTensors(): Tensor[] {
    return this.#ctx.savedTensors;
  }

  override markDirty(...tensors: Tensor[]): void {
    this.#ctx.markDirty(...tensors);
  }

  override markNonDifferentiable(...tensors: Tensor[]): void {
    this.#ctx.markNonDifferentiable(...tensors);
  }

  override setMaterializeGrads(value: boolean): void {
    this.#ctx.setMaterializeGrads(value);
    this.materializes = value;
  }

  override get needsInputGrad(): boolean[] {
    return this.#ctx.needsInputGrad;
  }
}

// Not used: every method calls the context of the node.
const kNoNode = 0;
