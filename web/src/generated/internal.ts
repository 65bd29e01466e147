// Written by scripts/generate_ops.mjs from op_table.json. Do not edit.

import { define, defineInPlace } from "../dispatch/define.js";
import type { Ints } from "../dispatch/types.js";
import type { DType } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";

/** A copy of another dtype; the tensor itself when it has it. */
export const toDtype: {
  (input: Tensor, dtype: DType): Tensor;
} = define("to_dtype");

/** A view of every step-th element of dim from start to before end. */
export const slice: {
  (input: Tensor, dim?: number, start?: number | null, end?: number | null, step?: number): Tensor;
  (input: Tensor, options: { dim?: number; start?: number | null; end?: number | null; step?: number }): Tensor;
  (input: Tensor, dim: number, options: { start?: number | null; end?: number | null; step?: number }): Tensor;
  (input: Tensor, dim: number, start: number | null, options: { end?: number | null; step?: number }): Tensor;
  (input: Tensor, dim: number, start: number | null, end: number | null, options: { step?: number }): Tensor;
} = define("slice");

/** The elements of input that indices name along dims. */
export const index: {
  (input: Tensor, indices: readonly Tensor[], dims: Ints): Tensor;
  (input: Tensor, indices: readonly Tensor[], ...dims: number[]): Tensor;
} = define("index");

/** Sum of products; the equation as character codes. */
export const einsum: {
  (equation: Ints, operands: readonly Tensor[]): Tensor;
} = define("einsum");

/** All steps of a layer of long short-term memory in one direction, from the input's share of the gates [steps, batch, 4 * size]: the outputs, the last one and the last state. */
export const lstmSteps: {
  (inputGates: Tensor, hidden: Tensor, state: Tensor, weight: Tensor, bias?: Tensor | null, reverse?: boolean): [output: Tensor, hidden: Tensor, state: Tensor];
  (inputGates: Tensor, hidden: Tensor, state: Tensor, weight: Tensor, options: { bias?: Tensor | null; reverse?: boolean }): [output: Tensor, hidden: Tensor, state: Tensor];
  (inputGates: Tensor, hidden: Tensor, state: Tensor, weight: Tensor, bias: Tensor | null, options: { reverse?: boolean }): [output: Tensor, hidden: Tensor, state: Tensor];
} = define("lstm_steps");

/** The distinct values of all elements in ascending order, or of runs of equal ones as they come: where each is first, which of them each element has, if asked for, and how often. */
export const distinctElements: {
  (input: Tensor, consecutive: boolean, withInverse: boolean): [firsts: Tensor, inverse: Tensor, counts: Tensor];
} = define("distinct_elements");

/** Gamma numbers of scale 1, of the shapes alpha. */
export const standardGamma: {
  (alpha: Tensor): Tensor;
} = define("standard_gamma");

/** Rows of parts of 1, each row with the concentrations alpha. */
export const sampleDirichlet: {
  (alpha: Tensor): Tensor;
} = define("sample_dirichlet");

/** Throws unless an optimizer's step would succeed. */
export const checkStep_: {
  (params: readonly Tensor[], grads: readonly Tensor[], states: readonly Tensor[]): Tensor[];
} = defineInPlace("check_step_");

/** One step of stochastic gradient descent, as torch.optim.SGD takes it. */
export const sgdStep_: {
  (params: readonly Tensor[], grads: readonly Tensor[], momentumBuffers: readonly Tensor[], lr: number, momentum: number, dampening: number, weightDecay: number, nesterov: boolean, maximize: boolean, first: boolean): Tensor[];
} = defineInPlace("sgd_step_");

/** One step of Adam or AdamW, as torch.optim takes it. */
export const adamStep_: {
  (params: readonly Tensor[], grads: readonly Tensor[], expAvgs: readonly Tensor[], expAvgSqs: readonly Tensor[], maxExpAvgSqs: readonly Tensor[], step: number, lr: number, beta1: number, beta2: number, eps: number, weightDecay: number, decoupled: boolean, maximize: boolean): Tensor[];
} = defineInPlace("adam_step_");

/** One step of RMSprop, as torch.optim takes it. */
export const rmspropStep_: {
  (params: readonly Tensor[], grads: readonly Tensor[], squareAvgs: readonly Tensor[], momentumBuffers: readonly Tensor[], gradAvgs: readonly Tensor[], lr: number, alpha: number, eps: number, weightDecay: number, momentum: number, maximize: boolean): Tensor[];
} = defineInPlace("rmsprop_step_");

/** One step of Adagrad, as torch.optim takes it. */
export const adagradStep_: {
  (params: readonly Tensor[], grads: readonly Tensor[], sums: readonly Tensor[], lr: number, eps: number, weightDecay: number, maximize: boolean): Tensor[];
} = defineInPlace("adagrad_step_");
