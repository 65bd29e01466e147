// Functions that update an average of weights.

import { readArguments, readNothing } from "../../arguments/read.js";
import { share } from "../../arguments/rule.js";
import { add, copy_, div, lerp_, mul, sub } from "../../generated/ops.js";
import { isComplex, isFloat } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { quietly } from "../quietly.js";

/** Returns the next average of a tensor, from the average of `numAveraged` values and the current value. */
export type AvgFn = (averaged: Tensor, current: Tensor, numAveraged: number) => Tensor;

/** Updates the averages of tensors of one dtype in place. */
export type MultiAvgFn = (
  averaged: readonly Tensor[],
  current: readonly Tensor[],
  numAveraged: number,
) => void;

const kDecay = share.or(0.999);

/** Returns a function for an exponential moving average: `decay` of the average plus 1 - `decay` of the current value. */
export function getEmaAvgFn(...given: [decay?: number]): AvgFn {
  const { decay } = readArguments("getEmaAvgFn", { decay: kDecay }, given);
  return (averaged, current) => add(mul(averaged, decay), current, 1 - decay);
}

/** Like getEmaAvgFn() for lists of tensors, in place. */
export function getEmaMultiAvgFn(...given: [decay?: number]): MultiAvgFn {
  const { decay } = readArguments("getEmaMultiAvgFn", { decay: kDecay }, given);
  return (averaged, current) => approach(averaged, current, 1 - decay);
}

/** Returns a function for the mean of all values. */
export function getSwaAvgFn(...given: []): AvgFn {
  readNothing("getSwaAvgFn", given);
  return (averaged, current, numAveraged) => {
    return add(averaged, div(sub(current, averaged), Number(numAveraged) + 1));
  };
}

/** Like getSwaAvgFn() for lists of tensors, in place. */
export function getSwaMultiAvgFn(...given: []): MultiAvgFn {
  readNothing("getSwaMultiAvgFn", given);
  return (averaged, current, numAveraged) =>
    approach(averaged, current, 1 / (Number(numAveraged) + 1));
}

function approach(averaged: readonly Tensor[], current: readonly Tensor[], weight: number): void {
  quietly(() => {
    averaged.forEach((average, i) => {
      const next = current[i] as Tensor;
      if (isFloat(average.dtype) || isComplex(average.dtype)) lerp_(average, next, weight);
      else copy_(average, add(mul(average, 1 - weight), next, weight));
    });
  });
}
