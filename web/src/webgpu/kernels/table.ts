// All kernels, by the names of their structs in src/kernels.

import { copy } from "./elementwise/copy";
import { elementwise } from "./elementwise/elementwise";
import type { Kernel, SupportedDTypes } from "./kernel";
import { matrixProduct } from "./matrix/matrix_product";
import {
  crossEntropy,
  crossEntropyBackward,
  findBadTarget,
  nllLosses,
  targetDistribution,
  targetWeight,
} from "./nn/class_loss";
import { softmax, softmaxBackward } from "./nn/softmax";
import { adagradStep, adamStep, rmspropStep, sgdStep } from "./optim/optim";
import { argReduce } from "./reduce/arg_reduce";
import { reduce } from "./reduce/reduce";

const kKernels: Readonly<Record<string, Kernel>> = {
  elementwise,
  copy,
  reduce,
  arg_reduce: argReduce,
  matrix_product: matrixProduct,
  softmax,
  softmax_backward: softmaxBackward,
  find_bad_target: findBadTarget,
  target_weight: targetWeight,
  nll_losses: nllLosses,
  target_distribution: targetDistribution,
  cross_entropy: crossEntropy,
  cross_entropy_backward: crossEntropyBackward,
  sgd_step: sgdStep,
  adam_step: adamStep,
  rmsprop_step: rmspropStep,
  adagrad_step: adagradStep,
};

export const kernels: ReadonlyMap<string, Kernel> = new Map(Object.entries(kKernels));

/** The kernels that there are and the dtypes that they take, for whoever writes a stream. */
export const supported: Readonly<Record<string, SupportedDTypes>> = Object.fromEntries(
  Object.entries(kKernels).map(([name, kernel]) => [name, kernel.supported]),
);
