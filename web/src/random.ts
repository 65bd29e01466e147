// The random number generator, which is PyTorch's for the CPU.

import { integer, Rule } from "./arguments/rule.js";
import { native } from "./runtime/bridge.js";

const seedRule = new Rule<number | bigint>("a whole number", (value) => {
  return typeof value === "bigint" || integer.accepts(value);
});

/** Seeds the generator: the numbers that follow are those PyTorch gives for this seed. */
export function manualSeed(seed: number | bigint): void {
  const bits = BigInt.asUintN(64, BigInt(seedRule.check("manualSeed", "seed", seed)));
  native.manualSeed(Number(bits >> 32n), Number(bits & 0xffffffffn));
}
