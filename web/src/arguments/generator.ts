// The option { generator } of functions that draw random numbers.

import type { Generator } from "../ops/generator.js";
import { Rule } from "./rule.js";

/** The method of generators that runs a function whose random numbers come from the generator. */
export const kDraw: unique symbol = Symbol("draw");

/** The option of functions that draw numbers. */
export interface GeneratorOption {
  /** The source of the random numbers; default: the global generator, which `manualSeed` seeds. */
  generator?: Generator | null;
}

/** A generator, or null for the global one. */
export const generatorRule = /* @__PURE__ */ new Rule<Generator>("a Generator", (value) => {
  return typeof value === "object" && value !== null && kDraw in value;
}).orNull();

/** Runs `draw` with random numbers from a generator, or from the global one. */
export function drawnFrom<T>(generator: Generator | null, draw: () => T): T {
  return generator === null ? draw() : generator[kDraw](draw);
}
