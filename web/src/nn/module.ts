// The base class of layers and models. What a module consists of is read off its properties: a
// Parameter is learned, any other Tensor is a buffer (state that is saved but not learned), a Module
// is a part. Anything else, and #private properties, are the module's own business.

import { fail } from "../runtime/errors.js";
import { Tensor } from "../tensor/tensor.js";
import { type LoadResult, loadInto } from "./load_state.js";
import { Parameter } from "./parameter.js";

/** Tensors by name, as PyTorch saves them. */
export type StateDict = Record<string, Tensor>;

/** A layer or model: assign parameters, buffers and modules as properties and define forward(). */
export class Module {
  /** True in training mode; Dropout and its like look at it. */
  training = true;

  /** Computes the module's output; each module defines its own. */
  forward(..._inputs: never[]): unknown {
    fail("InvalidArgument", this.constructor.name, "this module does not define forward().");
  }

  /** Runs forward(). */
  call<Inputs extends unknown[], Output>(
    this: { forward(...inputs: Inputs): Output },
    ...inputs: Inputs
  ): Output {
    return this.forward(...inputs);
  }

  /** Returns the parameters of this module and its parts, each once. */
  parameters(): Parameter[] {
    return this.namedParameters().map(([, parameter]) => parameter);
  }

  /** Returns the parameters with their dotted names, each once. */
  namedParameters(): [string, Parameter][] {
    return withoutRepeats(this.#collect(parametersOf));
  }

  /** Returns the buffers of this module and its parts, each once. */
  buffers(): Tensor[] {
    return this.namedBuffers().map(([, buffer]) => buffer);
  }

  /** Returns the buffers with their dotted names, each once. */
  namedBuffers(): [string, Tensor][] {
    return withoutRepeats(this.#collect(buffersOf));
  }

  /** Returns the modules that are properties of this one. */
  children(): Module[] {
    return this.namedChildren().map(([, child]) => child);
  }

  /** Returns the modules that are properties of this one, with their names. */
  namedChildren(): [string, Module][] {
    return withoutRepeats(childrenOf(this));
  }

  /** Returns this module and all its parts, each once. */
  modules(): Module[] {
    return this.namedModules().map(([, module]) => module);
  }

  /** Returns this module, under the name "", and all its parts with their dotted names. */
  namedModules(): [string, Module][] {
    return withoutRepeats(this.#tree(""));
  }

  /** Returns parameters and buffers by name; the tensors share their data with the module. */
  stateDict(): StateDict {
    return Object.fromEntries(this.#state().map(([name, tensor]) => [name, tensor.detach()]));
  }

  /**
   * Copies tensors into parameters and buffers. All must be there, of the right shape, and no others,
   * unless `strict` is false; nothing is copied otherwise.
   */
  loadStateDict(state: Readonly<StateDict>, options: { strict?: boolean } = {}): LoadResult {
    return loadInto(this.constructor.name, new Map(this.#state()), state, options.strict ?? true);
  }

  /** Sets training mode on this module and its parts. */
  train(mode = true): this {
    for (const module of this.modules()) module.training = mode;
    return this;
  }

  /** Sets evaluation mode: train(false). */
  eval(): this {
    return this.train(false);
  }

  /** Takes the gradients off all parameters. */
  zeroGrad(): void {
    for (const parameter of this.parameters()) parameter.grad = null;
  }

  /** Sets `requiresGrad` of all parameters. */
  requiresGrad_(value = true): this {
    for (const parameter of this.parameters()) parameter.requiresGrad = value;
    return this;
  }

  /** Calls `fn` with every part and then with this module. */
  apply(fn: (module: Module) => void): this {
    for (const child of this.children()) child.apply(fn);
    fn(this);
    return this;
  }

  // PyTorch's order: what a module has itself, then its parts.
  #tree(prefix: string): [string, Module][] {
    const parts = childrenOf(this).flatMap(([name, child]) => child.#tree(join(prefix, name)));
    return [[prefix, this], ...parts];
  }

  #collect<T>(pick: (module: Module) => [string, T][]): [string, T][] {
    return this.#tree("").flatMap(([prefix, module]) =>
      pick(module).map(([name, value]): [string, T] => [join(prefix, name), value]),
    );
  }

  #state(): [string, Tensor][] {
    return this.#collect<Tensor>((module) => [...parametersOf(module), ...buffersOf(module)]);
  }
}

function parametersOf(module: Module): [string, Parameter][] {
  return Object.entries(module).filter((entry): entry is [string, Parameter] => {
    return entry[1] instanceof Parameter;
  });
}

function buffersOf(module: Module): [string, Tensor][] {
  return Object.entries(module).filter((entry): entry is [string, Tensor] => {
    return entry[1] instanceof Tensor && !(entry[1] instanceof Parameter);
  });
}

function childrenOf(module: Module): [string, Module][] {
  return Object.entries(module).filter((entry): entry is [string, Module] => {
    return entry[1] instanceof Module;
  });
}

function join(prefix: string, name: string): string {
  return prefix === "" ? name : `${prefix}.${name}`;
}

// A value that two names share counts under the first.
function withoutRepeats<T>(entries: readonly [string, T][]): [string, T][] {
  const seen = new Set<T>();
  return entries.filter(([, value]) => !seen.has(value) && seen.add(value));
}
