// Hooks of modules.
//
// A full backward hook sees the gradients of a module's inputs and outputs, which may be many tensors
// made by many nodes. So while a module has such hooks, its input tensors and its output tensors each
// pass through one node that changes nothing (Boundary): the output's notes the gradients that come in,
// the input's calls the hooks with both.

import { Function as AutogradFunction, type FunctionContext } from "../autograd/function.js";
import { isGradEnabled } from "../autograd/grad_mode.js";
import { checkFunction, type HookHandle } from "../autograd/hooks.js";
import type { GradientList, Node } from "../autograd/node.js";
import { fail } from "../runtime/errors.js";
import { Tensor } from "../tensor/tensor.js";
import type { Module } from "./module.js";

/** Sees what a module is called with; a list it returns takes its place, another value that of all inputs. */
export type ForwardPreHook = (module: Module, inputs: unknown[]) => unknown;

/** Sees what a module was called with and returned; a value it returns takes the output's place. */
export type ForwardHook = (module: Module, inputs: unknown[], output: unknown) => unknown;

/** Sees the gradients of a module's inputs and outputs; a list it returns takes the place of the first. */
export type FullBackwardHook = (
  module: Module,
  gradInputs: GradientList,
  gradOutputs: GradientList,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that only looks returns nothing.
) => readonly (Tensor | null)[] | null | void;

/** The hooks of a module. */
export class ModuleHooks {
  readonly forwardPre = new Map<symbol, ForwardPreHook>();
  readonly forward = new Map<symbol, ForwardHook>();
  readonly fullBackward = new Map<symbol, FullBackwardHook>();
}

/** Adds a hook to a list, and returns how to remove it. */
export function addModuleHook<Hook>(hooks: Map<symbol, Hook>, hook: Hook): HookHandle {
  checkFunction("Module", hook);
  const key = Symbol("hook");
  hooks.set(key, hook);
  return { remove: () => void hooks.delete(key) };
}

/** Runs a module's forward with its hooks around it. */
export function callWithHooks(
  module: Module,
  hooks: ModuleHooks,
  given: unknown[],
  forward: (...inputs: unknown[]) => unknown,
): unknown {
  let inputs = given;
  for (const hook of [...hooks.forwardPre.values()]) {
    const result = hook(module, inputs);
    if (result === undefined || result === null) continue;
    inputs = Array.isArray(result) ? result : [result];
  }
  const backward =
    hooks.fullBackward.size > 0 ? new BackwardHook(module, [...hooks.fullBackward.values()]) : null;
  if (backward !== null) inputs = backward.watchInputs(inputs);
  let output = forward(...inputs);
  for (const hook of [...hooks.forward.values()]) {
    output = hook(module, inputs, output) ?? output;
  }
  return backward === null ? output : backward.watchOutput(output);
}

/** Passes tensors through, so that they have one node. */
class Boundary extends AutogradFunction {
  static override readonly name = "BackwardHookFunction";

  static override forward(ctx: FunctionContext, ...tensors: Tensor[]): Tensor[] {
    ctx.markNonDifferentiable(...tensors.filter((tensor) => !tensor.requiresGrad));
    return tensors;
  }

  static override backward(_ctx: FunctionContext, ...grads: Tensor[]): Tensor[] {
    return grads;
  }
}

// The full backward hooks of one call of a module.
class BackwardHook {
  // Gradients of the outputs, from when they arrive until the hooks have seen them.
  #gradOutputs: GradientList | null = null;
  #inputCount = 0;
  // Which inputs have gradients; null when none has.
  #inputPositions: number[] | null = null;

  constructor(
    private readonly module: Module,
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
    const outputs = Array.isArray(output) ? output : [output];
    const { values, positions, node } = passThroughBoundary(outputs);
    node?.registerHook((_, grads) => this.#noteOutputs(spread(grads, positions, outputs.length)));
    return Array.isArray(output) ? values : values[0];
  }

  #noteOutputs(gradOutputs: GradientList): void {
    if (this.#inputPositions !== null) {
      this.#gradOutputs = gradOutputs;
      return;
    }
    // Nothing will come out at the inputs, so this is the moment.
    for (const hook of this.hooks) {
      const result = hook(this.module, Array(this.#inputCount).fill(null), gradOutputs);
      if (result && [...result].some((one) => one !== null)) {
        fail(
          "InvalidGradient",
          "registerFullBackwardHook",
          "Backward hook for Modules where no input requires gradient should always return None or None for all gradients.",
        );
      }
    }
  }

  #runHooks(grads: GradientList): GradientList | undefined {
    const gradOutputs = this.#gradOutputs;
    // Gradients that have not passed the output: those of a second derivative, for example.
    if (gradOutputs === null) return undefined;
    const positions = this.#inputPositions ?? [];
    let gradInputs = spread(grads, positions, this.#inputCount);
    for (const hook of this.hooks) {
      const result = hook(this.module, gradInputs, gradOutputs);
      if (result === undefined || result === null) continue;
      if (result.length !== gradInputs.length) {
        fail(
          "InvalidGradient",
          "registerFullBackwardHook",
          `Backward hook returned an invalid number of grad_input, got ${result.length}, but expected ${gradInputs.length}`,
        );
      }
      gradInputs = [...result];
    }
    this.#gradOutputs = null;
    return positions.map((position) => gradInputs[position] ?? null);
  }
}

interface Watched {
  readonly values: unknown[];
  /** Where the tensors are; null when nothing is recorded. */
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
