// The random number generator, which is PyTorch's for the CPU.

import { native } from "./runtime/bridge.js";
import { fail } from "./runtime/errors.js";

/** Seeds the generator: the numbers that follow are those PyTorch gives for this seed. */
export function manualSeed(seed: number | bigint): void {
  if (typeof seed === "number" && !Number.isSafeInteger(seed)) {
    fail("InvalidArgument", "manualSeed", `a seed is a whole number, got ${seed}.`);
  }
  const bits = BigInt.asUintN(64, BigInt(seed));
  native.manualSeed(Number(bits >> 32n), Number(bits & 0xffffffffn));
}
