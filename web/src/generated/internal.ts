// Written by scripts/generating/generate_ops.mjs from op_table.json. Do not edit.

import { define, defineInPlace } from "../dispatch/define.js";
import type { Ints } from "../dispatch/types.js";
import type { DType } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";

/** input converted to dtype; input itself if it has that dtype. */
export const toDtype: {
  (input: Tensor, dtype: DType): Tensor;
} = define("to_dtype");

/** The same memory read as another dtype, without a graph. */
export const viewDtype: {
  (input: Tensor, dtype: DType): Tensor;
} = define("view_dtype");

/** A view of every step-th slice along dim, from start to before end. */
export const slice: {
  (input: Tensor, dim?: number, start?: number | null, end?: number | null, step?: number): Tensor;
  (input: Tensor, options: { dim?: number; start?: number | null; end?: number | null; step?: number }): Tensor;
  (input: Tensor, dim: number, options: { start?: number | null; end?: number | null; step?: number }): Tensor;
  (input: Tensor, dim: number, start: number | null, options: { end?: number | null; step?: number }): Tensor;
  (input: Tensor, dim: number, start: number | null, end: number | null, options: { step?: number }): Tensor;
} = define("slice");

/** The elements of input that indices select along dims. */
export const index: {
  (input: Tensor, indices: readonly Tensor[], dims: Ints): Tensor;
  (input: Tensor, indices: readonly Tensor[], ...dims: number[]): Tensor;
} = define("index");

/** The p-norm of all elements as one vector, or of the vectors along dim. */
export const norm: {
  (input: Tensor, p?: number, dim?: Ints | null, keepdim?: boolean): Tensor;
  (input: Tensor, options: { p?: number; dim?: Ints | null; keepdim?: boolean }): Tensor;
  (input: Tensor, p: number, options: { dim?: Ints | null; keepdim?: boolean }): Tensor;
  (input: Tensor, p: number, dim: Ints | null, options: { keepdim?: boolean }): Tensor;
} = define("norm");

/** Sum of products by an equation, given as character codes. */
export const einsum: {
  (equation: Ints, operands: readonly Tensor[]): Tensor;
} = define("einsum");

/** Powers of two to multiply the elements of A by: the matrix diag(d)⁻¹ A diag(d), whose rows and columns have similar norms. */
export const balanceRatios: {
  (A: Tensor): Tensor;
} = define("balance_ratios");

/** All steps of an LSTM layer in one direction, from the input's part of the gates, [steps, batch, 4 * size]: all outputs, the last output and the last state. */
export const lstmSteps: {
  (inputGates: Tensor, hidden: Tensor, state: Tensor, weight: Tensor, bias?: Tensor | null, reverse?: boolean): [output: Tensor, hidden: Tensor, state: Tensor];
  (inputGates: Tensor, hidden: Tensor, state: Tensor, weight: Tensor, options: { bias?: Tensor | null; reverse?: boolean }): [output: Tensor, hidden: Tensor, state: Tensor];
  (inputGates: Tensor, hidden: Tensor, state: Tensor, weight: Tensor, bias: Tensor | null, options: { reverse?: boolean }): [output: Tensor, hidden: Tensor, state: Tensor];
} = define("lstm_steps");

/** All steps of a GRU layer in one direction, from the input's part of the gates, [steps, batch, 3 * size]: all outputs and the last one. */
export const gruSteps: {
  (inputGates: Tensor, hidden: Tensor, weight: Tensor, bias?: Tensor | null, reverse?: boolean): [output: Tensor, hidden: Tensor];
  (inputGates: Tensor, hidden: Tensor, weight: Tensor, options: { bias?: Tensor | null; reverse?: boolean }): [output: Tensor, hidden: Tensor];
  (inputGates: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor | null, options: { reverse?: boolean }): [output: Tensor, hidden: Tensor];
} = define("gru_steps");

/** All steps of an RNN layer in one direction, from the input's part of the sums, [steps, batch, size]: all outputs and the last one. */
export const rnnSteps: {
  (inputGates: Tensor, hidden: Tensor, weight: Tensor, bias?: Tensor | null, nonlinearity?: "tanh" | "relu", reverse?: boolean): [output: Tensor, hidden: Tensor];
  (inputGates: Tensor, hidden: Tensor, weight: Tensor, options: { bias?: Tensor | null; nonlinearity?: "tanh" | "relu"; reverse?: boolean }): [output: Tensor, hidden: Tensor];
  (inputGates: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor | null, options: { nonlinearity?: "tanh" | "relu"; reverse?: boolean }): [output: Tensor, hidden: Tensor];
  (inputGates: Tensor, hidden: Tensor, weight: Tensor, bias: Tensor | null, nonlinearity: "tanh" | "relu", options: { reverse?: boolean }): [output: Tensor, hidden: Tensor];
} = define("rnn_steps");

/** A sparse tensor of its parts, which are checked. */
export const sparseTensor: {
  (values: Tensor, indices: Tensor, rowStarts: Tensor | null, size: Ints, isCoalesced: boolean): Tensor;
} = define("sparse_tensor");

/** The values of a sparse tensor, [nnz, ...dense dimensions], which it shares memory with unless it is recorded; or with recorded: false as they are stored, without history. */
export const sparseValues: {
  (input: Tensor, recorded: boolean): Tensor;
} = define("sparse_values");

/** Copies of the indices of a sparse tensor: coordinates for COO, row starts and columns for CSR. */
export const sparseIndices: {
  (input: Tensor): Tensor[];
} = define("sparse_indices");

/** input with every position once, in row-major order: the values of a position that occurs several times are summed. */
export const coalesce: {
  (input: Tensor): Tensor;
} = define("coalesce");

/** input in sparse COO layout: the elements that are not zero and their coordinates in the first sparseDim dimensions, or in all. */
export const toSparse: {
  (input: Tensor, sparseDim?: number | null): Tensor;
  (input: Tensor, options: { sparseDim?: number | null }): Tensor;
} = define("to_sparse");

/** A matrix, or a batch of matrices, in sparse CSR layout, row by row; the values have the last denseDim dimensions. */
export const toSparseCsr: {
  (input: Tensor, denseDim?: number | null): Tensor;
  (input: Tensor, options: { denseDim?: number | null }): Tensor;
} = define("to_sparse_csr");

/** input with all elements in memory; input itself if it is dense. */
export const toDense: {
  (input: Tensor): Tensor;
} = define("to_dense");

/** The elements of input at the positions of mask. */
export const sparseMask: {
  (input: Tensor, mask: Tensor): Tensor;
} = define("sparse_mask");

/** The elements of mat1 @ mat2 at the positions of mask. */
export const sparseSampled: {
  (mask: Tensor, mat1: Tensor, mat2: Tensor): Tensor;
} = define("sparse_sampled");

/** The x with input @ x = b for a square sparse matrix, which must not be singular; b is a vector or a matrix. */
export const sparseSolve: {
  (input: Tensor, b: Tensor): Tensor;
} = define("sparse_solve");

/** The distinct values of all elements in ascending order, or of consecutive runs of equal elements: the index of the first element of each value, the value number of each element (only withInverse), and the number of elements of each value. */
export const distinctElements: {
  (input: Tensor, consecutive: boolean, withInverse: boolean): [firsts: Tensor, inverse: Tensor, counts: Tensor];
} = define("distinct_elements");

/** Gamma samples of scale 1 and shape alpha. */
export const standardGamma: {
  (alpha: Tensor): Tensor;
} = define("standard_gamma");

/** Dirichlet samples, a row for each row of concentrations alpha. */
export const sampleDirichlet: {
  (alpha: Tensor): Tensor;
} = define("sample_dirichlet");

/** Throws unless an optimizer's step would succeed. */
export const checkStep_: {
  (params: readonly Tensor[], grads: readonly Tensor[], states: readonly Tensor[]): Tensor[];
} = defineInPlace("check_step_");

/** One step of stochastic gradient descent, with the options of torch.optim.SGD. */
export const sgdStep_: {
  (params: readonly Tensor[], grads: readonly Tensor[], momentumBuffers: readonly Tensor[], lr: number, momentum: number, dampening: number, weightDecay: number, nesterov: boolean, maximize: boolean, first: boolean): Tensor[];
} = defineInPlace("sgd_step_");

/** One step of Adam or AdamW, with the options of torch.optim. */
export const adamStep_: {
  (params: readonly Tensor[], grads: readonly Tensor[], expAvgs: readonly Tensor[], expAvgSqs: readonly Tensor[], maxExpAvgSqs: readonly Tensor[], step: number, lr: number, beta1: number, beta2: number, eps: number, weightDecay: number, decoupled: boolean, maximize: boolean): Tensor[];
} = defineInPlace("adam_step_");

/** One step of RMSprop, with the options of torch.optim. */
export const rmspropStep_: {
  (params: readonly Tensor[], grads: readonly Tensor[], squareAvgs: readonly Tensor[], momentumBuffers: readonly Tensor[], gradAvgs: readonly Tensor[], lr: number, alpha: number, eps: number, weightDecay: number, momentum: number, maximize: boolean): Tensor[];
} = defineInPlace("rmsprop_step_");

/** One step of Adagrad, with the options of torch.optim. */
export const adagradStep_: {
  (params: readonly Tensor[], grads: readonly Tensor[], sums: readonly Tensor[], lr: number, eps: number, weightDecay: number, maximize: boolean): Tensor[];
} = defineInPlace("adagrad_step_");
