// Layers of dropout from their ops.

import type { Arguments, Constructor } from "../../arguments/read.js";
import { boolean, number, type Options } from "../../arguments/rule.js";
import { copy_ } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { declared, type Fields, type Layer } from "../layer.js";

const kArguments = {
  /** The probability that an element becomes zero; default 0.5. */
  p: number.or(0.5),
  /** Write the result into the input; default false. */
  inplace: boolean.or(false),
};

/** Options of all layers of dropout. */
export type DropoutOptions = Options<typeof kArguments>;

type Positional = [p: number, inplace: boolean];

/** The arguments of all layers of dropout. */
export type DropoutArguments = Arguments<Positional, DropoutOptions>;

/** The class of a layer of dropout. */
export interface DropoutClass
  extends Constructor<[], Positional, DropoutOptions, Layer & Fields<typeof kArguments>> {}

/** Returns the class of a layer that calls `drop` with its input, the probability and whether it is in training. */
export function dropoutLayer(
  drop: (input: Tensor, p: number, training: boolean) => Tensor,
): DropoutClass {
  return class extends declared<DropoutClass, typeof kArguments>(kArguments, checkProbability) {
    override forward(input: Tensor): Tensor {
      const result = drop(input, this.p, this.training);
      return this.inplace ? copy_(input, result) : result;
    }
  };
}

function checkProbability({ p }: { readonly p: number }): string | undefined {
  return p >= 0 && p <= 1 ? undefined : `p must be a probability, from 0 to 1, got ${p}.`;
}
