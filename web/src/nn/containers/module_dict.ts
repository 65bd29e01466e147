import { isPlainObject } from "../../arguments/read.js";
import { Rule, text } from "../../arguments/rule.js";
import { describe, fail } from "../../runtime/errors/errors.js";
import { Module } from "../module.js";
import { moduleEntries, setModule } from "./parts.js";

/** Values by name: a plain object, or a list of pairs [name, value]. */
export type Named<T> = Readonly<Record<string, T>> | Iterable<readonly [string, T]>;

/** The rule for a `Named`. */
export const named = new Rule<Named<unknown>>(
  "an object, or a list of pairs [name, value]",
  (value) => {
    if (isPlainObject(value)) return true;
    const isList = typeof value === "object" && value !== null && Symbol.iterator in value;
    return isList && [...(value as Iterable<unknown>)].every(isPair);
  },
);

/** Returns the pairs [name, value] of a `Named`. */
export function pairsOf<T>(given: Named<T>): (readonly [string, T])[] {
  return Symbol.iterator in given ? [...given] : Object.entries(given);
}

/** Modules by name, which are parts of the module that holds this one, in the order in which they were added. */
export class ModuleDict<M extends Module = Module> extends Module {
  constructor(modules?: Named<M>) {
    super();
    if (modules !== undefined) this.update(modules);
  }

  /** The number of modules. */
  get length(): number {
    return moduleEntries(this).length;
  }

  /** Returns whether there is a module of this name. */
  has(name: string): boolean {
    return this.keys().includes(name);
  }

  /** Returns the module of this name; throws if there is none. */
  get(name: string): M {
    const found = this.items().find(([own]) => own === name);
    if (found !== undefined) return found[1];
    fail("InvalidArgument", this.constructor.name, `there is no module ${describe(name)}.`);
  }

  /** Adds a module under a name, or replaces the one with this name. */
  set(name: string, module: M): this {
    setModule(this, text.check(this.constructor.name, "name", name), module);
    return this;
  }

  /** Adds all of these, replacing those with the same names. */
  update(modules: Named<M>): this {
    const checked = named.check(this.constructor.name, "modules", modules) as Named<M>;
    for (const [name, module] of pairsOf(checked)) this.set(name, module);
    return this;
  }

  /** Removes a module and returns it. */
  pop(name: string): M {
    const module = this.get(name);
    Reflect.deleteProperty(this, name);
    return module;
  }

  /** Removes all modules. */
  clear(): void {
    for (const name of this.keys()) this.pop(name);
  }

  /** The names in their order. */
  keys(): string[] {
    return this.items().map(([name]) => name);
  }

  /** The modules in their order. */
  values(): M[] {
    return this.items().map(([, module]) => module);
  }

  /** The names and modules in their order. */
  items(): [string, M][] {
    return moduleEntries<M>(this);
  }

  /** The names in their order. */
  *[Symbol.iterator](): Iterator<string> {
    yield* this.keys();
  }
}

function isPair(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === "string";
}
