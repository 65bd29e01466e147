// The option { generator } of ops that draw random numbers.

import { drawnFrom, generatorRule } from "../arguments/generator.js";
import { isOptions } from "./call.js";
import { type AnyFunction, named } from "./define.js";

/** Adds the option { generator } to the function of an op that draws random numbers. */
export function withGenerator<F extends AnyFunction>(run: F): F {
  const { name } = run;
  const call = run as unknown as (...args: readonly unknown[]) => unknown;
  const drawn = (...args: readonly unknown[]) => {
    const last = args[args.length - 1];
    if (!isOptions(last) || !("generator" in last)) return call(...args);
    const { generator, ...options } = last;
    const source = generatorRule.check(name, "generator", generator);
    return drawnFrom(source, () => call(...args.slice(0, -1), options));
  };
  return named(name, drawn) as F;
}
