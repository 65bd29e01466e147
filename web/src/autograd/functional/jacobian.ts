// Whole Jacobians and Hessians, one backward pass per row.

import { reshape, squeeze, stack, zerosLike } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { ownResult } from "../../tensor/own_result.js";
import type { Tensor } from "../../tensor/tensor.js";
import { recording } from "../recording.js";
import {
  checkRequiresGrad,
  type Differentiable,
  type FunctionalOptions,
  finished,
  freshInputs,
  gradOf,
  kOutputs,
  type PerTensor,
  readMatrixCall,
  type Settings,
  strictMessage,
  TensorGroup,
  type Tensors,
} from "./arguments.js";
import { checkSingleOutput } from "./products.js";

/** One tensor per pair of an output and an input; nested arrays where the outputs or inputs are arrays. */
export type JacobianOf<Inputs extends Tensors, Output extends Tensors> = Output extends Tensor
  ? PerTensor<Inputs>
  : PerTensor<Inputs>[];

/**
 * Returns the Jacobian of `fn`: for each pair of an output and an input, a tensor of shape
 * [...output, ...input].
 */
export function jacobian<Inputs extends Tensors, Output extends Tensors>(
  fn: Differentiable<Output>,
  inputs: Inputs,
  ...rest: [options?: FunctionalOptions]
): JacobianOf<Inputs, Output> {
  const settings = readMatrixCall("jacobian", [fn, inputs, ...rest]);
  const given = TensorGroup.of(inputs, "inputs", "jacobian");
  const { outputs, blocks } = recording(() => {
    const fresh = freshInputs(given, settings.createGraph);
    const outputs = TensorGroup.of(fn(...fresh), kOutputs, "jacobian");
    checkRequiresGrad(outputs.tensors, "outputs", settings);
    return { outputs, blocks: outputs.tensors.map((one, i) => rowsOf(one, i, fresh, settings)) };
  });
  const perOutput = blocks.map((block) => given.unwrap(finished(block, settings.createGraph)));
  return outputs.unwrap(perOutput) as JacobianOf<Inputs, Output>;
}

/**
 * Returns the Hessian of a function with one single-element output: for each pair of inputs a tensor
 * of shape [...input, ...input].
 */
export function hessian<Inputs extends Tensors>(
  fn: Differentiable<Tensor>,
  inputs: Inputs,
  ...rest: [options?: FunctionalOptions]
): JacobianOf<Inputs, Inputs> {
  const settings = readMatrixCall("hessian", [fn, inputs, ...rest]);
  const { createGraph, strict } = settings;
  const given = TensorGroup.of(inputs, "inputs", "hessian");
  const scalar = (...args: Tensor[]) => {
    const outputs = TensorGroup.of(fn(...args), kOutputs, "hessian");
    checkRequiresGrad(outputs.tensors, "outputs", settings);
    checkSingleOutput(outputs, "hessian");
    return squeeze(outputs.tensors[0] as Tensor);
  };
  const gradient = (...args: Tensor[]) => {
    const rows = jacobian(scalar, args, { createGraph: true });
    checkRequiresGrad(rows, "jacobian", settings);
    return given.unwrap(rows);
  };
  return jacobian(gradient, inputs, { createGraph, strict }) as JacobianOf<Inputs, Inputs>;
}

// Returns the derivatives of one output with respect to each input.
function rowsOf(output: Tensor, i: number, inputs: readonly Tensor[], settings: Settings) {
  const { createGraph, strict } = settings;
  const rows = inputs.map((): Tensor[] => []);
  const flat = reshape(output, [-1]);
  for (let row = 0; row < flat.numel; row++) {
    const grads = gradOf([flat.at(row)], inputs, null, { retainGraph: true, createGraph });
    grads.forEach((one, j) => {
      if (one === null && strict) {
        fail("NoGradPath", settings.where, strictMessage(`output ${i} of fn`, `input ${j}`));
      }
      if (one !== null && strict && createGraph && !one.requiresGrad) {
        const message = strictMessage("the Jacobian of fn", `input ${j}`, "createGraph: true");
        fail("NoGradPath", settings.where, message);
      }
      rows[j]?.push(one ?? zerosLike(inputs[j] as Tensor));
    });
  }
  return inputs.map((input, j) => {
    const shape = [...output.shape, ...input.shape];
    const found = rows[j] as Tensor[];
    // stack() cannot be called for an output without elements, which has no rows.
    return found.length === 0
      ? emptyRows(input, shape)
      : ownResult([], () => reshape(stack(found), shape));
  });
}

function emptyRows(input: Tensor, shape: number[]): Tensor {
  return reshape(zerosLike(input).unsqueeze(0).narrow(0, 0, 0), shape);
}
