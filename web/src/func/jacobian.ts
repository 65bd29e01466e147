// eg.func.jacrev, jacfwd and hessian: full derivative matrices of a function.

import { type Arguments, readArguments } from "../arguments/read.js";
import { boolean, count, type Options, oneOf } from "../arguments/rule.js";
import {
  clone,
  copy_,
  expand,
  reshape,
  select,
  stack,
  unsqueeze,
  zeros,
  zerosLike,
} from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import { isComplex } from "../tensor/dtype.js";
import { ownResult } from "../tensor/own_result.js";
import type { Tensor } from "../tensor/tensor.js";
import { basisOf, outputsOf } from "./gradients.js";
import { linearAt } from "./linearize.js";
import { type Tree, withLeaves } from "./pytree.js";
import { type GradArguments, kFunction, kGradOptions, type TreeFunction, trace } from "./trace.js";

const kJacrevOptions = {
  ...kGradOptions,
  /** The maximum number of rows to compute at once; null for all. It has no effect here: rows are computed one by one. */
  chunkSize: count.orNull(),
  /** Whether to write rows into the result as soon as they are computed, which needs less memory at once; default false. */
  preallocateAndCopy: boolean.or(false),
};

const kJacfwdOptions = {
  ...kGradOptions,
  /**
   * How random ops behave: "error" or "same". The function runs only once, so all columns use the same random numbers;
   * "different" is not supported.
   */
  randomness: oneOf("error", "same").or("error"),
};

/** Options of `jacrev`. */
export type JacrevOptions = Options<typeof kJacrevOptions>;

/** Options of `jacfwd`. */
export type JacfwdOptions = Options<typeof kJacfwdOptions>;

type Positions = number | readonly number[];

/**
 * Returns a function that computes the Jacobian of `fn` with respect to the argument `argnums` in reverse mode, one row at
 * a time. Its result has, in place of every tensor that `fn` returns, a tree with the structure of the argument, whose tensors
 * have the shape [...result, ...argument]. Efficient for functions with many inputs and few outputs. With `hasAux`, returns
 * [jacobian, aux].
 */
export function jacrev<Args extends Tree[]>(
  fn: (...args: Args) => Tree,
  ...rest: Arguments<[argnums: Positions, hasAux: boolean], JacrevOptions>
): (...args: Args) => Tree {
  kFunction.check("jacrev", "fn", fn);
  const options = readArguments("jacrev", kJacrevOptions, rest);
  return (...args: Args) => {
    const { inputs, chosen, result, aux } = trace("jacrev", fn as TreeFunction, args, options);
    const outputs = outputsOf("jacrev", result);
    checkReal("jacrev", inputs.tensors, outputs);
    const blocks = outputs.map((output, i) => {
      const cotangents = outputs.map((output) => zerosLike(output).detach());
      const pull = (row: Tensor) => inputs.pull(outputs, replacedAt(cotangents, i, row));
      if (options.preallocateAndCopy) {
        return withLeaves(chosen, copiedRows(output, inputs.tensors, pull));
      }
      const rows = basisOf(output).map(pull);
      return withLeaves(
        chosen,
        inputs.tensors.map((input, k) => blockOf(rows, k, 0, output, input)),
      );
    });
    const jacobian = inputs.released(withLeaves(result, blocks));
    return options.hasAux ? [jacobian, aux] : jacobian;
  };
}

/**
 * Like jacrev(), but in forward mode, one column at a time. Efficient for functions with few inputs and many outputs.
 */
export function jacfwd<Args extends Tree[]>(
  fn: (...args: Args) => Tree,
  ...rest: Arguments<[argnums: Positions, hasAux: boolean], JacfwdOptions>
): (...args: Args) => Tree {
  kFunction.check("jacfwd", "fn", fn);
  const options = readArguments("jacfwd", kJacfwdOptions, rest);
  return (...args: Args) => {
    const { result, aux, chosen, inputs, outputs, push } = linearAt(
      "jacfwd",
      fn as TreeFunction,
      args,
      options,
    );
    checkReal("jacfwd", inputs, outputs);
    const still = inputs.map((input) => zerosLike(input).detach());
    const columns = inputs.map((input, k) =>
      basisOf(input).map((column) => push("jacfwd", replacedAt(still, k, column))),
    );
    const blocks = outputs.map((output, i) =>
      withLeaves(
        chosen,
        inputs.map((input, k) => blockOf(columns[k] ?? [], i, -1, output, input)),
      ),
    );
    const jacobian = withLeaves(result, blocks);
    return options.hasAux ? [jacobian, aux] : jacobian;
  };
}

/**
 * Returns a function that computes the Hessian of `fn`, whose result must be a scalar, with respect to the argument
 * `argnums`: jacfwd(jacrev(fn)). With `hasAux`, returns [hessian, aux].
 */
export function hessian<Args extends Tree[]>(
  fn: (...args: Args) => Tree,
  ...rest: GradArguments
): (...args: Args) => Tree {
  kFunction.check("hessian", "fn", fn);
  const options = readArguments("hessian", kGradOptions, rest);
  return jacfwd(jacrev(fn, options), options);
}

// Returns the derivatives of one output with respect to each input, into which every row is copied.
function copiedRows(
  output: Tensor,
  inputs: readonly Tensor[],
  pull: (row: Tensor) => Tensor[],
): Tensor[] {
  const { numel, dtype, device } = output;
  const blocks: Tensor[] = [];
  basisOf(output).forEach((row, k) => {
    pull(row).forEach((grad, j) => {
      // Like a gradient, which inside vmap() differs between samples.
      blocks[j] ??= clone(expand(unsqueeze(zerosLike(grad), 0), [numel, ...grad.shape]));
      copy_(select(blocks[j], 0, k), grad);
    });
  });
  return inputs.map((input, j) => {
    const shape = [...output.shape, ...input.shape];
    return numel === 0 ? zeros(shape, { dtype, device }) : reshape(blocks[j] as Tensor, shape);
  });
}

// A complex result has a derivative by a complex input only if the function is holomorphic.
function checkReal(where: string, inputs: readonly Tensor[], outputs: readonly Tensor[]): void {
  const check = (what: string, tensors: readonly Tensor[]) => {
    const i = tensors.findIndex(({ dtype }) => isComplex(dtype));
    if (i < 0) return;
    const reason = `expected real ${what}, got ${tensors[i]?.dtype} at index ${i}.`;
    const advice = "Use real and imaginary parts (viewAsReal), or eg.func.jvp() and eg.func.vjp().";
    fail("DtypeMismatch", where, `${reason} ${advice}`);
  };
  check("inputs", inputs);
  check("results", outputs);
}

// Combines the k-th tensors of all rows or columns into the derivatives of one output with respect to one input.
function blockOf(
  lines: readonly (readonly Tensor[])[],
  k: number,
  dim: number,
  output: Tensor,
  input: Tensor,
): Tensor {
  const shape = [...output.shape, ...input.shape];
  if (lines.length === 0) return zeros(shape, { dtype: output.dtype, device: output.device });
  const tensors = lines.map((line) => line[k] as Tensor);
  return ownResult([], () => reshape(stack(tensors, dim), shape));
}

function replacedAt(tensors: readonly Tensor[], i: number, tensor: Tensor): Tensor[] {
  return tensors.map((other, k) => (k === i ? tensor : other));
}
