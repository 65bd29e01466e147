// Layers made from declarations. A declaration names each argument once, with its rule and its documentation. The
// constructor and its overloads, the readonly fields, the text and the call of the op follow from it:
//
//   const kSoftplus = {
//     /** How sharp the bend is; default 1. */
//     beta: number.or(1),
//     /** Above this value of x * beta the result is x; default 20. */
//     threshold: number.or(20),
//   };
//
//   /** log(1 + exp(beta * x)) / beta. */
//   export class Softplus extends layer(kSoftplus, ["beta", "threshold"] as [beta: "beta", threshold: "threshold"], softplus) {}
//
// The names are the order of the arguments, which TypeScript cannot read off an object. scripts/build.mjs marks what a class
// extends as pure, so that bundlers can leave the class out.

import { type Constructor, readArguments } from "../arguments/read.js";
import type { InOrder, Rule, Rules, Values } from "../arguments/rule.js";
import { fail } from "../runtime/errors/errors.js";
import { tensorRule } from "../tensor/rules.js";
import type { Tensor } from "../tensor/tensor.js";
import { Module } from "./module.js";
import { formatArguments, type Printable, snakeCase } from "./module_text.js";
import { Buffer } from "./parameter.js";

/** A layer with one input. */
export interface Layer extends Module {
  forward(input: Tensor): Tensor;
}

/** The arguments of a declaration as fields of a layer. */
export type Fields<R extends Rules> = {
  readonly [Name in keyof R]: R[Name] extends Rule<infer T> ? T : never;
};

/** The rule of a tensor that the module holds as a buffer, under its name in snake_case: as in PyTorch's state dicts. */
export const bufferRule = /* @__PURE__ */ tensorRule.orNull();

/** The class that a declaration gives: its constructor, and its fields beside what `Base` has. */
export interface LayerClass<
  R extends Rules,
  Names extends readonly (keyof R)[],
  Base extends Module = Layer,
> extends Constructor<
    [],
    InOrder<R, Names>,
    // Written out rather than Options<R>, which editors would show with its rules.
    { [Name in keyof R]?: R[Name] extends Rule<infer T> ? T : never },
    Base & Fields<R>
  > {}

/** The class of modules with these arguments, which are also its fields. */
export interface ClassWith<
  Required extends readonly unknown[],
  Positional extends readonly unknown[],
  Named,
  R extends Rules,
> extends Constructor<Required, Positional, Named, Module & Fields<R>> {}

/** A class of modules with any constructor. */
export type AnyClass = new (...given: unknown[]) => Module;

/** Returns what is wrong with arguments that are fine one by one, or undefined. */
export type Check<R extends Rules> = (values: Values<R>) => string | undefined;

/**
 * Returns a class of modules whose constructor reads its arguments into fields; its printed text shows the same fields. `Class` is its
 * type in TypeScript.
 */
export function declared<Class, R extends Rules>(rules: R, check?: Check<R>): Class {
  const names = Object.keys(rules);
  const nameOf = (name: string) => (rules[name] === bufferRule ? snakeCase(name) : name);
  class Declared extends Module {
    constructor(...given: readonly unknown[]) {
      super();
      const values = readArguments(new.target.name, rules, given);
      const problem = check?.(values);
      if (problem !== undefined) fail("InvalidArgument", new.target.name, problem);
      for (const [name, value] of Object.entries(values)) {
        Reflect.set(this, nameOf(name), rules[name] === bufferRule ? asBuffer(value) : value);
      }
    }

    override extraRepr(): string {
      return formatArguments([], pick(this, names) as Record<string, Printable>);
    }
  }
  for (const name of names.filter((name) => nameOf(name) !== name)) {
    const get = function (this: object): unknown {
      return Reflect.get(this, nameOf(name));
    };
    Object.defineProperty(Declared.prototype, name, { get, configurable: true });
  }
  return Declared as Class;
}

/** Returns a tensor that was given to a constructor as a buffer of the module. */
export function asBuffer(given: Tensor | null): Buffer | null {
  return given === null || given instanceof Buffer ? given : new Buffer(given);
}

/** Returns a declaration in the order of `names`, which are all of its arguments. */
export function ordered(rules: Rules, names: readonly string[]): Rules {
  return Object.fromEntries(names.map((name) => [name, rules[name] as Rule<unknown>]));
}

/** Returns the values of fields of a module. */
export function valuesOf(module: Module, names: readonly string[]): unknown[] {
  return names.map((name) => Reflect.get(module, name));
}

/** Returns fields of a module by name. */
export function pick(module: Module, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, Reflect.get(module, name)]));
}

/** Returns the class of a layer that calls `op` with its input and its arguments, in the order of `names`. */
export function layer<R extends Rules, const Names extends readonly (keyof R & string)[]>(
  rules: R,
  names: Names,
  op: (input: Tensor, ...values: InOrder<R, Names>) => Tensor,
  check?: Check<R>,
): LayerClass<R, Names> {
  return class extends declared<AnyClass, Rules>(ordered(rules, names), check as Check<Rules>) {
    override forward(input: Tensor): Tensor {
      return op(input, ...(valuesOf(this, names) as InOrder<R, Names>));
    }
  } as unknown as LayerClass<R, Names>;
}

/** Like layer() for one argument, where `Given` is the type of the constructor's arguments. */
export function layerOfOne<Given extends readonly unknown[], R extends Rules>(
  rules: R,
  op: (input: Tensor, value: Values<R>[keyof R]) => Tensor,
): new (
  ...given: Given
) => Layer & Fields<R> {
  return layer(rules, Object.keys(rules), op as never) as never;
}

/** Like layer() for an op without arguments. */
export function plainLayer(op: (input: Tensor) => Tensor): new () => Layer {
  return class extends Module {
    override forward(input: Tensor): Tensor {
      return op(input);
    }
  };
}
