import { isPlainObject } from "../../arguments/read.js";
import { integer } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { appendModule, moduleEntries, setModule } from "./parts.js";

/** A module that maps one tensor to one tensor. */
export interface TensorModule extends Module {
  forward(input: Tensor): Tensor;
}

/** Modules applied one after the other. */
export class Sequential extends Module {
  /** Takes the modules, or one object with them by name in their order. */
  constructor(...modules: TensorModule[] | [modules: Readonly<Record<string, TensorModule>>]) {
    super();
    const [first] = modules;
    if (modules.length === 1 && isPlainObject(first)) addNamed(this, Object.entries(first));
    else for (const module of modules) appendModule(this, module);
  }

  /** The number of modules. */
  get length(): number {
    return moduleEntries(this).length;
  }

  override forward(input: Tensor): Tensor {
    let value = input;
    for (const part of this) value = part.call(value);
    return value;
  }

  /** Returns the module at a position, which may count from the end. */
  at(position: number): TensorModule | undefined {
    return [...this].at(integer.check(this.constructor.name, "position", position));
  }

  /** Returns a Sequential with the same modules from `start` up to before `end`, which may count from the end. */
  slice(start?: number, end?: number): Sequential {
    const name = this.constructor.name;
    const from = integer.or(0).check(name, "start", start);
    const to = integer.optional().check(name, "end", end);
    const kept = moduleEntries<TensorModule>(this).slice(from, to);
    return addNamed(new Sequential(), kept);
  }

  /** Adds a module at the end. */
  append(module: TensorModule): this {
    appendModule(this, module);
    return this;
  }

  /** Adds modules at the end, for example those of another Sequential. */
  extend(modules: Iterable<TensorModule>): this {
    for (const module of [...modules]) appendModule(this, module);
    return this;
  }

  /** Adds a module before the one at a position, which may count from the end; those after it are renamed. */
  insert(position: number, module: TensorModule): this {
    const name = this.constructor.name;
    const count = this.length;
    const at = integer.check(name, "position", position);
    if (at < -count || at > count) {
      const message = `position: expected ${-count} to ${count}, got ${at}.`;
      fail("IndexOutOfRange", `${name}.insert`, message);
    }
    const entries = moduleEntries<TensorModule>(this);
    if (entries.some(([own], i) => own !== String(i))) {
      const message = "modules with names of their own cannot be renamed: make a new Sequential.";
      fail("InvalidArgument", `${name}.insert`, message);
    }
    const all = entries.map(([, module]) => module);
    all.splice(at < 0 ? at + count : at, 0, module);
    all.forEach((module, i) => void setModule(this, String(i), module));
    return this;
  }

  /** The modules in their order. */
  *[Symbol.iterator](): Iterator<TensorModule> {
    for (const [, module] of moduleEntries<TensorModule>(this)) yield module;
  }
}

function addNamed(owner: Sequential, entries: readonly [string, unknown][]): Sequential {
  for (const [name, module] of entries) setModule(owner, name, module);
  return owner;
}
