// eg.random: the global random number generator, which produces the same numbers as PyTorch's for the CPU.

import type { Tensor } from "../tensor/tensor.js";
import {
  bytesOfState,
  entropySeed,
  readState,
  seedNative,
  seedOfState,
  seedRule,
  tensorOfState,
  writeState,
} from "./generator.js";

/** Seeds the global generator: the numbers that follow are those of PyTorch for this seed. */
export function manualSeed(seed: number | bigint): void {
  seedNative(seedRule.check("manualSeed", "seed", seed));
}

/** Seeds the global generator with an unpredictable number and returns the number. */
export function seed(): number {
  const chosen = entropySeed();
  manualSeed(chosen);
  return chosen;
}

/** Returns the seed that the global generator started from; a bigint where a number would not be exact. */
export function initialSeed(): number | bigint {
  return seedOfState(readState());
}

/**
 * Returns the state of the global generator as a uint8 tensor. After `setState` with it, the generator repeats
 * the numbers that followed this call. `torch.set_rng_state` also accepts it.
 */
export function getState(): Tensor {
  return tensorOfState(readState());
}

/** Restores a state returned by getState(), here or in PyTorch; throws InvalidArgument for any other bytes. */
export function setState(state: Tensor): void {
  writeState("setState", bytesOfState("setState", state));
}
