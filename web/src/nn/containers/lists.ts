// Modules made of modules.

import { readArguments } from "../../arguments/read.js";
import { Rule } from "../../arguments/rule.js";
import { describe, fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { formatModule, formatRuns } from "../module_text.js";

/** A module that takes one tensor and gives one. */
export interface TensorModule extends Module {
  forward(input: Tensor): Tensor;
}

// Parts are properties named by their position, as in PyTorch's state dicts.
function appendPart(owner: Module, part: unknown): void {
  if (!(part instanceof Module)) {
    fail("InvalidArgument", owner.constructor.name, `expected a module, got ${describe(part)}.`);
  }
  const position = owner.children().length;
  Object.assign(owner, { [position]: part });
}

/** Modules applied one after the other. */
export class Sequential extends Module {
  constructor(...modules: TensorModule[]) {
    super();
    for (const module of modules) appendPart(this, module);
  }

  /** The number of modules. */
  get length(): number {
    return Object.values(this).filter((value) => value instanceof Module).length;
  }

  override forward(input: Tensor): Tensor {
    let value = input;
    for (const part of this) value = part.call(value);
    return value;
  }

  /** The modules in their order. */
  *[Symbol.iterator](): Iterator<TensorModule> {
    for (const value of Object.values(this))
      if (value instanceof Module) yield value as TensorModule;
  }
}

const kListArguments = {
  modules: new Rule<Iterable<unknown>>("a list of modules", (value) => {
    return typeof value === "object" && value !== null && Symbol.iterator in value;
  }).or([]),
};

/** A list whose modules are part of the module that holds it. */
export class ModuleList<M extends Module = Module> extends Module {
  constructor(...given: [modules?: Iterable<M>]) {
    super();
    const { modules } = readArguments(new.target.name, kListArguments, given);
    for (const module of modules) appendPart(this, module);
  }

  /** The number of modules. */
  get length(): number {
    return [...this].length;
  }

  /** Returns the module at a position, which may count from the end. */
  at(position: number): M | undefined {
    return [...this].at(position);
  }

  override toString(): string {
    return formatModule(this.constructor.name, "", formatRuns([...this].map(String)));
  }

  /** Adds a module at the end. */
  append(module: M): this {
    appendPart(this, module);
    return this;
  }

  /** The modules in their order. */
  *[Symbol.iterator](): Iterator<M> {
    for (const value of Object.values(this)) if (value instanceof Module) yield value as M;
  }
}
