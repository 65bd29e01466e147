import { readArguments } from "../../arguments/read.js";
import { integer, Rule } from "../../arguments/rule.js";
import { Module } from "../module.js";
import { formatModule, formatRuns } from "../module_text.js";
import { appendModule, moduleEntries } from "./parts.js";

/** The rule for an iterable object. */
export const iterable = new Rule<Iterable<unknown>>("a list", (value) => {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
});

const kModules = iterable.saying("Put the modules into it.");

/** A list of modules, which are parts of the module that holds this one. */
export class ModuleList<M extends Module = Module> extends Module {
  constructor(...given: [modules?: Iterable<M>]) {
    super();
    const { modules } = readArguments(new.target.name, { modules: kModules.or([]) }, given);
    for (const module of modules) appendModule(this, module);
  }

  /** The number of modules. */
  get length(): number {
    return moduleEntries(this).length;
  }

  /** Returns the module at a position, which may count from the end. */
  at(position: number): M | undefined {
    return [...this].at(integer.check(this.constructor.name, "position", position));
  }

  override toString(): string {
    return formatModule(this.constructor.name, "", formatRuns([...this].map(String)));
  }

  /** Adds a module at the end. */
  append(module: M): this {
    appendModule(this, module);
    return this;
  }

  /** Adds all modules of a list at the end. */
  extend(modules: Iterable<M>): this {
    for (const module of kModules.check(this.constructor.name, "modules", modules)) {
      appendModule(this, module);
    }
    return this;
  }

  /** The modules in their order. */
  *[Symbol.iterator](): Iterator<M> {
    for (const [, module] of moduleEntries<M>(this)) yield module;
  }
}
