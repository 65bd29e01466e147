// Draws that the engine makes as PyTorch does. Those that it cannot make yet throw.

import { fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";

function missing(name: string): never {
  return fail("Internal", name, "this engine cannot draw it yet.");
}

/** Indices of `numSamples` draws of rows of probabilities. */
export function multinomial(_input: Tensor, _numSamples: number, _replacement: boolean): Tensor {
  return missing("multinomial");
}

/** Counts of events of these rates. */
export function poisson(_input: Tensor): Tensor {
  return missing("poisson");
}

/** Counts of successes. */
export function binomial(_count: Tensor, _prob: Tensor): Tensor {
  return missing("binomial");
}

/** Gamma variates of rate 1, with gradients to alpha. */
export function standardGamma(_alpha: Tensor): Tensor {
  return missing("standardGamma");
}

/** Points of the simplex along the last dimension, with gradients to alpha. */
export function sampleDirichlet(_alpha: Tensor): Tensor {
  return missing("sampleDirichlet");
}
