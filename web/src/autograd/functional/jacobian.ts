// Whole Jacobians and Hessians, one backward pass per row, or in forward mode one call per column.

import { eye, reshape, squeeze, stack, unbind, zeros, zerosLike } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { ownResult } from "../../tensor/own_result.js";
import type { Tensor } from "../../tensor/tensor.js";
import { dualLevel, makeDual, unpackDual } from "../forward_ad.js";
import { grad } from "../grad.js";
import { freshLeaf, recording } from "../recording.js";
import {
  checkRequiresGrad,
  type Differentiable,
  finished,
  freshInputs,
  gradOf,
  type HessianOptions,
  type JacobianOptions,
  kOutputs,
  type PerTensor,
  readHessianCall,
  readJacobianCall,
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
  ...rest: [options?: JacobianOptions]
): JacobianOf<Inputs, Output> {
  const settings = readJacobianCall([fn, inputs, ...rest]);
  const given = TensorGroup.of(inputs, "inputs", "jacobian");
  if (settings.strategy === "forward-mode") {
    return recording(() => columnsOf(fn as Differentiable, given)) as JacobianOf<Inputs, Output>;
  }
  const rows = settings.vectorize ? rowsAtOnce : rowsOf;
  const { outputs, blocks } = recording(() => {
    const fresh = freshInputs(given, settings.createGraph);
    const outputs = TensorGroup.of(fn(...fresh), kOutputs, "jacobian");
    checkRequiresGrad(outputs.tensors, "outputs", settings);
    return {
      outputs,
      blocks: outputs.tensors.map((tensor, i) => rows(tensor, i, fresh, settings)),
    };
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
  ...rest: [options?: HessianOptions]
): JacobianOf<Inputs, Inputs> {
  const settings = readHessianCall([fn, inputs, ...rest]);
  const { createGraph, strict, vectorize, strategy } = settings;
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
  const options = { createGraph, strict, vectorize, strategy };
  return jacobian(gradient, inputs, options) as JacobianOf<Inputs, Inputs>;
}

// Returns the derivatives of one output with respect to each input.
function rowsOf(output: Tensor, i: number, inputs: readonly Tensor[], settings: Settings) {
  const { createGraph, strict } = settings;
  const rows = inputs.map((): Tensor[] => []);
  const flat = reshape(output, [-1]);
  for (let row = 0; row < flat.numel; row++) {
    const grads = gradOf([flat.at(row)], inputs, null, { retainGraph: true, createGraph });
    grads.forEach((grad, j) => {
      if (grad === null && strict) {
        fail("NoGradPath", settings.where, strictMessage(`output ${i} of fn`, `input ${j}`));
      }
      if (grad !== null && strict && createGraph && !grad.requiresGrad) {
        const message = strictMessage("the Jacobian of fn", `input ${j}`, "createGraph: true");
        fail("NoGradPath", settings.where, message);
      }
      rows[j]?.push(grad ?? zerosLike(inputs[j] as Tensor));
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

// The same in one backward call for a batch of output gradients.
function rowsAtOnce(
  output: Tensor,
  _i: number,
  inputs: readonly Tensor[],
  { createGraph }: Settings,
): Tensor[] {
  const { numel, shape, dtype, device } = output;
  const isUsed = output.requiresGrad && numel > 0;
  const basis = reshape(eye(numel, { dtype, device }), [numel, ...shape]);
  const rows = isUsed
    ? grad([output], inputs, {
        gradOutputs: [basis],
        isGradsBatched: true,
        retainGraph: true,
        allowUnused: true,
        createGraph,
      })
    : inputs.map(() => null);
  return inputs.map((input, j) => {
    const own = [...shape, ...input.shape];
    const found = rows[j] ?? null;
    if (found !== null) return ownResult([], () => reshape(found, own));
    return zeros(own, { dtype: input.dtype, device: input.device });
  });
}

// The whole Jacobian in forward mode, one call of `fn` per column.
function columnsOf(fn: Differentiable, given: TensorGroup): unknown {
  // Leaves, for a function that computes gradients itself, as that of hessian() does.
  const inputs = given.tensors.map(freshLeaf);
  let outputs: TensorGroup | null = null;
  const pushed = inputs.map((input, j) => {
    const { numel, shape, dtype, device } = input;
    const basis = unbind(reshape(eye(numel, { dtype, device }), [numel, ...shape]));
    return basis.map((direction) =>
      dualLevel(() => {
        const duals = inputs.map((input, k) => (k === j ? makeDual(input, direction) : input));
        outputs = TensorGroup.of(fn(...duals), kOutputs, "jacobian");
        return outputs.tensors.map((tensor) => unpackDual(tensor).tangent ?? zerosLike(tensor));
      }),
    );
  });
  const known = outputs ?? TensorGroup.of(fn(...inputs), kOutputs, "jacobian");
  const blocks = known.tensors.map((output, i) =>
    given.unwrap(
      inputs.map((input, j) => {
        const own = [...output.shape, ...input.shape];
        const columns = (pushed[j] as Tensor[][]).map((column) => column[i] as Tensor);
        if (columns.length === 0) return zeros(own, { dtype: output.dtype });
        return ownResult([], () => reshape(stack(columns, -1), own)).detach();
      }),
    ),
  );
  return known.unwrap(blocks as never);
}

function emptyRows(input: Tensor, shape: number[]): Tensor {
  return reshape(zerosLike(input).unsqueeze(0).narrow(0, 0, 0), shape);
}
