// eg.random: the common random number generator, which is PyTorch's for the CPU.

import type { Tensor } from "../tensor/tensor.js";
import {
  bytesOfState,
  readState,
  seedNative,
  seedOfState,
  seedRule,
  tensorOfState,
  unforeseenSeed,
  writeState,
} from "./generator.js";

/** Seeds the generator: the numbers that follow are those PyTorch gives for this seed. */
export function manualSeed(seed: number | bigint): void {
  seedNative(seedRule.check("manualSeed", "seed", seed));
}

/** Seeds the generator with a number that nobody can foresee, and returns it. */
export function seed(): number {
  const chosen = unforeseenSeed();
  manualSeed(chosen);
  return chosen;
}

/** The seed that the generator began with; a bigint where a number would not be exact. */
export function initialSeed(): number | bigint {
  return seedOfState(readState());
}

/**
 * The position of the generator as a uint8 tensor: what is drawn after `setState` of it is what was
 * drawn after this call. `torch.set_rng_state` takes it too.
 */
export function getState(): Tensor {
  return tensorOfState(readState());
}

/** Goes to a position that getState() gave, here or in PyTorch; InvalidArgument for other bytes. */
export function setState(state: Tensor): void {
  writeState("setState", bytesOfState("setState", state));
}
