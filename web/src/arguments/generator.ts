// The option { generator } of functions that draw random numbers.

import type { Generator } from "../ops/generator.js";
import { Rule } from "./rule.js";

/** The method of generators that has what is drawn meanwhile come from them. */
export const kDraw: unique symbol = Symbol("draw");

/** The option of functions that draw numbers. */
export interface GeneratorOption {
  /** Where the numbers come from; default the generator that `manualSeed` seeds. */
  generator?: Generator | null;
}

/** A generator, or null for the common one. */
export const generatorRule = /* @__PURE__ */ new Rule<Generator>("a Generator", (value) => {
  return typeof value === "object" && value !== null && kDraw in value;
}).orNull();

/** Runs `draw` with the numbers of a generator, or of the common one. */
export function drawnFrom<T>(generator: Generator | null, draw: () => T): T {
  return generator === null ? draw() : generator[kDraw](draw);
}
