// Modules that make their parameters when they see their first input.

import { readNothing } from "../../arguments/read.js";
import { Rule } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import { entriesOf } from "../members.js";
import { Module } from "../module.js";
import { nameLayer } from "../module_failure.js";
import { shapelessOrNull } from "../parameter.js";

/** What `LazyModuleMixin` adds to modules. */
export interface LazyModule {
  /** Returns whether parameters or buffers of this module itself have no shape yet. */
  hasUninitializedParams(): boolean;
  /** Gives the parameters their shapes, by the inputs of the first call; a subclass defines it. */
  initializeParameters(...inputs: never[]): void;
}

/** The static members of lazy classes. */
export interface LazyModuleClass {
  // biome-ignore lint/suspicious/noExplicitAny: TypeScript wants this of what a class extends.
  new (...given: any[]): LazyModule;
  /** The class whose methods a module gets with its first call; null if it keeps its own. */
  clsToBecome: ModuleClass | null;
}

// biome-ignore lint/suspicious/noExplicitAny: TypeScript wants this of what a class extends.
type ModuleClass = new (...given: any[]) => Module;

const kModuleClass = /* @__PURE__ */ new Rule<ModuleClass>(
  "nn.Module, or a class of modules",
  (value) => {
    return typeof value === "function" && (value === Module || value.prototype instanceof Module);
  },
);

// The modules that have had their first call but do not change their class.
const finished = new WeakSet<Module>();

/**
 * Returns a class that extends `Base` with parameters that get their shapes from the inputs of the first call. Before that call
 * they are an `UninitializedParameter` or `UninitializedBuffer`; `initializeParameters()` of the subclass receives the inputs and
 * gives them shapes with `materialize()`. Then the module has the methods of the static `clsToBecome`, unless that is null.
 */
export function LazyModuleMixin<Base extends ModuleClass>(
  Base: Base,
  ...rest: []
): Base & LazyModuleClass {
  kModuleClass.check("LazyModuleMixin", "Base", Base);
  readNothing("LazyModuleMixin", rest);
  class Lazy extends (Base as ModuleClass) implements LazyModule {
    static clsToBecome: ModuleClass | null = null;

    override call<Inputs extends unknown[], Output>(
      this: { forward(...inputs: Inputs): Output },
      ...inputs: Inputs
    ): Output {
      const module = this as unknown as Lazy;
      if (!finished.has(module)) initialize(module, inputs);
      return super.call(...(inputs as unknown as never[])) as Output;
    }

    hasUninitializedParams(): boolean {
      return entriesOf(this).some(
        ([, value]) => value instanceof Tensor && shapelessOrNull(value) !== null,
      );
    }

    initializeParameters(..._inputs: never[]): void {
      fail(
        "InvalidArgument",
        this.constructor.name,
        "this lazy module does not define initializeParameters().",
      );
    }
  }
  return Lazy as unknown as Base & LazyModuleClass;
}

function initialize(module: Module & LazyModule, inputs: unknown[]): void {
  const { name, clsToBecome } = module.constructor as unknown as LazyModuleClass & { name: string };
  try {
    module.initializeParameters(...(inputs as never[]));
    if (module.hasUninitializedParams()) {
      const reason = "initializeParameters() has left parameters or buffers without a shape.";
      fail("InvalidArgument", name, reason);
    }
  } catch (error) {
    nameLayer(error, module);
    throw error;
  }
  if (clsToBecome === null) finished.add(module);
  else Object.setPrototypeOf(module, clsToBecome.prototype);
}
