// The table of all kernels, by the names of their structs in src/kernels.

import type { Kernels } from "../../generated/stream";
import { formulas } from "../formula_shader";
import type { StepKernel, StepStruct } from "../steps/step_kernel";
import { fft } from "./complex/fft";
import { copy } from "./elementwise/copy";
import { elementwise } from "./elementwise/elementwise";
import { fill, ramp } from "./elementwise/fill";
import { addElements, putElements, takeElements } from "./index/elements";
import { clearTriangle, countTrue, findOutOfRange, findTrue } from "./index/find";
import { extremeElements, multiplyElements } from "./index/folds";
import { modeRows, orderRows } from "./index/order";
import { addRows, putRows, takeRows } from "./index/rows";
import { searchSorted } from "./index/search";
import type { AnyKernel, Kernel, SupportedDTypes } from "./kernel";
import { cholesky } from "./linalg/cholesky";
import { determinants, lu, solve } from "./linalg/elimination";
import { solveTriangular } from "./linalg/triangular";
import { matrixProduct } from "./matrix/matrix_product";
import { quantizedProduct } from "./matrix/quantized_product";
import { csrProduct, sampledProduct } from "./matrix/sparse";
import { attentionKernels } from "./nn/attention";
import { channelNorm, channelNormBackward } from "./nn/channel_norm";
import {
  crossEntropy,
  crossEntropyBackward,
  findBadTarget,
  meanLoss,
  nllLosses,
  targetDistribution,
} from "./nn/class_loss";
import { convolve, convolveBackwardInput, convolveBackwardWeight } from "./nn/conv";
import { rowNorm, rowNormBackwardInput, rowNormBackwardParameters } from "./nn/norm";
import { avgPool, avgPoolBackward, maxPool, maxPoolBackward, maxPoolPick } from "./nn/pool";
import { recurrentStep, recurrentStepBackward } from "./nn/recurrent";
import { softmax, softmaxBackward } from "./nn/softmax";
import type { KernelOnTheCpu } from "./on_the_cpu";
import { adagradStep, adamStep, rmspropStep, sgdStep } from "./optim/optim";
import { drawDropout, drawRandom } from "./random/draw";
import { dropout } from "./random/dropout";
import { drawPoisson, drawPositions, drawRaces } from "./random/samples";
import { argReduce } from "./reduce/arg_reduce";
import { reduce } from "./reduce/reduce";
import { recurrence, runningExtreme, scan } from "./reduce/scan";

/** Kernels by their names. */
export type KernelTable = ReadonlyMap<string, TableEntry>;

type TableEntry = AnyKernel | StepKernel<never>;

type PlayerKernel<Struct> =
  | Kernel<Struct>
  | (Struct extends StepStruct ? StepKernel<Struct> : never);

// All kernels except those that the CPU computes; the compiler reports missing ones.
const kKernels: {
  readonly [Name in Exclude<keyof Kernels, KernelOnTheCpu>]: PlayerKernel<Kernels[Name]>;
} = {
  elementwise,
  copy,
  fill,
  ramp,
  reduce,
  arg_reduce: argReduce,
  scan,
  recurrence,
  running_extreme: runningExtreme,
  matrix_product: matrixProduct,
  quantized_product: quantizedProduct,
  csr_product: csrProduct,
  sampled_product: sampledProduct,
  cholesky,
  determinants,
  lu,
  solve,
  solve_triangular: solveTriangular,
  softmax,
  softmax_backward: softmaxBackward,
  find_bad_target: findBadTarget,
  mean_loss: meanLoss,
  nll_losses: nllLosses,
  target_distribution: targetDistribution,
  cross_entropy: crossEntropy,
  cross_entropy_backward: crossEntropyBackward,
  row_norm: rowNorm,
  row_norm_backward_input: rowNormBackwardInput,
  row_norm_backward_parameters: rowNormBackwardParameters,
  channel_norm: channelNorm,
  channel_norm_backward: channelNormBackward,
  recurrent_step: recurrentStep,
  recurrent_step_backward: recurrentStepBackward,
  ...attentionKernels(),
  convolve,
  convolve_backward_input: convolveBackwardInput,
  convolve_backward_weight: convolveBackwardWeight,
  max_pool: maxPool,
  max_pool_backward: maxPoolBackward,
  max_pool_pick: maxPoolPick,
  avg_pool: avgPool,
  avg_pool_backward: avgPoolBackward,
  dropout,
  draw_random: drawRandom,
  draw_dropout: drawDropout,
  draw_poisson: drawPoisson,
  draw_positions: drawPositions,
  draw_races: drawRaces,
  find_out_of_range: findOutOfRange,
  take_rows: takeRows,
  put_rows: putRows,
  add_rows: addRows,
  take_elements: takeElements,
  put_elements: putElements,
  add_elements: addElements,
  multiply_elements: multiplyElements,
  extreme_elements: extremeElements,
  order_rows: orderRows,
  mode_rows: modeRows,
  search_sorted: searchSorted,
  count_true: countTrue,
  find_true: findTrue,
  clear_triangle: clearTriangle,
  fft,
  sgd_step: sgdStep,
  adam_step: adamStep,
  rmsprop_step: rmspropStep,
  adagrad_step: adagradStep,
};

export const kernels: KernelTable = new Map<string, TableEntry>(Object.entries(kKernels));

/** The ops for which `elementwise` has formulas. */
export const supportedFormulas: readonly string[] = Object.keys(formulas);

/** The available kernels and their dtypes, for the writer of a stream. */
export const supported: Readonly<Record<string, SupportedDTypes>> = Object.fromEntries(
  Object.entries(kKernels).map(([name, kernel]) => [name, kernel.supported]),
);
