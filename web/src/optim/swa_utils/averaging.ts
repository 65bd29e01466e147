// How an average of weights takes in the next ones.

import { readArguments, readNothing } from "../../arguments/read.js";
import { share } from "../../arguments/rule.js";
import { add, copy_, div, lerp_, mul, sub } from "../../generated/ops.js";
import { isComplex, isFloat } from "../../tensor/dtype.js";
import type { Tensor } from "../../tensor/tensor.js";
import { quietly } from "../quietly.js";

/** Returns the next average of one tensor, from the average of `numAveraged` ones and the current one. */
export type AvgFn = (averaged: Tensor, current: Tensor, numAveraged: number) => Tensor;

/** Changes the averages of tensors of one dtype in place. */
export type MultiAvgFn = (
  averaged: readonly Tensor[],
  current: readonly Tensor[],
  numAveraged: number,
) => void;

const kDecay = share.or(0.999).saying("Please provide a value in [0,1] range.");

/** Returns what makes an exponential moving average: `decay` of the old and the rest of the new. */
export function getEmaAvgFn(...given: [decay?: number]): AvgFn {
  const { decay } = readArguments("getEmaAvgFn", { decay: kDecay }, given);
  return (averaged, current) => add(mul(averaged, decay), current, 1 - decay);
}

/** Like getEmaAvgFn() for lists of tensors, in place. */
export function getEmaMultiAvgFn(...given: [decay?: number]): MultiAvgFn {
  const { decay } = readArguments("getEmaMultiAvgFn", { decay: kDecay }, given);
  return (averaged, current) => approach(averaged, current, 1 - decay);
}

/** Returns what makes the mean of all. */
export function getSwaAvgFn(...given: []): AvgFn {
  readNothing("getSwaAvgFn", given);
  return (averaged, current, numAveraged) => {
    return add(averaged, div(sub(current, averaged), numAveraged + 1));
  };
}

/** Like getSwaAvgFn() for lists of tensors, in place. */
export function getSwaMultiAvgFn(...given: []): MultiAvgFn {
  readNothing("getSwaMultiAvgFn", given);
  return (averaged, current, numAveraged) => approach(averaged, current, 1 / (numAveraged + 1));
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
