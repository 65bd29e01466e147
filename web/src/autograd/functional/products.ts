// Products of a vector with a Jacobian or a Hessian. They cost a few backward passes, independent of the
// size of the matrix.
//
// Reverse mode computes vectorᵀ × matrix. Products from the other side use the *double backward
// trick*: g(u) = uᵀJ is linear in u, so its own vector-Jacobian product with v is J v.

import { zerosLike } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { recording } from "../recording.js";
import {
  checkRequiresGrad,
  checkVector,
  type Differentiable,
  fillInZeros,
  finished,
  freshInputs,
  freshVector,
  gradOf,
  kOutputs,
  type PerTensor,
  type ProductArguments,
  readProductCall,
  type Settings,
  TensorGroup,
  type Tensors,
} from "./arguments.js";

const kNeedsVector =
  "v: expected a vector. It may be null only if fn has a single input with one element.";

/** Returns [fn(inputs), vᵀJ]: the outputs, and the vector-Jacobian product. */
export function vjp<Inputs extends Tensors, Output extends Tensors>(
  fn: Differentiable<Output>,
  inputs: Inputs,
  ...rest: ProductArguments
): [PerTensor<Output>, PerTensor<Inputs>] {
  const { v, settings } = readProductCall("vjp", [fn, inputs, ...rest]);
  const { createGraph } = settings;
  const given = TensorGroup.of(inputs, "inputs", "vjp");
  const run = recording(() => {
    const fresh = freshInputs(given, createGraph);
    const outputs = TensorGroup.of(fn(...fresh), kOutputs, "vjp");
    checkRequiresGrad(outputs.tensors, "outputs", settings);
    if (v === null && !isSingleElement(outputs)) {
      fail(
        "InvalidArgument",
        "vjp",
        "v: expected a vector. It may be null only if fn returns a single tensor with one element.",
      );
    }
    return { fresh, outputs, vector: vectorFor(v, outputs, "vjp", createGraph) };
  });
  const { fresh, outputs, vector } = run;
  const product = inModeOf(createGraph, () => {
    const grads = gradOf(outputs.tensors, fresh, vector, { createGraph });
    return fillInZeros(grads, fresh, "backward", settings);
  });
  return both<Inputs, Output>(outputs, given, product, createGraph);
}

/** Returns [fn(inputs), J v]: the outputs, and the Jacobian-vector product. */
export function jvp<Inputs extends Tensors, Output extends Tensors>(
  fn: Differentiable<Output>,
  inputs: Inputs,
  ...rest: ProductArguments
): [PerTensor<Output>, PerTensor<Output>] {
  const { v, settings } = readProductCall("jvp", [fn, inputs, ...rest]);
  const { createGraph } = settings;
  const given = TensorGroup.of(inputs, "inputs", "jvp");
  const run = recording(() => {
    const fresh = freshInputs(given, createGraph);
    const vector = inputVector(v, given, "jvp", createGraph);
    const outputs = TensorGroup.of(fn(...fresh), kOutputs, "jvp");
    checkRequiresGrad(outputs.tensors, "outputs", settings);
    const gradOutputs = outputs.tensors.map((tensor) => zerosLike(tensor, { requiresGrad: true }));
    const gradInputs = gradOf(outputs.tensors, fresh, gradOutputs, { createGraph: true });
    checkRequiresGrad(gradInputs, "gradInputs", settings);
    return { outputs, vector, gradOutputs, gradInputs };
  });
  const { outputs, vector, gradOutputs, gradInputs } = run;
  const product = inModeOf(createGraph, () => {
    const grads = gradOf(gradInputs, gradOutputs, vector, { createGraph });
    return fillInZeros(grads, outputs.tensors, "doubleBackwardTrick", settings);
  });
  return both<Output, Output>(outputs, outputs, product, createGraph);
}

/** Returns [fn(inputs), vᵀH] for a function with one single-element output. */
export function vhp<Inputs extends Tensors>(
  fn: Differentiable<Tensor>,
  inputs: Inputs,
  ...rest: ProductArguments
): [Tensor, PerTensor<Inputs>] {
  const { v, settings } = readProductCall("vhp", [fn, inputs, ...rest]);
  const { createGraph } = settings;
  const given = TensorGroup.of(inputs, "inputs", "vhp");
  const { fresh, vector, outputs, jacobian } = firstOrder(fn, given, v, "vhp", settings);
  const product = inModeOf(createGraph, () => {
    const grads = gradOf(jacobian, fresh, vector, { createGraph });
    return fillInZeros(grads, fresh, "doubleBackward", settings);
  });
  return both<Inputs, Tensor>(outputs, given, product, createGraph);
}

/** Returns [fn(inputs), H v] for a function with one single-element output; vhp() is faster. */
export function hvp<Inputs extends Tensors>(
  fn: Differentiable<Tensor>,
  inputs: Inputs,
  ...rest: ProductArguments
): [Tensor, PerTensor<Inputs>] {
  const { v, settings } = readProductCall("hvp", [fn, inputs, ...rest]);
  const { createGraph } = settings;
  const given = TensorGroup.of(inputs, "inputs", "hvp");
  const { fresh, vector, outputs, jacobian } = firstOrder(fn, given, v, "hvp", settings);
  const { gradJacobian, doubleBackward } = recording(() => {
    const gradJacobian = fresh.map((input) => zerosLike(input, { requiresGrad: true }));
    const doubleBackward = gradOf(jacobian, fresh, gradJacobian, { createGraph: true });
    checkRequiresGrad(doubleBackward, "hessian", settings);
    return { gradJacobian, doubleBackward };
  });
  const product = inModeOf(createGraph, () => {
    const grads = gradOf(doubleBackward, gradJacobian, vector, { createGraph });
    return fillInZeros(grads, fresh, "hessianTrick", settings);
  });
  return both<Inputs, Tensor>(outputs, given, product, createGraph);
}

/** Throws unless a function's result is a single tensor with one element; `where` is the caller's name for errors. */
export function checkSingleOutput(outputs: TensorGroup, where: string): void {
  if (outputs.isList) {
    fail("InvalidArgument", where, "fn must return a single tensor, got an array.");
  }
  if (!isSingleElement(outputs)) {
    const [{ shape }] = outputs.tensors as [Tensor];
    fail("InvalidArgument", where, `fn must return one element, got the shape [${shape}].`);
  }
}

// Computes the gradient of a scalar function with its graph.
function firstOrder(
  fn: Differentiable,
  given: TensorGroup,
  v: Tensors | null,
  where: string,
  settings: Settings,
) {
  return recording(() => {
    const fresh = freshInputs(given, settings.createGraph);
    const vector = inputVector(v, given, where, settings.createGraph);
    const outputs = TensorGroup.of(fn(...fresh), kOutputs, where);
    checkRequiresGrad(outputs.tensors, "outputs", settings);
    checkSingleOutput(outputs, where);
    const jacobian = gradOf(outputs.tensors, fresh, null, { createGraph: true });
    checkRequiresGrad(jacobian, "jacobian", settings);
    return { fresh, vector, outputs, jacobian };
  });
}

function inputVector(
  v: Tensors | null,
  inputs: TensorGroup,
  where: string,
  createGraph: boolean,
): Tensor[] | null {
  if (v === null && !isSingleElement(inputs)) fail("InvalidArgument", where, kNeedsVector);
  return vectorFor(v, inputs, where, createGraph);
}

function vectorFor(
  v: Tensors | null,
  other: TensorGroup,
  where: string,
  createGraph: boolean,
): Tensor[] | null {
  if (v === null) return null;
  const vector = TensorGroup.of(v, "v", where);
  checkVector(where, vector, other);
  return freshVector(vector, createGraph);
}

function isSingleElement({ tensors }: TensorGroup): boolean {
  return tensors.length === 1 && tensors[0]?.numel === 1;
}

function inModeOf<T>(createGraph: boolean, fn: () => T): T {
  return createGraph ? recording(fn) : fn();
}

function both<Inputs extends Tensors, Output extends Tensors>(
  outputs: TensorGroup,
  likeProduct: TensorGroup,
  product: readonly Tensor[],
  createGraph: boolean,
): [PerTensor<Output>, PerTensor<Inputs>] {
  return [
    outputs.unwrap(finished(outputs.tensors, createGraph)) as PerTensor<Output>,
    likeProduct.unwrap(finished(product, createGraph)) as PerTensor<Inputs>,
  ];
}
