// Hooks of modules.
//
// A full backward hook receives the gradients of a module's inputs and outputs, which may be many tensors made by many nodes.
// So while a module has such hooks, its input tensors and its output tensors each pass through one identity node (Boundary):
// that of the outputs records the incoming gradients, that of the inputs calls the hooks with both.

import { isPlainObject } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import { Function as AutogradFunction, type FunctionContext } from "../autograd/function.js";
import { isGradEnabled } from "../autograd/grad_mode.js";
import { checkFunction, type HookHandle } from "../autograd/hooks.js";
import type { GradientList, Node } from "../autograd/node.js";
import { PerBackwardCall } from "../autograd/per_backward_call.js";
import { fail } from "../runtime/errors.js";
import { Tensor } from "../tensor/tensor.js";
import type { Module } from "./module.js";

/** Receives the inputs of a call; a list that it returns replaces them, another value becomes the only input. */
export type ForwardPreHook = (module: Module, inputs: unknown[]) => unknown;

/** Receives the inputs and the output of a call; a value that it returns replaces the output. */
export type ForwardHook = (module: Module, inputs: unknown[], output: unknown) => unknown;

/** The options of a call of a module: the object after its inputs. */
export type CallOptions = Readonly<Record<string, unknown>>;

/** Receives the inputs and the options of a call; a pair of new ones that it returns replaces them. */
export type ForwardPreHookWithOptions = (
  module: Module,
  inputs: unknown[],
  options: CallOptions,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that changes nothing returns nothing.
) => readonly [inputs: readonly unknown[], options: CallOptions] | null | void;

/** Receives the inputs, the options and the output of a call; a value that it returns replaces the output. */
export type ForwardHookWithOptions = (
  module: Module,
  inputs: unknown[],
  options: CallOptions,
  output: unknown,
) => unknown;

/** The declaration of the options of forward hooks. */
export const kForwardHookOptions = {
  /** Call the hook before the existing ones; default false. */
  prepend: boolean.or(false),
  /** Also pass the call's trailing object of options to the hook; default false. */
  withKwargs: boolean.or(false),
};

/** Options of forward hooks. */
export type ForwardHookOptions = Options<typeof kForwardHookOptions>;

/** The declaration of the options of full backward hooks. */
export const kBackwardHookOptions = {
  /** Call the hook before the existing ones; default false. */
  prepend: kForwardHookOptions.prepend,
};

/** Options of full backward hooks. */
export type BackwardHookOptions = Options<typeof kBackwardHookOptions>;

/** Receives the gradients of a module's inputs and outputs; a list that it returns replaces those of the inputs. */
export type FullBackwardHook = (
  module: Module,
  gradInputs: GradientList,
  gradOutputs: GradientList,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that changes nothing returns nothing.
) => readonly (Tensor | null)[] | null | void;

/** Returns the inputs to use instead of `inputs`. */
type NormalPreHook = (module: Module, inputs: unknown[]) => unknown[];

/** Returns the output to use instead of `output`. */
type NormalForwardHook = (module: Module, inputs: unknown[], output: unknown) => unknown;

/** The hooks of a module. */
export class ModuleHooks {
  readonly forwardPre = new Map<symbol, NormalPreHook>();
  readonly forward = new Map<symbol, NormalForwardHook>();
  readonly fullBackward = new Map<symbol, FullBackwardHook>();

  /** Returns keys that identify the current hooks. */
  keys(): readonly symbol[] {
    return [this.forwardPre, this.forward, this.fullBackward].flatMap((one) => [...one.keys()]);
  }

  /** Returns lists of the same hooks. */
  clone(): ModuleHooks {
    const copy = new ModuleHooks();
    for (const [key, hook] of this.forwardPre) copy.forwardPre.set(key, hook);
    for (const [key, hook] of this.forward) copy.forward.set(key, hook);
    for (const [key, hook] of this.fullBackward) copy.fullBackward.set(key, hook);
    return copy;
  }
}

/** Adds a hook to a list, and returns a handle that removes it. */
export function addModuleHook<Hook>(
  hooks: Map<symbol, Hook>,
  hook: Hook,
  prepend: boolean,
): HookHandle {
  checkFunction("Module", hook);
  const key = Symbol("hook");
  const later = prepend ? [...hooks] : [];
  if (prepend) hooks.clear();
  hooks.set(key, hook);
  for (const [other, own] of later) hooks.set(other, own);
  return { remove: () => void hooks.delete(key) };
}

/** Returns a hook that returns all inputs, including the options. */
export function normalPreHook(
  hook: ForwardPreHook | ForwardPreHookWithOptions,
  withKwargs: boolean,
): NormalPreHook {
  checkFunction("Module", hook);
  if (withKwargs) {
    return (module, given) => {
      const { inputs, options } = apart(given);
      const result = (hook as ForwardPreHookWithOptions)(module, inputs, options);
      return result === undefined || result === null ? given : joined(result);
    };
  }
  return (module, given) => {
    const result = (hook as ForwardPreHook)(module, given);
    if (result === undefined || result === null) return given;
    return Array.isArray(result) ? result : [result];
  };
}

/** Returns a hook that returns the output. */
export function normalForwardHook(
  hook: ForwardHook | ForwardHookWithOptions,
  withKwargs: boolean,
): NormalForwardHook {
  checkFunction("Module", hook);
  return (module, given, output) => {
    if (!withKwargs) return (hook as ForwardHook)(module, given, output) ?? output;
    const { inputs, options } = apart(given);
    return (hook as ForwardHookWithOptions)(module, inputs, options, output) ?? output;
  };
}

function apart(given: unknown[]): { inputs: unknown[]; options: CallOptions } {
  const last = given.at(-1);
  return isPlainObject(last)
    ? { inputs: given.slice(0, -1), options: last }
    : { inputs: given, options: {} };
}

function joined(result: unknown): unknown[] {
  const [inputs, options] = Array.isArray(result) && result.length === 2 ? result : [];
  if (!Array.isArray(inputs) || !isPlainObject(options)) {
    const message =
      "with withKwargs, a hook must return nothing or a pair: a list of inputs and an object of options.";
    fail("InvalidArgument", "registerForwardPreHook", message);
  }
  return Object.keys(options).length > 0 ? [...inputs, options] : inputs;
}

/** Runs a module's forward with its hooks around it. */
export function callWithHooks(
  module: Module,
  hooks: ModuleHooks,
  given: unknown[],
  forward: (...inputs: unknown[]) => unknown,
): unknown {
  let inputs = given;
  for (const hook of [...hooks.forwardPre.values()]) inputs = hook(module, inputs);
  const backward =
    hooks.fullBackward.size > 0 ? new BackwardHook(module, [...hooks.fullBackward.values()]) : null;
  if (backward !== null) inputs = backward.watchInputs(inputs);
  let output = forward(...inputs);
  for (const hook of [...hooks.forward.values()]) output = hook(module, inputs, output);
  return backward === null ? output : backward.watchOutput(output);
}

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

// The full backward hooks of one call of a module.
class BackwardHook {
  // Gradients of the outputs, from when they arrive until the hooks have seen them; null after that.
  readonly #gradOutputs = new PerBackwardCall<GradientList | null>();
  #inputCount = 0;
  // The positions of inputs that have gradients; null if none has.
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
      this.#gradOutputs.set(gradOutputs);
      return;
    }
    // No input has a gradient to wait for.
    for (const hook of this.hooks) {
      const result = hook(this.module, Array(this.#inputCount).fill(null), gradOutputs);
      if (result && [...result].some((one) => one !== null)) {
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
      if (result.length !== gradInputs.length) {
        fail(
          "InvalidGradient",
          "registerFullBackwardHook",
          `the hook must return ${gradInputs.length} gradients, one for each input, got ${result.length}.`,
        );
      }
      gradInputs = [...result];
    }
    this.#gradOutputs.set(null);
    return positions.map((position) => gradInputs[position] ?? null);
  }
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
