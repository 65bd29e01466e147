// The arguments of weightNorm and spectralNorm.

import { count, integer, number, type Options, Rule, text } from "../../arguments/rule.js";
import { ConvTranspose1d, ConvTranspose2d, ConvTranspose3d } from "../conv/conv_transpose.js";
import { Module } from "../module.js";

const kModule = new Rule<Module>("a module", (value) => value instanceof Module);

const kWeightNormOptions = {
  /** The name of the parameter; default "weight". */
  name: text.or("weight"),
  /** The dimension with a norm for each position, or null for one norm of the whole weight; default 0. */
  dim: integer.orNull().or(0),
};

/** Options of `weightNorm`. */
export type WeightNormOptions = Options<typeof kWeightNormOptions>;

/** The declaration of the arguments of `weightNorm`. */
export const kWeightNormArguments = { module: kModule, ...kWeightNormOptions };

const kSpectralNormOptions = {
  /** The name of the parameter; default "weight". */
  name: text.or("weight"),
  /** The number of power iterations at each use in training; default 1. */
  nPowerIterations: count.or(1),
  /** The smallest norm to divide by; default 1e-12. */
  eps: number.or(1e-12),
  /** The dimension of the outputs; default 0, for transposed convolutions 1. */
  dim: integer.orNull(),
};

/** Options of `spectralNorm`. */
export type SpectralNormOptions = Options<typeof kSpectralNormOptions>;

/** The declaration of the arguments of `spectralNorm`. */
export const kSpectralNormArguments = { module: kModule, ...kSpectralNormOptions };

/** Returns the dimension of a layer's weight that its outputs have. */
export function outputDimOf(module: Module): number {
  const transposed = [ConvTranspose1d, ConvTranspose2d, ConvTranspose3d];
  return transposed.some((layer) => module instanceof layer) ? 1 : 0;
}
