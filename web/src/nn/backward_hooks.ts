// The hooks of a module that run in backward.
//
// They receive the gradients of a module's inputs and outputs, which may be many tensors made by many nodes. So while a module has
// such hooks, its input tensors and its output tensors each pass through one identity node (Boundary): that of the outputs records
// the incoming gradients, that of the inputs calls the full backward hooks with both.

import { Function as AutogradFunction, type FunctionContext } from "../autograd/function.js";
import { isGradEnabled } from "../autograd/grad_mode.js";
import type { GradientList, Node } from "../autograd/node.js";
import { PerBackwardCall } from "../autograd/per_backward_call.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { isDue } from "../runtime/errors/once.js";
import { Tensor } from "../tensor/tensor.js";
import type { Module } from "./module.js";

/** Receives the gradients of a module's inputs and outputs; a list that it returns replaces those of the inputs. */
export type FullBackwardHook = (
  module: Module,
  gradInputs: GradientList,
  gradOutputs: GradientList,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that changes nothing returns nothing.
) => readonly (Tensor | null)[] | null | void;

/** Receives the gradients of a module's outputs; a list that it returns replaces them. */
export type FullBackwardPreHook = (
  module: Module,
  gradOutputs: GradientList,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that changes nothing returns nothing.
) => readonly (Tensor | null)[] | null | void;

/** Passes tensors through unchanged, so that one node has them all. */
class Boundary extends AutogradFunction {
  static override readonly name = "BackwardHookFunction";

  static override forward(ctx: FunctionContext, ...tensors: Tensor[]): Tensor[] {
    ctx.markNonDifferentiable(...tensors.filter((tensor) => !tensor.requiresGrad));
    return tensors;
  }

  static override backward(_ctx: FunctionContext, ...grads: Tensor[]): Tensor[] {
    return grads;
  }

  static override vmap(): never {
    const message =
      "full backward hooks of modules do not work inside vmap(): remove them, or register hooks on tensors there.";
    return fail("InvalidArgument", "registerFullBackwardHook", message);
  }
}

const once = { done: false };

/** The backward hooks of one call of a module. */
export class BackwardHooks {
  // Gradients of the outputs, from when they arrive until the hooks have seen them; null after that.
  readonly #gradOutputs = new PerBackwardCall<GradientList | null>();
  #inputCount = 0;
  // The positions of inputs that have gradients; null if none has.
  #inputPositions: number[] | null = null;

  constructor(
    private readonly module: Module,
    private readonly preHooks: readonly FullBackwardPreHook[],
    private readonly hooks: readonly FullBackwardHook[],
  ) {}

  watchInputs(inputs: unknown[]): unknown[] {
    const { values, positions, node } = passThroughBoundary(inputs);
    this.#inputCount = inputs.length;
    this.#inputPositions = positions;
    node?.registerHook((grads) => this.#runHooks(grads));
    return values;
  }

  watchOutput(output: unknown): unknown {
    if (!Array.isArray(output) && !(output instanceof Tensor) && isDue(once)) {
      console.warn(
        `edgegrad: [${this.module.constructor.name}] backward hooks of a module see tensors, or arrays of tensors, but its output is ` +
          `${describe(output)}: they are not called for it.`,
      );
    }
    const outputs = Array.isArray(output) ? output : [output];
    const { values, positions, node } = passThroughBoundary(outputs);
    node?.registerPrehook((grads) => {
      const given = spread(grads, positions, outputs.length);
      const gradOutputs = this.#runPreHooks(given);
      this.#noteOutputs(gradOutputs);
      return gradOutputs === given ? grads : positions?.map((i) => gradOutputs[i] ?? null);
    });
    return Array.isArray(output) ? values : values[0];
  }

  #runPreHooks(given: GradientList): GradientList {
    let gradOutputs = given;
    for (const hook of this.preHooks) {
      const result = hook(this.module, gradOutputs);
      if (result === undefined || result === null) continue;
      checkCount("registerFullBackwardPreHook", "output", result, gradOutputs);
      gradOutputs = [...result];
    }
    return gradOutputs;
  }

  #noteOutputs(gradOutputs: GradientList): void {
    if (this.#inputPositions !== null) {
      this.#gradOutputs.set(gradOutputs);
      return;
    }
    // No input has a gradient to wait for.
    for (const hook of this.hooks) {
      const result = hook(this.module, Array(this.#inputCount).fill(null), gradOutputs);
      if (result && [...result].some((grad) => grad !== null)) {
        fail(
          "InvalidGradient",
          "registerFullBackwardHook",
          "no input of the module requires a gradient, so the hook must return nothing or null for every gradient.",
        );
      }
    }
  }

  #runHooks(grads: GradientList): GradientList | undefined {
    const gradOutputs = this.#gradOutputs.get() ?? null;
    // Gradients that did not come through the output, for example those of a second derivative.
    if (gradOutputs === null) return undefined;
    const positions = this.#inputPositions ?? [];
    let gradInputs = spread(grads, positions, this.#inputCount);
    for (const hook of this.hooks) {
      const result = hook(this.module, gradInputs, gradOutputs);
      if (result === undefined || result === null) continue;
      checkCount("registerFullBackwardHook", "input", result, gradInputs);
      gradInputs = [...result];
    }
    this.#gradOutputs.set(null);
    return positions.map((position) => gradInputs[position] ?? null);
  }
}

function checkCount(
  where: string,
  what: string,
  result: { readonly length: number },
  given: GradientList,
): void {
  if (result.length === given.length) return;
  fail(
    "InvalidGradient",
    where,
    `the hook must return ${given.length} gradients, one for each ${what}, got ${result.length}.`,
  );
}

interface Watched {
  readonly values: unknown[];
  /** The positions of the tensors; null if nothing is recorded. */
  readonly positions: number[] | null;
  readonly node: Node | null;
}

function passThroughBoundary(values: unknown[]): Watched {
  const positions = values.flatMap((value, i) => (value instanceof Tensor ? [i] : []));
  const tensors = positions.map((i) => values[i] as Tensor);
  const isRecorded = isGradEnabled() && tensors.some((tensor) => tensor.requiresGrad);
  if (!isRecorded) return { values, positions: null, node: null };
  const passed = Boundary.apply(...tensors);
  const replaced = [...values];
  positions.forEach((position, i) => {
    replaced[position] = passed[i];
  });
  const node = passed.find((tensor) => tensor.gradFn !== null)?.gradFn ?? null;
  return { values: replaced, positions, node };
}

function spread(grads: GradientList, positions: number[] | null, length: number): GradientList {
  const list: GradientList = Array(length).fill(null);
  positions?.forEach((position, i) => {
    list[position] = grads[i] ?? null;
  });
  return list;
}
